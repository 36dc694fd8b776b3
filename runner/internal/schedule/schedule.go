// Package schedule makes the decisions of a scheduled run: whether issues still match the scans
// that found them, and whether a close may happen after its grace period.
package schedule

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/runner/internal/command"
	"github.com/org/foreman-action/runner/internal/history"
	"github.com/org/foreman-action/runner/internal/outcome"
	"github.com/org/foreman-action/runner/internal/plan"
	"github.com/org/foreman-action/triage"
)

// A Candidate is an issue that one or more scans found.
type Candidate struct {
	Issue triage.Issue
	Scans []string // the queries of these scans
}

// Merge adds the issues of a search to the candidates, without duplicates.
func Merge(list []Candidate, s Search, found []triage.Issue) []Candidate {
	for _, issue := range found {
		i := slices.IndexFunc(list, func(c Candidate) bool { return c.Issue.Number == issue.Number })
		for _, scan := range s.scans {
			if !scan.finds(issue) {
				continue
			}
			if i < 0 {
				i, list = len(list), append(list, Candidate{Issue: issue})
			}
			list[i].Scans = append(list[i].Scans, scan.query)
		}
	}
	return list
}

// Stale describes how a candidate changed since the search, if the change could affect the scan, or
// returns "".
func (c Candidate) Stale(now triage.Issue) string {
	was, is := outcome.NamesOf(c.Issue.Labels), outcome.NamesOf(now.Labels)
	switch {
	case c.Issue.State != now.State:
		return fmt.Sprintf("it is %s by now", text.Quote(now.State))
	case len(is.NotIn(c.Issue.Labels)) > 0, len(was.NotIn(now.Labels)) > 0:
		return "it has other labels by now"
	}
	return ""
}

// Due returns the closes of a record that are not vetoed (open), and those among them whose grace
// period is over (due).
func Due(r memory.Record, now time.Time) (open, due []memory.ScheduledClose) {
	open = slices.DeleteFunc(slices.Clone(r.Closings), func(c memory.ScheduledClose) bool { return c.Vetoed })
	due = slices.DeleteFunc(slices.Clone(open), func(c memory.ScheduledClose) bool { return c.Due.After(now) })
	return open, due
}

// Forget removes closes from a record.
func Forget(r *memory.Record, list []memory.ScheduledClose) {
	for _, c := range list {
		r.Drop(c.Rule)
	}
}

// Close returns the decision to close an issue whose grace period is over. by names the decider,
// "rules" or an agent, and from is the source of the action.
func Close(task, by string, from triage.Source, c memory.ScheduledClose) (plan.Decision, error) {
	params := map[string]any{}
	if c.Reason != "" {
		params["reason"] = c.Reason
	}
	if c.Confidence != "" {
		params[protocol.ParamConfidence] = c.Confidence
	}
	item, err := protocol.NewAction(protocol.ActionCloseIssue, params)
	if err != nil {
		return plan.Decision{}, err
	}
	return plan.Decision{By: by, Sources: []triage.Source{from}, Message: protocol.DecisionMessage{
		TaskID: task, Decision: protocol.Close, Actions: []protocol.ActionItem{item},
		Rationale: "the close was scheduled on " + c.At.UTC().Format(time.DateOnly) + " and not vetoed",
	}}, nil
}

// ClosedUnrecorded returns the due close that an earlier run carried out without recording it. ok
// is false if there is none.
func ClosedUnrecorded(h history.History, r memory.Record, due []memory.ScheduledClose) (c memory.ScheduledClose, at time.Time, ok bool) {
	last, found := h.Last(history.Kinds("closed"))
	i := slices.IndexFunc(due, func(c memory.ScheduledClose) bool { return !last.At.Before(c.Due) })
	recorded := slices.ContainsFunc(r.Tasks, func(t memory.Task) bool {
		return t.At.Sub(last.At).Abs() <= plan.CloseSlack && slices.ContainsFunc(t.Actions, func(a memory.Action) bool {
			made := outcome.Outcomes(a.Type, a.Values, a.Rule, false)
			return a.Result == triage.Done && len(made) > 0 && made[0].Thing == outcome.Openness
		})
	})
	if !found || !h.Ours(last) || i < 0 || recorded {
		return memory.ScheduledClose{}, time.Time{}, false
	}
	return due[i], last.At, true
}

// Reactions returns the thumbs down reactions to the comment with that id; 0: to the issue.
type Reactions func(ctx context.Context, comment int64) ([]triage.Reaction, error)

// Vetoed returns a description of a person's veto against a close, or "" if there is none.
func Vetoed(ctx context.Context, h history.History, c memory.ScheduledClose, read Reactions) (string, error) {
	if !h.Complete && (len(h.Events) == 0 || !h.Events[0].At.Before(c.At)) {
		return "the timeline of the issue is too long to decide whether a person vetoed it", nil
	}
	counts := func(e triage.TimelineEvent) bool { return !command.OnlyWhy(e.Body) }
	for _, veto := range c.Veto {
		var why string
		var err error
		switch veto {
		case protocol.VetoComment:
			why = h.Since(c.At, "commented", "commented", counts)
		case protocol.VetoReopen:
			why = h.Since(c.At, "reopened", "reopened it", counts)
		case protocol.VetoThumbsDown:
			why, err = thumbsDown(ctx, h, c, read)
		}
		if why != "" || err != nil {
			return why, err
		}
	}
	return "", nil
}

// thumbsDown looks for a person's thumbs down to the issue since the close was decided, or to one
// of our comments: those of the task that decided the close, and those written or edited since.
// Another task may have posted the notice again or updated it.
func thumbsDown(ctx context.Context, h history.History, c memory.ScheduledClose, read Reactions) (string, error) {
	targets := []int64{0}
	notice := map[int64]bool{} // by comment id: whether the task that decided the close wrote the comment
	for _, e := range h.Events {
		m, ok := h.OurComment(e)
		if !ok || e.ID <= 0 {
			continue
		}
		notice[e.ID] = m.Task == c.Task
		if notice[e.ID] || !e.At.Before(c.At) || !e.Edited.Before(c.At) {
			targets = append(targets, e.ID)
		}
	}
	for _, id := range targets {
		list, err := read(ctx, id)
		switch {
		case errors.Is(err, triage.ErrTruncated):
			return "there are too many reactions (-1) to tell whose they are", nil
		case errors.Is(err, triage.ErrNotFound) && id != 0:
			continue // the comment was deleted
		case err != nil:
			return "", err
		}
		for _, r := range list {
			who := triage.TimelineEvent{Actor: r.Actor, ActorType: r.ActorType}
			if h.Human(who) && (notice[id] || !r.At.Before(c.At)) {
				return fmt.Sprintf("%s reacted with -1 on %s", history.Who(who), r.At.UTC().Format(time.DateOnly)), nil
			}
		}
	}
	return "", nil
}
