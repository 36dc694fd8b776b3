// Package history determines who made which change to an issue. It uses the issue's timeline, the
// markers in our comments, and the memory's record. It finds people's changes of our work, rebuilds
// a lost record, and plans how to revert earlier actions. It does no I/O.
package history

import (
	"slices"
	"time"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/runner/internal/outcome"
	"github.com/org/foreman-action/triage"
)

// A History is the timeline of an issue, together with our login.
type History struct {
	triage.Timeline

	Bot   string // our login; empty: unknown, and no event is ours
	Issue triage.Issue
}

// Covers reports whether the timeline contains all events since a time. A timeline that is
// [History.Lost] counts as covering: an empty timeline does not mean that there are many events.
func (h History) Covers(since time.Time) bool {
	return h.Complete || h.Lost() || len(h.Events) > 0 && !h.Events[0].At.After(since)
}

// Lost reports whether the timeline is empty because its end could not be found. A long timeline
// whose newest part contains only commits has no events either, but is not lost.
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

// Count returns the number of events that match.
func (h History) Count(match func(triage.TimelineEvent) bool) int {
	n := 0
	for _, e := range h.Events {
		if match(e) {
			n++
		}
	}
	return n
}

// OurComment returns the marker of an event, if the event is one of our comments.
func (h History) OurComment(e triage.TimelineEvent) (Marker, bool) {
	if e.Kind != "commented" || !h.Ours(e) {
		return Marker{}, false
	}
	return ParseMarker(e.Body)
}

// Commented reports whether a task has posted a comment on the issue in this scope.
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

// Named matches events of the given kinds about a name.
func Named(name string, kinds ...string) func(triage.TimelineEvent) bool {
	return func(e triage.TimelineEvent) bool {
		return slices.Contains(kinds, e.Kind) && text.Fold(triage.EventValue(e)) == text.Fold(name)
	}
}

// Milestone matches the events that set or removed a milestone. An empty title matches any
// milestone.
func Milestone(title string) func(triage.TimelineEvent) bool {
	return func(e triage.TimelineEvent) bool {
		return (e.Kind == "milestoned" || e.Kind == "demilestoned") && (title == "" || text.Fold(e.Milestone) == text.Fold(title))
	}
}

// kindsOf returns the kinds of the events that add and that remove a thing.
func kindsOf(t outcome.Thing) (there, gone string) {
	switch t {
	case outcome.Label:
		return "labeled", "unlabeled"
	case outcome.Assignee:
		return "assigned", "unassigned"
	case outcome.Openness:
		return "reopened", "closed"
	case outcome.Forbidden, outcome.Scheduled:
	}
	return "", ""
}

// About matches the events about the thing of an outcome. It matches no event if only the memory
// contains the thing.
func About(o outcome.Outcome) func(triage.TimelineEvent) bool {
	there, gone := kindsOf(o.Thing)
	return func(e triage.TimelineEvent) bool {
		if there == "" || e.Kind != there && e.Kind != gone {
			return false
		}
		name := ""
		switch o.Thing {
		case outcome.Label:
			name = e.Label
		case outcome.Assignee:
			name = e.Assignee
		case outcome.Openness, outcome.Forbidden, outcome.Scheduled:
		}
		return o.Name == "" || text.Fold(name) == text.Fold(o.Name)
	}
}
