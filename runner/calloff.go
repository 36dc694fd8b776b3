package runner

import (
	"context"
	"slices"
	"time"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
)

// The actions that call off what the memory keeps for later.
const (
	allowAgain = "allow_again" // a label may be added again
	keepOpen   = "keep_open"   // the closing that a rule, or an agent, has asked for does not come
)

// callOff returns the row of an action that calls something off.
func callOff(name string) (action, bool) {
	param := map[string]string{allowAgain: "label", keepOpen: "rule"}[name]
	if param == "" {
		return action{}, false
	}
	return action{
		spec:  protocol.ActionSpec{Name: name, Params: []protocol.Param{{Name: param, Kind: protocol.KindText}}},
		calls: true,
		judge: func(_ *planner, s *Step) { s.text = first(s.Action, param) },
		write: func(context.Context, *execution, *Step) error { return nil },
	}, true
}

// noteOf is reversalOf for what the memory keeps for later.
func noteOf(typ string) (r reversal, ok bool) {
	switch typ {
	case protocol.ActionNeverAgain:
		return reversal{by: allowAgain, param: "label", thing: "never", there: true, field: labelOf, told: "the label %s may be added again"}, true
	case protocol.ActionCloseIssue:
		return reversal{by: keepOpen, param: "rule", thing: "closing", there: true, told: "the closing to come is called off"}, true
	case allowAgain:
		return reversal{thing: "never", field: labelOf}, true
	case keepOpen:
		return reversal{thing: "closing"}, true
	}
	return reversal{}, false
}

// noted reports whether it is the memory that was changed.
func (r reversal) noted() bool { return r.thing == "never" || r.thing == "closing" }

// kept reports whether a record still keeps what the deed put there.
func (d deedDone) kept(r memory.Record) bool {
	if d.thing == "never" {
		return r.Forbids(d.name)
	}
	c, planned := r.Planned(d.name)
	return planned && !c.Vetoed && c.Task == d.task
}

// calledOff says that a person has called off by command what a step would keep for
// later, and is empty when nobody has.
func calledOff(r memory.Record, s *Step) string {
	if s.Source.OverrideHumans {
		return ""
	}
	rev, _ := noteOf(s.Action.Type)
	for _, d := range lastDeeds(r, nil) {
		same := d.thing == rev.thing && (d.thing == "never" && pick([]string{d.name}, set(s.labels), true) != nil || d.thing == "closing" && d.name == s.Source.Rule)
		if same && !d.there && d.rule == commandUndo.rule() {
			return "taken back by /foreman undo on " + d.at.UTC().Format(time.DateOnly) + ", and people have the last word (override_humans)"
		}
	}
	return ""
}

// callOff takes out of a record what the step calls off.
func (s *Step) callOff(r *memory.Record) {
	if s.Action.Type == keepOpen {
		r.Drop(s.text)
		return
	}
	r.Never = slices.DeleteFunc(slices.Clone(r.Never), func(label string) bool { return fold(label) == fold(s.text) })
}
