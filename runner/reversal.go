package runner

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/org/foreman-action/internal/text"

	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/triage"
)

// A reversal says how a type of action is taken back, and how one sees that what it did
// is still so.
type reversal struct {
	by, param string   // the action that takes it back, and the parameter for the name
	thing     string   // what is changed: "label", "assignee" or "state"; of notes "never" or "closing"
	there     bool     // the action puts it there
	kinds     []string // the events of the timeline that tell of it, the action's own first
	field     func(triage.TimelineEvent) string
	told      string // how an answer tells that it is taken back; %s is the name
}

// reversalOf returns the row of a type; ok is false for what cannot be taken back.
func reversalOf(typ string) (r reversal, ok bool) {
	switch typ {
	case protocol.ActionAddLabel, protocol.ActionAddLabels:
		return reversal{protocol.ActionRemoveLabel, "label", "label", true, []string{"labeled", "unlabeled"}, labelOf, "the label %s is taken off"}, true
	case protocol.ActionRemoveLabel:
		return reversal{protocol.ActionAddLabel, "label", "label", false, []string{"unlabeled", "labeled"}, labelOf, "the label %s is put back"}, true
	case protocol.ActionAssign:
		return reversal{protocol.ActionUnassign, "assignees", "assignee", true, []string{"assigned", "unassigned"}, assigneeOf, "%s is unassigned"}, true
	case protocol.ActionUnassign:
		return reversal{protocol.ActionAssign, "assignees", "assignee", false, []string{"unassigned", "assigned"}, assigneeOf, "%s is assigned again"}, true
	case protocol.ActionCloseIssue, protocol.ActionMarkDuplicate:
		return reversal{protocol.ActionReopenIssue, "", "state", false, []string{"closed", "reopened"}, nil, "the issue is opened again"}, true
	case protocol.ActionReopenIssue:
		return reversal{"", "", "state", true, []string{"reopened", "closed"}, nil, ""}, true
	}
	return reversal{}, false
}

// still reports whether what the action did to the name is so in a state.
func (r reversal) still(now state, name string) bool {
	switch r.thing {
	case "label":
		return now.labels[fold(name)] == r.there
	case "assignee":
		return now.assignees[fold(name)] == r.there
	}
	return now.open == r.there
}

// names are what an action changed of the thing; the state of the issue has one name.
func (r reversal) names(a memory.Action) []string {
	switch {
	case r.thing == "closing" && r.there:
		return []string{a.Rule}
	case r.thing == "closing" && len(a.Values) > 0:
		return a.Values
	case r.field == nil:
		return []string{""}
	}
	return a.Values
}

// item is the action that takes back what was done to the name.
func (r reversal) item(name string) (protocol.ActionItem, error) {
	params := map[string]any{}
	switch {
	case name == "": // the closing that an agent has asked for
	case r.param == "label" || r.param == "rule":
		params[r.param] = name
	case r.param == "assignees":
		params[r.param] = []string{name}
	}
	return protocol.NewAction(r.by, params)
}

// tell says for people what becomes of the name.
func (r reversal) tell(name string) string {
	if r.field == nil {
		return r.told
	}
	return fmt.Sprintf(r.told, sanitize.Code(sanitize.Name(text.Quote(name))))
}

// A deedDone is something that a task of the record did, and the last that any did to
// the same thing.
type deedDone struct {
	reversal
	typ, name string
	rule      string // see memory.Action.Rule
	task      string // id
	at        time.Time
	// back says that the task had done the opposite before: together it did nothing.
	back bool
}

// key is what was changed.
func (d deedDone) key() string { return d.thing + " " + fold(d.name) }

// lastDeeds returns what was done last to each thing that a record tells of, in order.
// Tasks for which skip holds do not count; nil: all do.
func lastDeeds(r memory.Record, skip func(memory.Task) bool) []deedDone {
	var list []deedDone
	for _, t := range r.Tasks {
		if skip != nil && skip(t) {
			continue
		}
		for _, d := range deedsOf(t) {
			i := slices.IndexFunc(list, func(o deedDone) bool { return o.key() == d.key() })
			if i >= 0 {
				o := list[i]
				d.back = o.task == d.task && o.there != d.there && !o.back
				list = slices.Delete(list, i, i+1)
			}
			list = append(list, d)
		}
	}
	return list
}

// deedsOf returns what a task did that can be taken back, in order.
func deedsOf(t memory.Task) []deedDone {
	var list []deedDone
	for _, a := range t.Actions {
		var rev reversal
		var ok bool
		switch a.Result {
		case memory.Done:
			rev, ok = reversalOf(a.Type)
		case memory.Noted:
			rev, ok = noteOf(a.Type)
		}
		if !ok {
			continue
		}
		for _, name := range rev.names(a) {
			if name != "" || rev.field == nil {
				list = append(list, deedDone{reversal: rev, typ: a.Type, name: name, rule: a.Rule, task: t.ID, at: t.At})
			}
		}
	}
	return list
}

// A taking is what is taken back, and what is not.
type taking struct {
	items []protocol.ActionItem
	deeds []deedDone // one for each item
	left  []string   // what is left as it is and why, for people
}

// takeBack makes the actions that take back what is still so on the issue as it was
// done. What anybody else touched since is left alone.
func (w *work) takeBack(r memory.Record, deeds []deedDone, h hindsight) (taking, error) {
	var t taking
	now := issueState(*w.e.Issue)
	for _, d := range deeds {
		switch why := h.touched(d); {
		case d.back, d.noted() && d.by == "":
		case d.by == "":
			t.left = append(t.left, "the issue stays open: closing is for rules and people")
		case d.noted() && !d.kept(r), !d.noted() && !d.still(now, d.name):
			t.left = append(t.left, d.subject()+" is not as it was left")
		case why != "":
			t.left = append(t.left, d.subject()+" stays as it is: "+why)
		default:
			item, err := d.item(d.name)
			if err != nil {
				return taking{}, fmt.Errorf("take back %s: %w", d.typ, err)
			}
			t.items, t.deeds = append(t.items, item), append(t.deeds, d)
		}
	}
	return t, nil
}

// subject names what was changed, for people.
func (d deedDone) subject() string {
	switch {
	case d.thing == "closing":
		return "the closing to come"
	case d.field == nil:
		return "the state of the issue"
	case d.thing == "never":
		return "what is kept of the label " + sanitize.Code(sanitize.Name(text.Quote(d.name)))
	}
	return "the " + d.thing + " " + sanitize.Code(sanitize.Name(text.Quote(d.name)))
}

// touched says who else changed last what a deed had changed, and is empty when nobody
// did.
func (h hindsight) touched(d deedDone) string {
	e, found := h.last(of(d.name, d.field, d.kinds...))
	switch {
	case d.noted():
	case !found && !h.Complete:
		return "the timeline of the issue is too long to tell what people did"
	case found && !h.ours(e):
		return fmt.Sprintf("%s changed it on %s", sanitize.Code(whoOf(e)), e.At.UTC().Format(time.DateOnly))
	}
	return ""
}

// beforeAnswer reports whether the answer to an undo followed soon upon an event.
func (h hindsight) beforeAnswer(e triage.TimelineEvent) bool {
	return slices.ContainsFunc(h.Events, func(c triage.TimelineEvent) bool {
		m, ok := markOf(c.Body)
		return ok && c.Kind == "commented" && m.by == string(commandUndo) && h.ours(c) && !c.At.Before(e.At) && c.At.Sub(e.At) <= sameTask
	})
}

// undone says that a person had taken back by command what a step would do again, and
// is empty when nobody had. The record is asked only where the timeline shows that we
// took it back ourselves, whyever; of a record that does not know of it the answer to the
// command tells.
func (x *execution) undone(ctx context.Context, h hindsight, s *Step, name string) string {
	r, ok := reversalOf(s.Action.Type)
	if !ok || s.Source.Command != "" || x.Record == nil {
		return ""
	}
	e, found := h.last(of(name, r.field, r.kinds...))
	if !found || !h.ours(e) || e.Kind != r.kinds[1] {
		return ""
	}
	key := deedDone{reversal: r, name: name}.key()
	deeds := lastDeeds(x.Record(ctx), func(t memory.Task) bool { return t.By == memory.ByTimeline })
	i := slices.IndexFunc(deeds, func(d deedDone) bool { return d.key() == key })
	switch known := i >= 0 && deeds[i].there != r.there; {
	case known && deeds[i].rule != commandUndo.rule(), !known && !h.beforeAnswer(e):
		return ""
	}
	return fmt.Sprintf("taken back by /foreman undo on %s, and people have the last word (override_humans)", e.At.UTC().Format(time.DateOnly))
}
