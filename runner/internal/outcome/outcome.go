// Package outcome parses actions to effects, and computes the results of effects: the state of an
// issue after them, and what can be observed and reverted separately. It does no I/O.
//
// A type of action is a row of [protocol.ActionSpec], a type of package effect, a line in parse, and
// a case in Holds and Change. What differs by room is a case in verdict.go of
// runner/internal/plan, which checks an effect against the policy and human overrides, and in the
// host, which carries it out. The linter reports a missing case. [effect.Custom] is the only effect
// of actions that are not built in.
package outcome

import (
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/runner/effect"
)

// A Thing is the kind of thing that changes, such as a label.
type Thing = protocol.Thing

// The kinds of things. The outcomes of Openness have no name, and the name in those of Scheduled is
// the id of the rule.
const (
	Label     = protocol.ThingLabel
	Assignee  = protocol.ThingAssignee
	Openness  = protocol.ThingState
	Forbidden = protocol.ThingForbidden
	Scheduled = protocol.ThingScheduled
)

// An Outcome is the result of an action for one thing, such as one of several labels. It can be
// observed and reverted separately.
type Outcome struct {
	Thing Thing
	Name  string // label, login, or id of the rule; empty for Openness
	There bool   // the label, assignee or note exists; for Openness: the issue is open
}

// Key returns a text that is the same for all outcomes of one thing.
func (o Outcome) Key() string { return string(o.Thing) + " " + text.Fold(o.Name) }

// RecordOnly reports whether the thing is part of the memory's record, and not of the issue.
func (o Outcome) RecordOnly() bool { return o.Thing == Forbidden || o.Thing == Scheduled }

// Holds reports whether a state contains the outcome. It must not be called for outcomes that are
// RecordOnly, because a state does not contain them.
func (o Outcome) Holds(s State) bool {
	switch o.Thing {
	case Label:
		return s.labels.Has(o.Name) == o.There
	case Assignee:
		return s.assignees.Has(o.Name) == o.There
	case Openness, Forbidden, Scheduled:
	}
	return s.open == o.There
}

// Outcomes returns the outcomes of an action that wrote these values. rule is the source of the
// action, as in records. recordOnly means that the action changed only the memory's record. The
// list is empty for actions that cannot be reverted and revert nothing, such as comments.
func Outcomes(typ string, values []string, rule string, recordOnly bool) []Outcome {
	spec, _ := SpecOf(typ)
	o := Outcome{Thing: spec.Thing, There: !spec.Gone}
	switch {
	case recordOnly && typ == protocol.ActionCloseIssue:
		return []Outcome{{Scheduled, rule, true}}
	case o.Thing == "" || recordOnly != spec.RecordOnly:
		return nil
	case o.Thing == Openness, o.Thing == Scheduled && len(values) == 0:
		return []Outcome{o}
	}
	var list []Outcome
	for _, o.Name = range values {
		if o.Name != "" || o.Thing == Scheduled {
			list = append(list, o)
		}
	}
	return list
}

// Revertible reports whether a written action of that type can be reverted, or reverts another
// action.
func Revertible(typ string) bool { return len(Outcomes(typ, []string{"x"}, "", false)) > 0 }

// Inverse returns the action that reverts an outcome. ok is false for outcomes that are never
// reverted: an opened issue, and a cancelled deferred action.
func (o Outcome) Inverse() (item protocol.ActionItem, ok bool, err error) {
	var typ string
	params := map[string]any{}
	switch {
	case o.Thing == Label && o.There:
		typ, params["label"] = protocol.ActionRemoveLabel, o.Name
	case o.Thing == Label:
		typ, params["label"] = protocol.ActionAddLabel, o.Name
	case o.Thing == Assignee && o.There:
		typ, params["assignees"] = protocol.ActionUnassign, []string{o.Name}
	case o.Thing == Assignee:
		typ, params["assignees"] = protocol.ActionAssign, []string{o.Name}
	case o.Thing == Openness && !o.There:
		typ = protocol.ActionReopenIssue
	case o.Thing == Forbidden && o.There:
		typ, params["label"] = effect.ActionAllowAgain, o.Name
	case o.Thing == Scheduled && o.There:
		typ = effect.ActionKeepOpen
		if o.Name != "" { // an agent has no id
			params["rule"] = o.Name
		}
	default:
		return protocol.ActionItem{}, false, nil
	}
	item, err = protocol.NewAction(typ, params)
	return item, true, err
}
