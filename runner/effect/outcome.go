package effect

import (
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/protocol"
)

// A Thing is the kind of thing that changes, such as a label.
type Thing string

// The kinds of things.
const (
	Label     Thing = "label"
	Assignee  Thing = "assignee"
	Openness  Thing = "state"   // whether the issue is open; its outcomes have no name
	Forbidden Thing = "never"   // a label that must never be added again
	Scheduled Thing = "closing" // a close that is due later; its name is the id of the rule
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
	var thing Thing
	there := true
	switch {
	case recordOnly && typ == protocol.ActionNeverAgain:
		thing = Forbidden
	case recordOnly && typ == ActionAllowAgain:
		thing, there = Forbidden, false
	case recordOnly && typ == protocol.ActionCloseIssue:
		return []Outcome{{Scheduled, rule, true}}
	case recordOnly && typ == ActionKeepOpen:
		if len(values) == 0 {
			return []Outcome{{Scheduled, "", false}}
		}
		thing, there = Scheduled, false
	case recordOnly:
		return nil
	case typ == protocol.ActionAddLabel, typ == protocol.ActionAddLabels:
		thing = Label
	case typ == protocol.ActionRemoveLabel:
		thing, there = Label, false
	case typ == protocol.ActionAssign:
		thing = Assignee
	case typ == protocol.ActionUnassign:
		thing, there = Assignee, false
	case typ == protocol.ActionCloseIssue, typ == protocol.ActionMarkDuplicate:
		return []Outcome{{Openness, "", false}}
	case typ == protocol.ActionReopenIssue:
		return []Outcome{{Openness, "", true}}
	default:
		return nil
	}
	var list []Outcome
	for _, name := range values {
		if name != "" || thing == Scheduled {
			list = append(list, Outcome{thing, name, there})
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
		typ, params["label"] = ActionAllowAgain, o.Name
	case o.Thing == Scheduled && o.There:
		typ = ActionKeepOpen
		if o.Name != "" { // an agent has no id
			params["rule"] = o.Name
		}
	default:
		return protocol.ActionItem{}, false, nil
	}
	item, err = protocol.NewAction(typ, params)
	return item, true, err
}
