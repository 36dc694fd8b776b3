package effect

import (
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/protocol"
)

// A Thing is the kind of object that a change of an issue is about.
type Thing string

// The things.
const (
	Label     Thing = "label"
	Assignee  Thing = "assignee"
	Openness  Thing = "state"   // of the issue; its changes have no name
	Forbidden Thing = "never"   // a label that is never to be added again
	Scheduled Thing = "closing" // a close that is due later, by the id of its rule
)

// An Outcome is one thing as an action left it: the part of an effect that can be observed
// and reverted by itself.
type Outcome struct {
	Thing Thing
	Name  string // of the label, the login, or the rule; empty for Openness
	There bool   // the label, the assignee or the note is there, the issue is open
}

// Key returns the same text for all outcomes of one thing.
func (o Outcome) Key() string { return string(o.Thing) + " " + text.Fold(o.Name) }

// RecordOnly reports whether the memory keeps the thing, and not the issue.
func (o Outcome) RecordOnly() bool { return o.Thing == Forbidden || o.Thing == Scheduled }

// Holds reports whether a state shows the outcome. It is not for outcomes that are RecordOnly: no
// state shows them.
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
// action, as records name it; recordOnly says that the action changed only the memory's record. It
// is empty for actions that are not reverted and revert nothing, such as comments.
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

// Revertible reports whether an action of that type can be reverted, or reverts another, once
// it was written.
func Revertible(typ string) bool { return len(Outcomes(typ, []string{"x"}, "", false)) > 0 }

// Inverse returns the action that reverts an outcome; ok is false for effects that are not
// reverted: opening an issue, and canceling.
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
