package outcome

import (
	"cmp"
	"slices"
	"strings"

	"github.com/org/foreman-action/runner/effect"
)

// duplicate is the state reason of an issue that was closed as a duplicate.
const duplicate = "duplicate"

// Holds reports whether an issue already has the effect. It is always false for effects that a
// State does not contain: comments, reactions, and those that change only the memory's record.
func Holds(e effect.Effect, s State) bool {
	switch e := e.(type) {
	case effect.AddLabels:
		return len(s.labels.NotIn(e.Names)) == 0
	case effect.RemoveLabels:
		return len(s.labels.In(e.Names)) == 0
	case effect.Assign:
		return len(s.assignees.NotIn(e.Logins)) == 0
	case effect.Unassign:
		return len(s.assignees.In(e.Logins)) == 0
	case effect.Close:
		return e.After <= 0 && s.closedFor(e.Reason)
	case effect.MarkDuplicate:
		return s.closedFor(duplicate)
	case effect.Reopen:
		return s.open
	case effect.Lock:
		return s.locked
	case effect.Unlock:
		return !s.locked
	case effect.SetMilestone:
		return s.milestone == e.Title
	case effect.SetType:
		return strings.EqualFold(s.issueType, e.Name)
	case effect.Comment, effect.React, effect.HideComment, effect.RequestReview,
		effect.NeverAgain, effect.AllowAgain, effect.KeepOpen, effect.Custom:
	}
	return false
}

// Change applies an effect to a state. All copies of the state see the change.
func Change(e effect.Effect, s State) {
	switch e := e.(type) {
	case effect.AddLabels:
		s.labels.put(e.Names, true)
	case effect.RemoveLabels:
		s.labels.put(e.Names, false)
	case effect.Assign:
		s.assignees.put(e.Logins, true)
	case effect.Unassign:
		s.assignees.put(e.Logins, false)
	case effect.Close:
		if e.After <= 0 && !Holds(e, s) {
			s.close(cmp.Or(e.Reason, closedByDefault))
		}
	case effect.MarkDuplicate:
		s.close(duplicate)
	case effect.Reopen:
		s.open, s.reason = true, ""
	case effect.Lock:
		s.locked = true
	case effect.Unlock:
		s.locked = false
	case effect.SetMilestone:
		s.milestone = e.Title
	case effect.SetType:
		s.issueType = e.Name
	case effect.NeverAgain:
		s.never.put(e.Labels, true)
	case effect.Comment, effect.React, effect.HideComment, effect.RequestReview,
		effect.AllowAgain, effect.KeepOpen, effect.Custom:
	}
}

// Only returns the effect with those of its users and teams whose names are in the list.
func Only(e effect.RequestReview, list []string) effect.RequestReview {
	kept := NamesOf(list)
	e.Users = kept.In(e.Users)
	e.Teams = slices.DeleteFunc(slices.Clone(e.Teams), func(slug string) bool { return !kept.Has(effect.TeamName(slug)) })
	return e
}
