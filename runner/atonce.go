package runner

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/org/foreman-action/internal/permission"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/runner/internal/command"
	"github.com/org/foreman-action/runner/internal/judge"
	"github.com/org/foreman-action/runner/internal/proposal"
	"github.com/org/foreman-action/triage"
)

// This file has what counts at once in the track records, because the event of the run is a person's answer to
// what Foreman did. Scheduled runs judge all other actions, and those that a killed run did not count; see judge.go.

// countAnswers counts what the event decides about earlier actions, after the record of the issue was saved: answers to
// proposals, the command undo, and a change that undoes an action. Each outcome counts once. An error is
// only a warning.
func (a *recorder) countAnswers(ctx context.Context, rep *Report, answers proposal.Answers) {
	costly := a.o.Memory.LoadCalls > 0 && !a.c.Policy.Earned // nothing depends on the outcomes before a scheduled run counts them
	if !a.counts() || a.dry || costly || !a.d.Happened() {
		return
	}
	list, err := a.decided(ctx, rep, answers)
	if err != nil || len(list) == 0 {
		a.uncounted(ctx, err)
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTime)
	defer cancel()
	n, err := judge.Counter{Repo: a.d.FullRepo(), Store: a.o.Memory.Agenda, Threshold: a.thresholds(ctx, a.d.Repo, a.warn), Reset: a.resetAt}.Count(ctx, list, time.Time{})
	a.uncounted(ctx, errors.Join(n.Broken, err))
	rep.Judged, rep.Undone = n.Judged, n.Undone
	if a.c.Policy.Earned {
		rep.Changes = a.permissions().Effective(n.Changes)
	}
	for _, c := range rep.Changes {
		if !c.Granted {
			rep.warnf("%s", permission.Describe(c))
		}
	}
}

// decided returns the outcomes that the event decides.
func (a *recorder) decided(ctx context.Context, rep *Report, answers proposal.Answers) ([]judge.Found, error) {
	now := a.o.Clock.Now()
	if a.saved != nil && (a.answers(answers) || undoes(rep)) {
		return judge.Decided(*a.saved, *a.d.Issue, now), nil
	}
	e, ok := changeOf(a.d)
	if !ok {
		return nil, nil
	}
	r, err := a.forChange(ctx)
	if err != nil {
		return nil, err
	}
	r.Tasks = slices.DeleteFunc(slices.Clone(r.Tasks), a.reads.isThis)
	c, ok := judge.Contradicts(r, e)
	if !ok {
		return nil, nil
	}
	t, err := a.reads.Timeline(ctx)
	if err != nil {
		return nil, err
	}
	return c.Undone(a.reads.history(t), a.c.Policy.JudgeTime(), now), nil
}

// Undoes reports whether an event is a change by a person that undoes an action of Foreman, as the record of the issue
// shows. A program that chooses the events that it passes to a Runner must pass such events, too: they count in
// the track records. record is called only for events that can undo something.
func Undoes(d triage.Delivery, record func() memory.Record) bool {
	if d.Issue == nil {
		return false
	}
	e, ok := changeOf(d)
	if ok {
		_, ok = judge.Contradicts(record(), e)
	}
	return ok
}

// answers reports whether the event answers proposals, or did so in an earlier attempt, which may have been killed before it
// counted the answers. A command by somebody who may not answer costs nothing.
func (a *recorder) answers(now proposal.Answers) bool {
	if len(now.Accepted)+len(now.Rejected) > 0 {
		return true
	}
	list := commandsOf(a.d)
	return (list.Has(command.Accept) || list.Has(command.Reject) || AnsweringOf(a.d, a.login()) == Answer) &&
		slices.ContainsFunc(a.saved.Proposals, func(p memory.Proposal) bool {
			return (p.State == memory.Accepted || p.State == memory.Rejected) && text.SameLogin(p.By, a.d.Sender.Login)
		})
}

// undoes reports whether the run carried out the command undo. A command that is refused has only a reaction.
func undoes(rep *Report) bool {
	return slices.ContainsFunc(rep.Actions, func(r triage.ActionResult) bool {
		return r.Source.Command == command.Undo && r.Action.Type != protocol.ActionReact
	})
}

// forChange returns the record of the issue for a person's change.
func (a *recorder) forChange(ctx context.Context) (memory.Record, error) {
	if a.saved != nil {
		return *a.saved, nil
	}
	r, err := a.reads.stored(ctx)
	if errors.Is(err, memory.ErrNotFound) {
		err = nil
	}
	return r, err
}

// uncounted reports that outcomes were not counted, or that new track records begin; nil: nothing happened.
func (a *recorder) uncounted(ctx context.Context, err error) {
	switch {
	case err == nil:
	case a.o.Memory.Implicit || !a.c.Policy.Earned, // nothing depends on the outcomes
		a.reads.earned != nil && a.reads.earned.why != "": // there is a warning already
		a.o.Log.InfoContext(ctx, "track records could not be read or saved; scheduled runs count what is missing", "error", err)
	default:
		a.warn("memory: track records: %v; scheduled runs count what is missing", err)
	}
}

// changeOf returns the event as the timeline of its issue lists it; ok is false if no person caused it, or if it is of a kind that cannot
// undo an action.
func changeOf(d triage.Delivery) (e triage.TimelineEvent, ok bool) {
	e = triage.TimelineEvent{
		Kind: d.Action, At: d.Time(), Actor: d.Sender.Login, ActorType: d.Sender.Type,
		Label: d.Label, Assignee: d.Assignee, Milestone: d.Milestone,
	}
	switch d.Action {
	case "labeled", "unlabeled", "assigned", "unassigned", "milestoned", "demilestoned", "closed", "reopened", "locked", "unlocked":
	case "typed":
		e.Kind, e.IssueType = "issue_type_changed", d.Issue.Type
	case "untyped":
		e.Kind = "issue_type_removed"
	case "deleted": // an issue that is deleted undoes nothing
		e.Kind, e.URL = judge.CommentDeleted, d.Comment.URL
	default:
		return e, false
	}
	return e, byPerson(d) && (d.Name == triage.EventIssueComment) == (e.Kind == judge.CommentDeleted)
}
