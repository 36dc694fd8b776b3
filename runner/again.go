package runner

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/runner/internal/history"
	"github.com/org/foreman-action/runner/internal/outcome"
	"github.com/org/foreman-action/runner/internal/plan"
	"github.com/org/foreman-action/triage"
)

// outdated returns why the issue in the event may not be the current one, or "". It is empty if
// the issue was not taken from the event, or if it cannot be read.
func (a attempt) outdated() string {
	now := a.o.Clock.Now()
	switch {
	case !a.d.Fetched.IsZero(), a.given != nil, a.o.Host.Issues == nil:
		return ""
	case a.reads.resumed:
		return "an earlier attempt may have changed the issue"
	case a.d.Late(now):
		return fmt.Sprintf("the event is %s old", now.Sub(a.d.Time()).Truncate(time.Second))
	case changedSince(*a.reads, a.d.Time()):
		return "the issue changed after the event"
	}
	return ""
}

// settling is the largest difference between the time in an event and the times on the timeline of
// the same change.
const settling = time.Second

// changedSince reports whether data that was read shows a change of the issue after a time.
func changedSince(r reads, at time.Time) bool {
	if at.IsZero() {
		return false
	}
	later := func(t time.Time) bool { return t.Sub(at) > settling }
	if r.timeline.read && slices.ContainsFunc(r.timeline.value.Events, func(e triage.TimelineEvent) bool {
		return later(e.At) && !incidental(e.Kind)
	}) {
		return true
	}
	return later(r.parts.PullChanged())
}

// beforeAttempt returns the current issue without the changes that earlier attempts at the task made
// since the event. With them, a condition such as "the issue has no label" would be false, and the
// rest of an interrupted decision would be lost. dec is the decision on the issue in the event, and
// made is the plan of that decision. asks means that the decision lacks the agent's part.
func (a attempt) beforeAttempt(ctx context.Context, now triage.Issue, dec plan.Decision, made plan.Plan, asks bool) (triage.Issue, error) {
	m := mine{attempt: a, dec: dec, asks: asks}
	if err := m.read(ctx, now, made); err != nil {
		return now, err
	}
	was, out := *a.d.Issue, now
	out.Labels = m.restored(ctx, outcome.Label, was.Labels, now.Labels)
	out.Assignees = m.restored(ctx, outcome.Assignee, was.Assignees, now.Assignees)
	if now.State != was.State && m.made(ctx, history.Kinds("closed", "reopened"), protocol.ActionCloseIssue, protocol.ActionMarkDuplicate, protocol.ActionReopenIssue) {
		out.State, out.StateReason, out.ClosedAt = was.State, was.StateReason, was.ClosedAt
	}
	if now.Milestone != was.Milestone && m.made(ctx, history.Milestone(""), protocol.ActionSetMilestone) {
		out.Milestone = was.Milestone
	}
	if now.Type != was.Type && m.made(ctx, history.Kinds("issue_type_added", "issue_type_changed", "issue_type_removed"), protocol.ActionSetType) {
		out.Type = was.Type
	}
	if now.Locked != was.Locked && m.made(ctx, history.Kinds("locked", "unlocked"), protocol.ActionLock, protocol.ActionUnlock) {
		out.Locked = was.Locked
	}
	out.Comments = max(min(was.Comments, now.Comments), now.Comments-m.posted)
	return out, m.err
}

// mine determines which changes since the event earlier attempts at the task made: those that the
// decision wants and that we made.
type mine struct {
	attempt

	dec    plan.Decision
	asks   bool // the agent's decision is missing
	proven bool // the timeline shows who made a change; otherwise, wanted changes count as ours
	posted int  // number of the task's comments
	reread bool // the timeline was read after the issue
	err    error
}

// read reads the data that the review of the decision needs anyway. If all actions of the decision
// are done already, the review does not need the timeline.
func (m *mine) read(ctx context.Context, now triage.Issue, made plan.Plan) error {
	if m.asks { // the agent's decision is unknown, and a memory needs the timeline for its summary
		m.proven = m.o.Memory.Store != nil
		return nil
	}
	at := m.planned()
	seen := plan.Snapshot{Issue: &now, Labels: m.reads.labels.Known, Assumed: m.reads.labels.Assumed}
	for {
		need := plan.Needs(made, at, seen)
		if m.proven = need.Timeline || m.reads.timeline.read; !need.Comments {
			break
		}
		if err := m.reads.need(ctx, need, &seen); err != nil {
			return err
		}
	}
	if m.reads.seen.Comments = seen.Comments; seen.Comments != nil {
		for _, c := range seen.Comments.List {
			if k, ok := history.ParseMarker(c.Body); ok && k.Task == m.reads.task && text.SameLogin(c.Author, m.reads.login) {
				m.posted++
			}
		}
	}
	return nil
}

// made reports whether an earlier attempt made the newest change that matches. types are the actions
// that make such a change.
func (m *mine) made(ctx context.Context, match func(triage.TimelineEvent) bool, types ...string) bool {
	wanted := m.asks || slices.ContainsFunc(m.dec.Message.Actions, func(i protocol.ActionItem) bool { return slices.Contains(types, i.Type) })
	return wanted && m.ours(ctx, match)
}

func (m *mine) ours(ctx context.Context, match func(triage.TimelineEvent) bool) bool {
	if !m.proven {
		return !m.asks
	}
	for {
		h, err := m.reads.reach(ctx, match)
		if err != nil {
			m.err = err
			return false
		}
		e, found := h.Last(match)
		found = found && !e.At.Before(m.reads.since.Truncate(time.Second))
		if found || m.reread {
			return found && h.Ours(e)
		}
		m.reads.timeline.asked, m.reread = false, true // it may be older than the issue
	}
}

// restored returns a list of names without those that an earlier attempt added, and with those that
// it removed.
func (m *mine) restored(ctx context.Context, thing outcome.Thing, old, current []string) []string {
	did := func(name string, there bool) bool {
		o := outcome.Outcome{Thing: thing, Name: name, There: there}
		return (m.asks || m.dec.Wants(o)) && m.ours(ctx, history.About(o))
	}
	had, has := outcome.NamesOf(old), outcome.NamesOf(current)
	list := slices.DeleteFunc(slices.Clone(current), func(name string) bool { return !had.Has(name) && did(name, true) })
	for _, name := range has.NotIn(old) {
		if did(name, false) {
			list = append(list, name)
		}
	}
	return list
}
