// Package history answers who did what on an issue: from its timeline, from the markers in our
// comments, and from the record of the memory. It finds what people changed after us, rebuilds
// a lost record, and reverts what was done before. It does no I/O.
package history

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/runner/effect"
	"github.com/org/foreman-action/triage"
)

// A History is the timeline of an issue, seen by the account that we act as.
type History struct {
	triage.Timeline

	Bot   string // our login; empty: unknown, then nothing is ours
	Issue triage.Issue
}

// Ours reports whether an event happened under our login, which we may share with other
// programs. A deleted account has no login, and is never ours.
func (h History) Ours(e triage.TimelineEvent) bool { return SameLogin(e.Actor, h.Bot) }

// SameLogin reports whether two logins are the same account's; an empty one is no account's.
func SameLogin(a, b string) bool { return a != "" && strings.EqualFold(a, b) }

// Human reports whether an event was caused by a person, whose account may be deleted by now:
// neither by us nor by another program.
func (h History) Human(e triage.TimelineEvent) bool {
	return !h.Ours(e) && e.ActorType != "Bot" && !strings.HasSuffix(e.Actor, "[bot]")
}

// formTime is how soon after the opening of an issue GitHub has applied what its form or
// template asks for.
const formTime = time.Minute

// fromForm reports whether an event came with the issue, applied by a form or a template:
// GitHub names the author for it, also one who may not label or assign.
func (h History) fromForm(e triage.TimelineEvent) bool {
	switch e.Kind {
	case "labeled", "assigned", "milestoned", "issue_type_added":
	default:
		return false
	}
	return SameLogin(e.Actor, h.Issue.Author) && !triage.IsMaintainer(h.Issue.Association) &&
		!h.Issue.CreatedAt.IsZero() && e.At.Sub(h.Issue.CreatedAt) <= formTime
}

// Covers reports whether the timeline has every event since a time. An empty timeline, whose
// end cannot be found, counts as covered: it is no sign of many events.
func (h History) Covers(since time.Time) bool {
	return h.Complete || len(h.Events) == 0 || !h.Events[0].At.After(since)
}

// Last returns the newest event that matches.
func (h History) Last(match func(triage.TimelineEvent) bool) (triage.TimelineEvent, bool) {
	for _, e := range slices.Backward(h.Events) {
		if match(e) {
			return e, true
		}
	}
	return triage.TimelineEvent{}, false
}

// OurComment returns the marker of an event that is a comment of ours.
func (h History) OurComment(e triage.TimelineEvent) (Marker, bool) {
	if e.Kind != "commented" || !h.Ours(e) {
		return Marker{}, false
	}
	return ParseMarker(e.Body)
}

// Commented reports whether a task has posted a comment on the issue, in the same scope.
func (h History) Commented(task, scope string) bool {
	return slices.ContainsFunc(h.Events, func(e triage.TimelineEvent) bool {
		m, ok := h.OurComment(e)
		return ok && m.Task == task && m.Scope == scope
	})
}

// AddedBack returns why a thing that we removed, or would remove, must stay, and an empty
// text when it need not: the last event about it is that a person put it there.
func (h History) AddedBack(o effect.Outcome, did string) string {
	there, _ := kindsOf(o.Thing)
	return h.Override(there, did, about(o))
}

// RemovedBefore returns why a thing must not be put there, and an empty text when it may: the
// last event about it is that a person removed it.
func (h History) RemovedBefore(o effect.Outcome, did string) string {
	_, gone := kindsOf(o.Thing)
	return h.Override(gone, did, about(o))
}

// Override returns why people's decision stands against a step, and an empty text when it
// does not: the last of the events that match is a person's, and of the given kind, of any
// when it is empty. did says what the person did.
func (h History) Override(kind, did string, match func(triage.TimelineEvent) bool) string {
	e, found := h.Last(match)
	switch {
	case !found && !h.Complete:
		return "the timeline of the issue is too long to tell what people did"
	case !found || kind != "" && e.Kind != kind || !h.Human(e) || h.fromForm(e):
		return ""
	}
	return fmt.Sprintf("%s %s on %s, and people have the last word (override_humans)", Who(e), did, e.At.UTC().Format(time.DateOnly))
}

// Since describes the newest event of the kind that a person caused at or after a time, of those
// for which counts holds; empty: there is none.
func (h History) Since(at time.Time, kind, did string, counts func(triage.TimelineEvent) bool) string {
	e, ok := h.Last(func(e triage.TimelineEvent) bool {
		return e.Kind == kind && !e.At.Before(at) && h.Human(e) && counts(e)
	})
	if !ok {
		return ""
	}
	return fmt.Sprintf("%s %s on %s", Who(e), did, e.At.UTC().Format(time.DateOnly))
}

// Who returns the login of an event's actor, for people.
func Who(e triage.TimelineEvent) string {
	if e.Actor == "" {
		return "somebody"
	}
	return text.Quote(e.Actor)
}

// Kinds matches events of the given kinds.
func Kinds(kinds ...string) func(triage.TimelineEvent) bool {
	return func(e triage.TimelineEvent) bool { return slices.Contains(kinds, e.Kind) }
}

// Milestone matches the events that set or removed a milestone.
func Milestone(title string) func(triage.TimelineEvent) bool {
	return func(e triage.TimelineEvent) bool {
		return (e.Kind == "milestoned" || e.Kind == "demilestoned") && (title == "" || text.Fold(e.Milestone) == text.Fold(title))
	}
}

// kindsOf returns the kinds of the events after which a thing is there, and gone.
func kindsOf(t effect.Thing) (there, gone string) {
	switch t {
	case effect.Label:
		return "labeled", "unlabeled"
	case effect.Assignee:
		return "assigned", "unassigned"
	case effect.Openness:
		return "reopened", "closed"
	case effect.Forbidden, effect.Scheduled:
	}
	return "", ""
}

// about matches the events about the thing of an outcome; none for what the memory keeps.
func about(o effect.Outcome) func(triage.TimelineEvent) bool {
	there, gone := kindsOf(o.Thing)
	return func(e triage.TimelineEvent) bool {
		if there == "" || e.Kind != there && e.Kind != gone {
			return false
		}
		name := ""
		switch o.Thing {
		case effect.Label:
			name = e.Label
		case effect.Assignee:
			name = e.Assignee
		case effect.Openness, effect.Forbidden, effect.Scheduled:
		}
		return o.Name == "" || text.Fold(name) == text.Fold(o.Name)
	}
}
