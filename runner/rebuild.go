package runner

import (
	"cmp"
	"strconv"
	"time"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/triage"
)

// A deed is an event of the timeline as the action that leads to it.
type deed struct {
	typ    string
	values []string
}

// deedOf returns the deed behind an event; ok is false for those that no action of
// ours leads to. Of comments it knows those with our marker.
func deedOf(e triage.TimelineEvent) (d deed, ok bool) {
	named := func(typ, value string) (deed, bool) { return deed{typ, nonEmpty(value)}, true }
	switch e.Kind {
	case "labeled":
		return named(protocol.ActionAddLabel, e.Label)
	case "unlabeled":
		return named(protocol.ActionRemoveLabel, e.Label)
	case "closed":
		return named(protocol.ActionCloseIssue, e.Reason)
	case "reopened":
		return named(protocol.ActionReopenIssue, "")
	case "assigned":
		return named(protocol.ActionAssign, e.Assignee)
	case "unassigned":
		return named(protocol.ActionUnassign, e.Assignee)
	case "milestoned":
		return named(protocol.ActionSetMilestone, e.Milestone)
	case "issue_type_added", "issue_type_changed":
		return named(protocol.ActionSetType, e.IssueType)
	case "locked":
		return named(protocol.ActionLock, e.Reason)
	case "commented":
		m, ok := markOf(e.Body)
		if m.key != "" {
			return deed{typ: protocol.ActionUpdateComment}, ok
		}
		return deed{typ: protocol.ActionComment}, ok
	}
	return deed{}, false
}

// sameTask is the most time between two events that are taken for one task's.
const sameTask = 2 * time.Minute

// A trace is what is taken for one task's.
type trace struct {
	task   string // empty: no marker tells
	by     string // the command that a marker names; empty: none
	events []triage.TimelineEvent
}

// joins reports whether an event belongs to the trace: it follows soon, and no marker
// tells of another task.
func (t trace) joins(e triage.TimelineEvent, task string) bool {
	if n := len(t.events); n > 0 && e.At.Sub(t.events[n-1].At) > sameTask {
		return false
	}
	return task == "" || t.task == "" || task == t.task
}

// rebuild makes a record of what the timeline shows of us: what happened under our
// login, and of comments those with our marker. Who asked for it, and why, is lost.
// own reports of a trace that it is the present task's.
func (h hindsight) rebuild(own func(trace) bool) memory.Record {
	var traces []trace
	for _, e := range h.Events {
		if _, ok := deedOf(e); !ok || !h.ours(e) {
			continue
		}
		task, by := "", ""
		if m, ok := markOf(e.Body); ok && e.Kind == "commented" && taskID(m.task) {
			task, by = m.task, m.by
		}
		if n := len(traces); n == 0 || !traces[n-1].joins(e, task) {
			traces = append(traces, trace{})
		}
		t := &traces[len(traces)-1]
		t.task, t.by = cmp.Or(t.task, task), cmp.Or(t.by, by)
		t.events = append(t.events, e)
	}
	var r memory.Record
	for _, t := range traces {
		if !own(t) {
			r.Put(t.rebuilt())
		}
	}
	return r
}

// rebuilt is the task behind a trace.
func (t trace) rebuilt() memory.Task {
	first := t.events[0]
	task := memory.Task{
		ID: t.task, At: first.At, Decision: protocol.LabelAndRespond,
		By: memory.ByTimeline, Status: string(StatusApplied),
	}
	if task.ID == "" {
		task.ID = protocol.DeriveTaskID("timeline", strconv.FormatInt(first.ID, 10))
	}
	for i, e := range t.events {
		d, _ := deedOf(e)
		if d.typ == protocol.ActionCloseIssue {
			task.Decision = protocol.Close
		}
		task.Actions = append(task.Actions, memory.Action{
			Index: i, Type: d.typ, Values: d.values, Rule: triage.Source{Command: t.by}.ID(), Verdict: string(triage.Do), Result: memory.Done, URL: e.URL,
		})
	}
	return task
}

// tell puts what people did into a record. Of a timeline that is not complete it puts
// in what there is, and keeps what the record knows of the time before.
func (h hindsight) tell(r *memory.Record) {
	switch {
	case h.Complete:
		r.SetHumans(h.changes())
	case len(h.Events) > 0:
		r.AddHumans(h.changes(), h.Events[0].At)
	}
}

// changes are what people did to the issue. What they said is not among them, nor are
// the labels that came with the issue.
func (h hindsight) changes() []memory.Change {
	var list []memory.Change
	for _, e := range h.Events {
		d, ok := deedOf(e)
		if !ok || !h.human(e) || h.brought(e) || e.Kind == "commented" {
			continue
		}
		list = append(list, memory.Change{At: e.At, Type: d.typ, Values: d.values, By: e.Actor})
	}
	return list
}
