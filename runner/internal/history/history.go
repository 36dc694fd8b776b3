// Package history finds out who made which change of an issue: from its timeline, from the
// markers in our comments, and from the record of the memory. It finds people's changes to our
// work, rebuilds a lost record, and plans how to revert earlier actions. It does no I/O.
package history

import (
	"slices"
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

// Covers reports whether the timeline has every event since a time. One that is [History.Lost]
// counts as covered: it is no sign of many events.
func (h History) Covers(since time.Time) bool {
	return h.Complete || h.Lost() || len(h.Events) > 0 && !h.Events[0].At.After(since)
}

// Lost reports whether the end of the timeline cannot be found, so that it is empty. A long one
// whose newest part has only commits is empty as well.
func (h History) Lost() bool { return !h.Complete && len(h.Events) == 0 && h.Size == 0 }

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

// About matches the events about the thing of an outcome; none for outcomes that only the
// memory contains.
func About(o effect.Outcome) func(triage.TimelineEvent) bool {
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
