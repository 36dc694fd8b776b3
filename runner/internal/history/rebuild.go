package history

import (
	"cmp"
	"strconv"
	"sync"
	"time"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/triage"
)

// ActionOf returns the type and the values of the action that causes such an event. ok is false for
// events that no action causes, such as the comment with our proposals, and for comments without a
// marker. The event may be by anyone.
func ActionOf(e triage.TimelineEvent) (typ string, values []string, ok bool) {
	if e.Kind == "commented" {
		m, ok := ParseMarker(e.Body)
		switch m.Key {
		case "":
		case triage.SuggestionsKey:
			return "", nil, false
		default:
			return protocol.ActionUpdateComment, nil, ok
		}
		return protocol.ActionComment, nil, ok
	}
	if typ = actionBy(e.Kind); typ == "" {
		return "", nil, false
	}
	return typ, one(triage.EventValue(e)), true
}

func one(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}

// taskTime is the maximum time between two consecutive events of the same task.
const taskTime = 2 * time.Minute

// A Trace is a sequence of our events that probably belong to one task.
type Trace struct {
	Task   string // id of the task; empty: no marker names it
	By     string // the command that a marker names; empty: none
	Events []triage.TimelineEvent
}

// joins reports whether an event belongs to the trace: it follows soon enough, and no marker names
// another task.
func (t Trace) joins(e triage.TimelineEvent, task string) bool {
	if n := len(t.Events); n > 0 && e.At.Sub(t.Events[n-1].At) > taskTime {
		return false
	}
	return task == "" || t.Task == "" || task == t.Task
}

var taskID = text.Regexp(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)

// Rebuild makes a record from our events in a timeline, including comments with our marker. It
// cannot restore who requested an action, and why. Traces for which own returns true belong to the
// current task, and are left out.
func Rebuild(h History, own func(Trace) bool) memory.Record {
	var traces []Trace
	for _, e := range h.Events {
		if _, _, ok := ActionOf(e); !ok || !h.Ours(e) {
			continue
		}
		task, by := "", ""
		if m, ok := h.OurComment(e); ok && taskID().MatchString(m.Task) {
			task, by = m.Task, m.By
		}
		if n := len(traces); n == 0 || !traces[n-1].joins(e, task) {
			traces = append(traces, Trace{})
		}
		t := &traces[len(traces)-1]
		t.Task, t.By = cmp.Or(t.Task, task), cmp.Or(t.By, by)
		t.Events = append(t.Events, e)
	}
	var r memory.Record
	for _, t := range traces {
		if !own(t) {
			r.Put(t.record())
		}
	}
	return r
}

// record converts a trace to a task.
func (t Trace) record() memory.Task {
	first := t.Events[0]
	task := memory.Task{
		ID: t.Task, At: first.At, Decision: protocol.LabelAndRespond, By: memory.ByTimeline, Status: "applied",
	}
	if task.ID == "" {
		task.ID = protocol.DeriveTaskID("timeline", strconv.FormatInt(first.ID, 10))
	}
	for i, e := range t.Events {
		typ, values, _ := ActionOf(e)
		if typ == protocol.ActionCloseIssue {
			task.Decision = protocol.Close
		}
		task.Actions = append(task.Actions, memory.Action{
			Index: i, Type: typ, Values: values, Rule: triage.Source{Command: t.By}.ID(), Verdict: triage.Do, Result: triage.Done, URL: e.URL,
		})
	}
	return task
}

// RecordHumans stores people's changes in a record. If the timeline is incomplete, earlier entries
// of the record are kept.
func RecordHumans(h History, r *memory.Record) {
	switch {
	case h.Complete:
		r.SetHumans(HumanChanges(h))
	case len(h.Events) > 0:
		r.AddHumans(HumanChanges(h), h.Events[0].At)
	}
}

// HumanChanges returns people's changes of the issue. Comments are left out, and so are the labels
// that an issue form added.
func HumanChanges(h History) []memory.Change {
	var list []memory.Change
	for _, e := range h.Events {
		typ, values, ok := ActionOf(e)
		if !ok || !h.Human(e) || h.FromForm(e) || e.Kind == "commented" {
			continue
		}
		list = append(list, memory.Change{At: e.At, Type: typ, Values: values, By: e.Actor})
	}
	return list
}

// actionBy returns the name of the first action that the timeline lists by that kind of event; empty:
// there is none.
func actionBy(event string) string { return actionsByEvent()[event] }

var actionsByEvent = sync.OnceValue(func() map[string]string {
	names := map[string]string{}
	for _, spec := range protocol.ActionSpecs() {
		for _, event := range spec.Events {
			if names[event] == "" {
				names[event] = spec.Name
			}
		}
	}
	return names
})
