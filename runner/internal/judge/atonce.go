package judge

import (
	"slices"
	"time"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/runner/internal/history"
	"github.com/org/foreman-action/triage"
)

// This file has the outcomes that people decide before a pass judges their actions.

// CommentDeleted is the kind of the event by which somebody deleted a comment of ours. Its URL is the
// comment's. The events of this kind on GitHub's timelines do not name the comment, so they have no effect.
const CommentDeleted = "comment_deleted"

// Decided returns the outcomes of those actions of a record that people accepted or rejected, or undid by a
// command. A proposal that the author of the issue accepted is not there: nobody vouches for herself.
func Decided(r memory.Record, issue triage.Issue, now time.Time) []Found {
	var list []Found
	for _, a := range actsOf(r) {
		switch as := a.answered(issue.Author); as {
		case memory.OutcomeAccepted, memory.OutcomeRejected, memory.OutcomeUndone:
			list = append(list, a.found(as, issue, now))
		case memory.OutcomeKept, memory.OutcomeExpired, memory.OutcomeUnjudged, "":
		}
	}
	return list
}

// A Contradiction is an event that undoes actions of ours, if a person caused it and nothing happened in between.
type Contradiction struct {
	event triage.TimelineEvent
	acts  []act
}

// Contradicts returns the contradiction of an event; ok is false if the event undoes no action of the record.
func Contradicts(r memory.Record, e triage.TimelineEvent) (c Contradiction, ok bool) {
	acts := slices.DeleteFunc(actsOf(r), func(a act) bool { return !a.undoable() || !contrary(a.Act, e) })
	return Contradiction{e, acts}, len(acts) > 0
}

// Undone returns the outcomes of the actions that a person undid, as the history of the issue shows. The
// history may lack the event. after is as in [Judge].
func (c Contradiction) Undone(h history.History, after time.Duration, now time.Time) []Found {
	i := len(h.Events)
	for i > 0 && h.Events[i-1].At.After(c.event.At) {
		i--
	}
	h.Events = slices.Insert(slices.Clone(h.Events), i, c.event)
	var list []Found
	for _, a := range c.acts {
		if v, ok := Judge(h, a.Act, after, now); ok && v.Outcome == memory.OutcomeUndone {
			list = append(list, a.found(v.Outcome, h.Issue, now))
		}
	}
	return list
}

// found returns the outcome of an act.
func (a act) found(as memory.Outcome, issue triage.Issue, now time.Time) Found {
	return Found{Key: a.key, Name: a.name, Result: memory.Result{Outcome: as, Shadow: a.Planned, Issue: issue.Number, Author: issue.Author, Acted: a.At, At: now}}
}

// answered returns the outcome that people's answer or command decided; empty: none. The consent of the
// issue's author counts as no proof.
func (a act) answered(author string) memory.Outcome {
	if a.known == memory.OutcomeAccepted && a.by != "" && text.SameLogin(a.by, author) {
		return memory.OutcomeUnjudged
	}
	return a.known
}

// open reports whether the issue and its timeline decide the outcome: no answer does, or a person may still undo what was
// accepted.
func (a act) open() bool { return a.known == "" || a.known == memory.OutcomeAccepted }

// undoable reports whether a person may still undo the act. There is nothing to undo if shadow mode only planned it.
func (a act) undoable() bool { return a.open() && !a.Planned }
