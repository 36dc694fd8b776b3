package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/runner/effect"
	"github.com/org/foreman-action/runner/internal/execute"
	"github.com/org/foreman-action/runner/internal/outcome"
	"github.com/org/foreman-action/runner/internal/plan"
	"github.com/org/foreman-action/runner/internal/proposal"
	"github.com/org/foreman-action/triage"
)

// This file has the proposals of a run: their rationales, their place in the record, and the comment that
// shows them.

// A publisher keeps the proposals of an attempt: in the record, and in the comment that shows them.
type publisher struct{ attempt }

// publish brings the comment with the proposals up to date with the record, after the record was saved.
// It posts the comment if there is none. If people deleted the comment, its proposals are rejected.
func (a publisher) publish(ctx context.Context, n proposal.Changes, r memory.Record, shown bool) error {
	if a.dry || a.o.Host.Issues == nil {
		return nil
	}
	if n.Lost && len(r.Proposals) == 0 {
		_, err := a.post(ctx, proposal.Lost, a.d.Comment.ID)
		return err
	}
	text := proposal.Comment(r, n.View)
	current := !shown && n.None() && !a.reads.resumed && r.ProposalComment != 0 && len(r.Pending()) == 0
	if text == "" || current {
		return nil
	}
	if r.ProposalComment != 0 {
		c, err := a.proposalComment(ctx, r.ProposalComment)
		switch {
		case errors.Is(err, triage.ErrNotFound):
			return a.republish(ctx, n, r)
		case err != nil:
			return err
		}
		ticked := len(proposal.Ticked(text, c.Body)) > 0
		if ticked && n.View.Note == "" { // no run saw the tick
			n.View.Note = proposal.TickAgain
			text = proposal.Comment(r, n.View)
		}
		if !ticked && proposal.Sum(c.Body) == proposal.Sum(text) {
			return a.shown(ctx, n, r, r.ProposalComment, text)
		}
	} else if n.Unshown(r) {
		// The run that made the proposals may have posted the comment, and GitHub may not show it yet.
		if err := a.o.Clock.Sleep(ctx, execute.Settle); err != nil {
			return fmt.Errorf("wait for the comment with the proposals: %w: %w", triage.ErrHalted, err)
		}
	}
	id, err := a.post(ctx, text, r.ProposalComment)
	switch {
	case errors.Is(err, triage.ErrNotFound) && r.ProposalComment != 0:
		return a.republish(ctx, n, r)
	case err != nil:
		return err
	}
	return a.shown(ctx, n, r, id, text)
}

// shown records that the comment with that id has a text that shows the proposals of a record. Of a comment that
// the record has already, only a run that tidies records it: others would save the record a second time, and with
// artifacts that is a moment without a record.
func (a publisher) shown(ctx context.Context, n proposal.Changes, r memory.Record, id int64, text string) error {
	sum, last := proposal.Sum(text), r.LastProposal
	unshown := n.Tidies && slices.ContainsFunc(r.Pending(), r.Unshown)
	if id == r.ProposalComment && slices.Contains(r.ProposalRenders, sum) && !unshown {
		return nil
	}
	return a.updateRecord(ctx, func(r *memory.Record) {
		r.ProposalComment, r.ProposalsShown = id, max(r.ProposalsShown, last)
		r.Render(sum)
	})
}

// proposalComment reads the comment with the proposals, once. [triage.ErrNotFound]: people deleted it.
func (a publisher) proposalComment(ctx context.Context, id int64) (triage.Comment, error) {
	if c := a.reads.proposals; c != nil && c.ID == id {
		return *c, nil
	}
	c, err := a.o.Host.Issues.Comment(ctx, a.d.Ref(), id)
	if err != nil {
		return c, fmt.Errorf("read the comment with the proposals: %w", err)
	}
	a.reads.proposals = &c
	return c, nil
}

// republish rejects the proposals of a comment that people deleted. Those that this run made are posted
// in a new comment.
func (a publisher) republish(ctx context.Context, n proposal.Changes, r memory.Record) error {
	drop := func(r *memory.Record) {
		for _, p := range r.Pending() {
			mine := slices.ContainsFunc(n.Made, func(m memory.Proposal) bool { return m.ID == p.ID })
			if p.Carrier == triage.CarrierComment && !mine {
				r.End(p.Number, memory.Rejected, "", "the comment was deleted", n.Now)
			}
		}
		r.ProposalComment, r.ProposalsShown, r.ProposalRenders = 0, 0, nil
	}
	if err := a.updateRecord(ctx, drop); err != nil {
		return err
	}
	drop(&r)
	if !slices.ContainsFunc(r.Pending(), func(p memory.Proposal) bool { return p.Carrier == triage.CarrierComment }) {
		return nil
	}
	return a.publish(ctx, n, r, true)
}

// updateRecord changes the record of the issue.
func (a publisher) updateRecord(ctx context.Context, change func(*memory.Record)) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTime)
	defer cancel()
	err := a.update(ctx, a.d.Ref(), func(r *memory.Record) error {
		change(r)
		return nil
	})
	if err != nil {
		return fmt.Errorf("record the comment with the proposals: %w", err)
	}
	return nil
}

// post posts the comment with the proposals, or replaces the text of the one with that id, and returns
// its id. [triage.ErrNotFound]: the comment to be replaced was deleted.
func (a publisher) post(ctx context.Context, body string, id int64) (int64, error) {
	item, err := protocol.NewAction(protocol.ActionUpdateComment, map[string]any{"body": body, "key": proposal.Key})
	if err != nil {
		return 0, err
	}
	step := plan.Step{
		ActionResult: triage.ActionResult{Action: item, Verdict: triage.Do, Source: triage.Source{Rule: proposal.Key}},
		Effect:       effect.Comment{Body: body, Key: proposal.Key, ID: id},
	}
	p := plan.Plan{Steps: []plan.Step{step}}
	out := carryOut(ctx, a.attempt, reviewed{made: p, plan: p, identity: a.identity(), seen: a.reads.seen}, nil)
	c, _ := out.Steps[0].Comment()
	switch r := out.Results[0]; {
	case out.Err != nil:
		return 0, fmt.Errorf("post the comment with the proposals: %w", out.Err)
	case out.Gone:
		return 0, fmt.Errorf("post the comment with the proposals: %w", triage.ErrGone)
	case r.State == triage.Skipped && id != 0:
		return 0, fmt.Errorf("post the comment with the proposals: %w", triage.ErrNotFound)
	case r.State == triage.Refused:
		refused := &triage.RefusedError{Reason: strings.TrimPrefix(r.Reason, (&triage.RefusedError{}).Error())}
		return 0, fmt.Errorf("post the comment with the proposals: %w", refused)
	case r.State != triage.Done:
		return 0, fmt.Errorf("post the comment with the proposals: %s", r.Reason)
	}
	return c.ID, nil
}

// show is publish. A refusal that will not change is a warning.
func (a publisher) show(ctx context.Context, rep *Report, n proposal.Changes, r memory.Record, shown bool) error {
	err := a.publish(ctx, n, r, shown)
	refused, final := errors.AsType[*triage.RefusedError](err)
	switch {
	case err == nil || errors.Is(err, triage.ErrGone):
		return nil
	case final:
		rep.warnf("the comment with the proposals cannot be written: %v", refused)
		return nil
	}
	rep.fail(err)
	return err
}

// changes returns what a run with these results changes in the proposals of the record.
func (a publisher) changes(answers proposal.Answers, out execute.Outcome, p plan.Plan) proposal.Changes {
	issue := *a.d.Issue
	if a.reads.seen.Issue != nil {
		issue = *a.reads.seen.Issue
	}
	c := proposal.Changes{
		Answers: answers, Now: a.o.Clock.Now().UTC(), Results: out.Results, Issue: issue, State: outcome.StateOf(issue),
		History: a.reads.history(triage.Timeline{Events: a.eventsWithThis()}),
		Source:  a.proposer,
		View:    proposal.View{Boxes: !a.o.NoBoxes, Text: proposal.TextDigest(*a.d.Issue), Note: answers.Note},
	}
	for i, s := range out.Steps {
		if s.Effect != nil && out.Results[i].State == triage.Done {
			outcome.Change(s.Effect, c.State)
		}
		if s.Holds && a.reads.resumed && out.Results[i].State == triage.Skipped {
			c.Before = append(c.Before, s.Index)
		}
		if s.Deferred {
			c.Postponed = append(c.Postponed, s.Index)
		}
	}
	if out.Err == nil && !out.Gone && !out.Closed {
		p.Steps = out.Steps // GitHub may have proposed what was to be carried out
		c.Made = p.Proposals(a.identity(), c.Now)
	}
	if c.View.Note == "" {
		c.View.Note = c.Unfinished()
	}
	return c
}

// eventsWithThis returns the events of the timeline that were read, and the event itself if it is about a
// label or an assignee.
func (a publisher) eventsWithThis() []triage.TimelineEvent {
	events := a.reads.timeline.value.Events
	if a.d.Action == "labeled" || a.d.Action == "assigned" {
		events = append(slices.Clip(events), triage.TimelineEvent{
			Kind: a.d.Action, At: a.d.Time(), Actor: a.d.Sender.Login, ActorType: a.d.Sender.Type, Label: a.d.Label, Assignee: a.d.Assignee,
		})
	}
	return events
}

// tidies reports whether the event can end proposals although no action results: the issue was closed,
// reopened or edited, and proposals wait.
func (a publisher) tidies(ctx context.Context) bool {
	if a.d.Name != triage.EventIssues || !slices.Contains([]string{"closed", "reopened", "edited"}, a.d.Action) || a.reads.fresh() || !a.proposes() {
		return false
	}
	rec, err := a.reads.stored(ctx)
	return err == nil && len(rec.Pending()) > 0
}

// within skips the proposals of a plan if the scheduled run must not post another comment with proposals.
func (a publisher) within(r reviewed) reviewed {
	if a.room == nil || len(r.plan.Proposals(a.identity(), a.o.Clock.Now())) == 0 || r.seen.Kept != nil && r.seen.Kept.ProposalComment != 0 {
		return r
	}
	if a.room.left > 0 {
		a.room.left--
		return r
	}
	a.room.refused++
	r.plan.Steps = slices.Clone(r.plan.Steps)
	for i := range r.plan.Steps {
		if s := &r.plan.Steps[i]; s.Verdict == triage.Suggest {
			s.Verdict, s.Reason = triage.Skip, "this run has begun to propose on enough issues; a later run goes on"
		}
	}
	return r
}

// proposer returns the source of a proposal with that id. What an agent asked for, or a rule that no longer
// exists, has the source of an agent, whose text is untrusted.
func (a publisher) proposer(id string) triage.Source {
	switch {
	case id == onFailureID:
		return triage.Source{Rule: id}
	case id != "" && slices.Contains(a.c.Rules.IDs(), id):
		return a.source(id, "") // the proposal has its Pair
	}
	return triage.Source{}
}
