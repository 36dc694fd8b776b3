// Package judge determines what became of an action that Foreman carried out on an issue: people kept
// it, a person undid it, or the outcome is unknown. It reads only the issue and its timeline, and does no I/O.
//
// Silence is no consent. An action counts as kept only if it still holds after some time, and if a
// person who could have undone it acted on the issue in the meantime: neither the author of the issue,
// nor a program, nor Foreman. Of several changes of mind the first one counts.
//
// An action that shadow mode only planned counts as kept if such a person did the same, and as undone if such a
// person acted on the issue and did not do the same, or undid it.
package judge

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/runner/internal/history"
	"github.com/org/foreman-action/triage"
)

// An Act is one change that an action made: one of several labels, for example.
type Act struct {
	Type  string    // of the action; add_labels counts as add_label
	Value string    // the label, login, title or type; empty for actions without one
	At    time.Time // when it was decided, before it was carried out
	URL   string    // for a comment: its web page
	// Planned means that shadow mode suppressed the action, so that nothing was changed.
	Planned bool
}

// Acts returns the changes of an action that a task recorded at a time. The list is empty for an action
// that was neither carried out nor suppressed by shadow mode, that a person commanded, or that is not judged:
// reactions, edits of a comment, and notes for the memory. Of the suppressed ones only labels and closes are
// judged: people rarely take the other actions, or choose other values.
func Acts(a memory.Action, at time.Time) []Act {
	switch {
	case triage.ParseSource(a.Rule).Command != "":
		return nil
	case a.Result == triage.Planned:
		return plannedActs(a, at)
	case a.Result != triage.Done:
		return nil
	}
	return changes(a, at)
}

// changes returns the changes of an action of a type that is judged.
func changes(a memory.Action, at time.Time) []Act {
	act := Act{Type: a.Type, At: at, URL: a.URL}
	switch a.Type {
	case protocol.ActionAddLabels:
		act.Type = protocol.ActionAddLabel
	case protocol.ActionComment, protocol.ActionCloseIssue, protocol.ActionReopenIssue, protocol.ActionMarkDuplicate,
		protocol.ActionLock, protocol.ActionUnlock, protocol.ActionRemoveMilestone:
		return []Act{act}
	case protocol.ActionAddLabel, protocol.ActionRemoveLabel, protocol.ActionAssign, protocol.ActionUnassign,
		protocol.ActionSetMilestone, protocol.ActionSetType:
	default:
		return nil
	}
	var list []Act
	for _, act.Value = range a.Values {
		list = append(list, act)
	}
	return list
}

// plannedActs returns the changes of an action that shadow mode suppressed.
func plannedActs(a memory.Action, at time.Time) (list []Act) {
	act := Act{Type: a.Type, At: at, Planned: true}
	switch a.Type {
	case protocol.ActionAddLabels:
		act.Type = protocol.ActionAddLabel
	case protocol.ActionAddLabel, protocol.ActionRemoveLabel:
	case protocol.ActionCloseIssue:
		if len(a.Values) == 0 {
			return []Act{act} // with any reason
		}
	default:
		return nil
	}
	for _, act.Value = range a.Values {
		list = append(list, act)
	}
	return list
}

// Judged reports whether actions of a type are judged.
func Judged(action string) bool {
	_, known := kinds[action]
	return known || action == protocol.ActionAddLabels
}

// Keys returns the pairs of an action by a source: one for each label of add_labels, for example. An action that is not judged has
// one pair, which never gets an outcome.
func Keys(source string, item protocol.ActionItem) []memory.PairKey {
	done := memory.NewAction(0, item)
	done.Result = triage.Done
	var list []memory.PairKey
	for _, a := range Acts(done, time.Time{}) {
		if k := KeyOf(source, a); !slices.Contains(list, k) {
			list = append(list, k)
		}
	}
	if len(list) == 0 {
		list = append(list, memory.PairKey{Source: source, Action: item.Type})
	}
	return list
}

// A Verdict is the outcome of an act.
type Verdict struct {
	Outcome memory.Outcome
	At      time.Time // of the event that decided it; else the time of judging
	By      string    // login of the person who undid it; empty: nobody, or unknown
	URL     string    // of the event, if it has a page
}

// Judge returns the outcome of an act. ok is false if it is not known yet: no person undid the act, and
// it is younger than the given duration. That of a planned act becomes known only after the duration.
func Judge(h history.History, act Act, after time.Duration, now time.Time) (v Verdict, ok bool) {
	events := later(h, act)
	for _, e := range events {
		if act.Planned || !contrary(act, e) || !h.Human(e) || h.FromForm(e) {
			continue
		}
		// The author may undo changes of the own issue without a permission in the repository.
		if byAuthor(h, e) && !triage.IsMaintainer(h.Issue.Association) {
			return Verdict{Outcome: memory.OutcomeUnjudged, At: e.At}, true
		}
		return Verdict{memory.OutcomeUndone, e.At, e.Actor, e.URL}, true
	}
	if now.Sub(act.At) < after {
		return Verdict{}, false
	}
	if act.Planned {
		return compare(h, act, events, now), true
	}
	v = Verdict{Outcome: memory.OutcomeUnjudged, At: now}
	if !h.Covers(act.At) {
		return v, true
	}
	there, hidden := holds(h, act)
	switch {
	case hidden: // the timeline does not name who hid or deleted a comment: only people with write access can
		v.Outcome = memory.OutcomeUndone
	case there && slices.ContainsFunc(events, func(e triage.TimelineEvent) bool { return couldUndo(h, e) }):
		v.Outcome = memory.OutcomeKept
	}
	return v, true
}

// compare returns the outcome of a planned act: whether people did the same, as the issue shows in the end.
func compare(h history.History, act Act, events []triage.TimelineEvent, now time.Time) Verdict {
	v := Verdict{Outcome: memory.OutcomeUnjudged, At: now}
	could := func(e triage.TimelineEvent) bool { return couldUndo(h, e) }
	same := func(e triage.TimelineEvent) bool { return made(act, e) && could(e) }
	switch there, _ := holds(h, act); {
	case !h.Covers(act.At):
	case there && slices.ContainsFunc(events, same):
		v.Outcome = memory.OutcomeKept
	case !there && slices.ContainsFunc(events, could):
		v.Outcome = memory.OutcomeUndone
	}
	return v
}

// skew is how far the clock of this machine may be ahead of GitHub's.
const skew = 2 * time.Minute

// later returns the events after the act: after our own event about it, or else after its time.
func later(h history.History, act Act) []triage.TimelineEvent {
	for i, e := range h.Events {
		if !act.Planned && h.Ours(e) && made(act, e) && !e.At.Before(act.At.Add(-skew)) {
			return h.Events[i+1:]
		}
	}
	i := slices.IndexFunc(h.Events, func(e triage.TimelineEvent) bool { return e.At.After(act.At) })
	if i < 0 {
		return nil
	}
	return h.Events[i:]
}

// kinds are the kinds of GitHub's events that an action causes, and that undo it.
var kinds = map[string]struct{ made, undo []string }{
	protocol.ActionAddLabel:        {[]string{"labeled"}, []string{"unlabeled"}},
	protocol.ActionRemoveLabel:     {[]string{"unlabeled"}, []string{"labeled"}},
	protocol.ActionAssign:          {[]string{"assigned"}, []string{"unassigned"}},
	protocol.ActionUnassign:        {[]string{"unassigned"}, []string{"assigned"}},
	protocol.ActionCloseIssue:      {[]string{"closed"}, []string{"reopened"}},
	protocol.ActionMarkDuplicate:   {[]string{"closed"}, []string{"reopened"}},
	protocol.ActionReopenIssue:     {[]string{"reopened"}, []string{"closed"}},
	protocol.ActionLock:            {[]string{"locked"}, []string{"unlocked"}},
	protocol.ActionUnlock:          {[]string{"unlocked"}, []string{"locked"}},
	protocol.ActionSetMilestone:    {[]string{"milestoned"}, []string{"demilestoned", "milestoned"}},
	protocol.ActionRemoveMilestone: {[]string{"demilestoned"}, []string{"milestoned"}},
	protocol.ActionSetType:         {[]string{"issue_type_added", "issue_type_changed"}, []string{"issue_type_removed", "issue_type_changed"}},
	protocol.ActionComment:         {[]string{"commented"}, []string{CommentDeleted}},
}

// made reports whether an event is that of the act.
func made(act Act, e triage.TimelineEvent) bool {
	if act.Type == protocol.ActionComment {
		return e.Kind == "commented" && e.URL == act.URL
	}
	return slices.Contains(kinds[act.Type].made, e.Kind) && (valueless(act) || text.SameLabel(triage.EventValue(e), act.Value))
}

// contrary reports whether an event undoes the act.
func contrary(act Act, e triage.TimelineEvent) bool {
	if !slices.Contains(kinds[act.Type].undo, e.Kind) {
		return false
	}
	switch act.Type {
	case protocol.ActionComment:
		return act.URL != "" && e.URL == act.URL
	case protocol.ActionSetMilestone:
		other := e.Kind == "milestoned"
		return text.SameLabel(e.Milestone, act.Value) != other
	case protocol.ActionSetType:
		return e.Kind == "issue_type_removed" || !text.SameLabel(e.IssueType, act.Value)
	}
	return valueless(act) || text.SameLabel(triage.EventValue(e), act.Value)
}

// valueless reports whether the events of an act have no value that must match: GitHub may report
// another reason of a close than the one that was asked for.
func valueless(act Act) bool { return act.Value == "" || act.Type == protocol.ActionCloseIssue }

// holds reports whether the issue still shows the act, and whether a comment is hidden or gone.
func holds(h history.History, act Act) (there, hidden bool) {
	i := h.Issue
	among := func(list []string) bool {
		return slices.ContainsFunc(list, func(s string) bool { return text.SameLabel(s, act.Value) })
	}
	switch act.Type {
	case protocol.ActionAddLabel:
		return among(i.Labels), false
	case protocol.ActionRemoveLabel:
		return !among(i.Labels), false
	case protocol.ActionAssign:
		return among(i.Assignees), false
	case protocol.ActionUnassign:
		return !among(i.Assignees), false
	case protocol.ActionCloseIssue, protocol.ActionMarkDuplicate:
		return i.State == "closed" && (act.Value == "" || strings.EqualFold(act.Value, i.StateReason)), false
	case protocol.ActionReopenIssue:
		return i.State == "open", false
	case protocol.ActionLock:
		return i.Locked, false
	case protocol.ActionUnlock:
		return !i.Locked, false
	case protocol.ActionSetMilestone:
		return text.SameLabel(i.Milestone, act.Value), false
	case protocol.ActionRemoveMilestone:
		return i.Milestone == "", false
	case protocol.ActionSetType:
		return text.SameLabel(i.Type, act.Value), false
	}
	for _, e := range h.Events {
		if made(act, e) {
			return !e.Hidden, e.Hidden
		}
	}
	return false, act.URL != "" && h.Complete
}

// couldUndo reports whether an event shows that a person was there who can undo our actions: somebody
// other than the author made a change that GitHub permits only to people who may triage, or a person who belongs to the repository
// commented.
func couldUndo(h history.History, e triage.TimelineEvent) bool {
	if !h.Human(e) || h.FromForm(e) || e.Actor == "" || byAuthor(h, e) {
		return false
	}
	switch e.Kind {
	case "labeled", "unlabeled", "milestoned", "demilestoned", "issue_type_added", "issue_type_changed", "issue_type_removed",
		"closed", "reopened", "locked", "unlocked":
		return true
	case "assigned", "unassigned":
		return !text.SameLogin(e.Actor, e.Assignee) // GitHub may name the assignee as the actor
	case "commented":
		return triage.IsMaintainer(e.Association)
	}
	return false
}

func byAuthor(h history.History, e triage.TimelineEvent) bool {
	return text.SameLogin(cmp.Or(e.Actor, " "), h.Issue.Author)
}
