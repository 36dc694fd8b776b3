package history

import (
	"fmt"
	"slices"
	"time"

	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/runner/internal/outcome"
	"github.com/org/foreman-action/triage"
)

// UndoCommand is the name of the command that reverts a task.
const UndoCommand = "undo"

// A Made is an outcome together with the task that made it. [LastMade] returns only the last one
// for each thing.
type Made struct {
	outcome.Outcome

	Type string // type of the action
	By   string // source of the action, as in records
	Task string // id of the task
	At   time.Time
	// Rebuilt means that the record was rebuilt from the timeline, which does not show who
	// requested the action.
	Rebuilt bool
	// Canceled means that the same task had done the opposite before, so that it changed nothing in
	// total.
	Canceled bool
}

// ByUndo reports whether a person's undo command caused the outcome.
func (m Made) ByUndo() bool { return m.By == triage.Source{Command: UndoCommand}.ID() }

// LastMade returns the last outcome of each thing in a record, in order. Tasks for which skip
// returns true are ignored; nil ignores none.
func LastMade(r memory.Record, skip func(memory.Task) bool) []Made {
	var list []Made
	for _, t := range r.Tasks {
		if skip != nil && skip(t) {
			continue
		}
		for _, m := range madeBy(t) {
			i := slices.IndexFunc(list, func(o Made) bool { return o.Key() == m.Key() })
			if i >= 0 {
				o := list[i]
				m.Canceled = o.Task == m.Task && o.There != m.There && !o.Canceled
				list = slices.Delete(list, i, i+1)
			}
			list = append(list, m)
		}
	}
	return list
}

// madeBy returns the outcomes of a task, in order.
func madeBy(t memory.Task) []Made {
	var list []Made
	for _, a := range t.Actions {
		if a.Result != triage.Done && a.Result != triage.Noted {
			continue
		}
		for _, o := range outcome.Outcomes(a.Type, a.Values, a.Rule, a.Result == triage.Noted) {
			list = append(list, Made{Outcome: o, Type: a.Type, By: a.Rule, Task: t.ID, At: t.At, Rebuilt: t.By == memory.ByTimeline})
		}
	}
	return list
}

// kept reports whether a record still contains the outcome.
func (m Made) kept(r memory.Record) bool {
	if m.Thing == outcome.Forbidden {
		return r.Forbids(m.Name)
	}
	c, planned := r.Planned(m.Name)
	return planned && !c.Vetoed && c.Task == m.Task
}

// A Reversal contains the actions that revert outcomes, and the reasons why other outcomes are not
// reverted.
type Reversal struct {
	Items []protocol.ActionItem
	Made  []Made   // one for each item
	Left  []string // outcomes that are not reverted, each with the reason, for people
}

// Revert returns the actions that revert those outcomes that the issue still shows. Things that
// another account has changed since then are left unchanged.
func (h History) Revert(r memory.Record, list []Made) (Reversal, error) {
	var out Reversal
	now := outcome.StateOf(h.Issue)
	for _, m := range list {
		item, ok, err := m.Inverse()
		if err != nil {
			return Reversal{}, fmt.Errorf("revert %s: %w", m.Type, err)
		}
		switch why := h.touched(m); {
		case m.Canceled, m.RecordOnly() && !ok:
		case !ok:
			out.Left = append(out.Left, "the issue stays open: an undo never closes an issue")
		case m.RecordOnly() && !m.kept(r), !m.RecordOnly() && !m.Holds(now):
			out.Left = append(out.Left, m.Subject()+" was changed since")
		case why != "":
			out.Left = append(out.Left, m.Subject()+" stays as it is: "+why)
		default:
			out.Items, out.Made = append(out.Items, item), append(out.Made, m)
		}
	}
	return out, nil
}

// touched returns a text about another account that changed a thing after us, or "" if none did.
func (h History) touched(m Made) string {
	e, found := h.Last(About(m.Outcome))
	switch {
	case m.RecordOnly():
	case !found && !h.Complete:
		return "the timeline of the issue is too long to find people's changes"
	case m.Thing == outcome.Openness && h.closedBefore(m):
		return "it was closed before, and only the reason was changed"
	case found && !h.Ours(e):
		return fmt.Sprintf("%s changed it on %s", sanitize.Code(Who(e)), e.At.UTC().Format(time.DateOnly))
	}
	return ""
}

// closedBefore reports whether the issue was already closed when a task closed it with another
// reason. Then the timeline has several "closed" events in a row, and the task's event is not the
// first of them.
func (h History) closedBefore(m Made) bool {
	var row []time.Time
	for _, e := range h.Events {
		switch e.Kind {
		case "closed":
			row = append(row, e.At)
		case "reopened":
			row = nil
		}
	}
	nearest := 0
	for i, at := range row {
		if at.Sub(m.At).Abs() < row[nearest].Sub(m.At).Abs() {
			nearest = i
		}
	}
	return nearest > 0
}

// code formats a name as code, for people.
func code(name string) string { return sanitize.Code(sanitize.Name(text.Quote(name))) }

// Subject returns a text that names the thing, for people.
func (m Made) Subject() string {
	switch m.Thing {
	case outcome.Scheduled:
		return "the scheduled close"
	case outcome.Openness:
		return "the state of the issue"
	case outcome.Forbidden:
		return "the record of the label " + code(m.Name)
	case outcome.Label, outcome.Assignee:
	}
	return "the " + string(m.Thing) + " " + code(m.Name)
}

// Reverted returns a text about the effect of reverting the outcome, for people.
func (m Made) Reverted() string {
	switch {
	case m.Thing == outcome.Label && m.There:
		return "the label " + code(m.Name) + " is removed"
	case m.Thing == outcome.Label:
		return "the label " + code(m.Name) + " is added again"
	case m.Thing == outcome.Assignee && m.There:
		return code(m.Name) + " is unassigned"
	case m.Thing == outcome.Assignee:
		return code(m.Name) + " is assigned again"
	case m.Thing == outcome.Forbidden:
		return "the label " + code(m.Name) + " may be added again"
	case m.Thing == outcome.Scheduled:
		return "the scheduled close is canceled"
	}
	return "the issue is opened again"
}

// Recognizes reports whether the timeline shows that we caused an outcome, although list, the
// outcomes in the record, does not contain it. The record of an issue is complete, unless it was
// rebuilt from the timeline. The record of a pull request may lack tasks of its own runs.
func (h History) Recognizes(list []Made, o outcome.Outcome) bool {
	i := slices.IndexFunc(list, func(m Made) bool { return m.Key() == o.Key() })
	known := i >= 0 && !list[i].Rebuilt
	if known && list[i].There == o.There || (known || i < 0) && !h.Issue.PullRequest {
		return false
	}
	_, ok := h.did(o)
	return ok
}

// Undone returns the event by which we reverted the outcome ourselves. ok is false if the last
// event about the thing is another one.
func (h History) Undone(o outcome.Outcome) (at triage.TimelineEvent, ok bool) {
	o.There = !o.There
	return h.did(o)
}

// did returns the event by which we caused an outcome. ok is false if the last event about the
// thing is another one.
func (h History) did(o outcome.Outcome) (e triage.TimelineEvent, ok bool) {
	kind, gone := kindsOf(o.Thing)
	if !o.There {
		kind = gone
	}
	e, found := h.Last(About(o))
	return e, found && h.Ours(e) && e.Kind == kind
}

// UndoneByCommand reports whether event e was caused by a person's undo command. It uses the
// record, or else an answer to the command that was posted soon after e.
func (h History) UndoneByCommand(o outcome.Outcome, e triage.TimelineEvent, r memory.Record) bool {
	list := LastMade(r, func(t memory.Task) bool { return t.By == memory.ByTimeline })
	i := slices.IndexFunc(list, func(m Made) bool { return m.Key() == o.Key() })
	if i >= 0 && list[i].There != o.There {
		return list[i].ByUndo()
	}
	return slices.ContainsFunc(h.Events, func(c triage.TimelineEvent) bool {
		m, ok := h.OurComment(c)
		return ok && m.By == UndoCommand && !c.At.Before(e.At) && c.At.Sub(e.At) <= taskTime
	})
}
