package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/policy"
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

// withRationales fills in the rationales of the proposed steps of rules that state none.
func (a attempt) withRationales(ctx context.Context, dec decided, p *plan.Plan) {
	missing := func(s plan.Step) bool {
		return s.Verdict == triage.Suggest && s.Rationale == "" && s.Source.Rule != ""
	}
	if !slices.ContainsFunc(p.Steps, missing) {
		return
	}
	why := a.rationales(ctx, dec, *p)
	p.Steps = slices.Clone(p.Steps)
	for i := range p.Steps {
		if s := &p.Steps[i]; missing(*s) {
			s.Rationale = sanitize.Rationale(why[s.Source.Rule])
		}
	}
}

// rationales returns why the rules of a plan fired, by their ids.
func (a attempt) rationales(ctx context.Context, dec decided, p plan.Plan) map[string]string {
	f := decider{a}.facts(ctx)
	if dec.Retriaged {
		f = asOpened(a.d.AsOpened(), f)
	}
	f.Lookup, f.Effect = a.lookup(true), decider{a}.effect(false, dec.Retriaged)
	var ids []string
	for _, s := range p.Steps {
		if s.Source.Rule != "" && !slices.Contains(ids, s.Source.Rule) {
			ids = append(ids, s.Source.Rule)
		}
	}
	return a.c.Rules.Rationale(ctx, f, ids...)
}

// Panels are the repositories whose GitHub panel of suggestions was seen to be on within the last day. The
// zero value has none. It is safe for concurrent use, and must not be copied after its first use.
type Panels struct {
	mu   sync.Mutex
	seen map[string]time.Time // when it was last seen, by repository
}

// panelTime is how long a panel counts as on after it was seen.
const panelTime = 24 * time.Hour

// on reports whether the panel of a repository is on, as events of the timeline show. Nil: the timeline was
// not read.
func (p *Panels) on(repo string, t *triage.Timeline, now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case t == nil:
	case slices.ContainsFunc(t.Events, func(e triage.TimelineEvent) bool { return e.Intends }):
		if p.seen == nil {
			p.seen = map[string]time.Time{}
		}
		p.seen[repo] = now
	case slices.ContainsFunc(t.Events, func(e triage.TimelineEvent) bool { return e.Kind == "labeled" || e.Kind == "assigned" }):
		delete(p.seen, repo) // such events show it if it is on
	}
	at, ok := p.seen[repo]
	return ok && now.Sub(at) < panelTime
}

// withPanel uses GitHub's panel of suggestions for a plan, where the panel is on.
func (a attempt) withPanel(ctx context.Context, dec decided, r reviewed) reviewed {
	if r.err != nil || !r.plan.HasPanel() {
		return r
	}
	switch a.c.Policy.Suggestions {
	case policy.SuggestionsComment, policy.SuggestionsOff:
		return r
	case policy.SuggestionsGitHub:
	default:
		var t *triage.Timeline
		if a.reads.timeline.read {
			t = &a.reads.timeline.value
		}
		if !a.panels.on(a.d.FullRepo(), t, a.o.Clock.Now()) {
			return r
		}
	}
	var why map[string]string
	r.plan = r.plan.WithPanel(func(s *plan.Step) string {
		if s.Source.Rule == "" {
			return ""
		}
		if why == nil {
			why = a.rationales(ctx, dec, r.plan)
		}
		return sanitize.Rationale(why[s.Source.Rule])
	})
	return r
}

// publish brings the comment with the proposals up to date with the record, after the record was saved.
// It posts the comment if there is none. If people deleted the comment, its proposals are rejected.
func (a *recorder) publish(ctx context.Context, n proposal.Changes, r memory.Record, shown bool) error {
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
func (a *recorder) shown(ctx context.Context, n proposal.Changes, r memory.Record, id int64, text string) error {
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
func (a attempt) proposalComment(ctx context.Context, id int64) (triage.Comment, error) {
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
func (a *recorder) republish(ctx context.Context, n proposal.Changes, r memory.Record) error {
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
func (a *recorder) updateRecord(ctx context.Context, change func(*memory.Record)) error {
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
func (a *recorder) post(ctx context.Context, body string, id int64) (int64, error) {
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
func (a *recorder) show(ctx context.Context, rep *Report, n proposal.Changes, r memory.Record, shown bool) error {
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

// Tidy brings the proposals of an issue up to date without an event: those that are too old or need no
// answer any more end, and a missing comment with the proposals is posted. d needs only the repository and
// the number of the issue; nothing is decided. It does nothing if no proposal waits.
func (r *Runner) Tidy(ctx context.Context, id TaskIdentity, d triage.Delivery) (Report, error) {
	s, err := r.forCall(id, d)
	rep := newReport(s, d)
	rep.skip("no proposal waits on the issue")
	if err != nil {
		rep.fail(err)
		return rep, err
	}
	if s.dry || s.o.Memory.Store == nil {
		return rep, nil
	}
	loading, cancel := context.WithTimeout(ctx, loadTime)
	defer cancel()
	rec, err := s.o.Memory.Store.Load(loading, d.FullRepo(), d.Number)
	switch {
	case errors.Is(err, memory.ErrNotFound) || err == nil && len(rec.Pending()) == 0:
		return rep, nil
	case err != nil:
		err = fmt.Errorf("read the proposals: %w", err)
		rep.fail(err)
		return rep, err
	}
	rep.skip("brought the proposals up to date")
	err = s.tidy(ctx, &rep, d, rec)
	return rep, err
}

// tidy brings the proposals of an issue, which r has, up to date. On an issue that is gone they end.
func (s setup) tidy(ctx context.Context, rep *Report, d triage.Delivery, r memory.Record) error {
	d, err := fetch(ctx, s, d)
	switch {
	case errors.Is(err, triage.ErrGone):
		rep.skip(triage.ErrGone.Error())
		err = s.update(ctx, d.Ref(), func(r *memory.Record) error {
			r.Expire(s.o.Clock.Now().UTC())
			for _, p := range r.Pending() {
				r.End(p.Number, memory.Overtaken, "", triage.ErrGone.Error(), s.o.Clock.Now().UTC())
			}
			return nil
		})
	case err == nil:
		rep.IssueURL, rep.Title = d.Issue.URL, d.Issue.Title
		rec := recorder{attempt: newAttempt(s, d, nil, rep.warnf)}
		err = rec.tidy(ctx, rep, r)
	}
	if err != nil {
		err = fmt.Errorf("bring the proposals up to date: %w", err)
		rep.fail(err)
	}
	return err
}

// tidy ends the proposals of r that need no answer any more, and brings the comment up to date. The
// timeline is read only if it can show that people accepted a proposal in GitHub's panel.
func (a *recorder) tidy(ctx context.Context, rep *Report, r memory.Record) error {
	if slices.ContainsFunc(r.Pending(), func(p memory.Proposal) bool { return p.Carrier == triage.CarrierGitHub }) {
		if _, err := a.reads.Timeline(ctx); err != nil {
			return err
		}
	}
	n := a.changes(decided{}, execute.Outcome{}, plan.Plan{})
	n.Tidies = true
	saved, applied, err := a.save(ctx, nil, deferral{a: *a}, n)
	if err != nil {
		return err
	}
	return a.show(ctx, rep, n, saved, applied.Shown)
}

// changes returns what a run with these results changes in the proposals of the record.
func (a recorder) changes(dec decided, out execute.Outcome, p plan.Plan) proposal.Changes {
	issue := *a.d.Issue
	if a.reads.seen.Issue != nil {
		issue = *a.reads.seen.Issue
	}
	c := proposal.Changes{
		Answers: dec.Answers, Now: a.o.Clock.Now().UTC(), Results: out.Results, Issue: issue, State: outcome.StateOf(issue),
		History: a.reads.history(triage.Timeline{Events: a.eventsWithThis()}),
		Source:  a.proposer,
		View:    proposal.View{Boxes: !a.o.NoBoxes, Text: proposal.TextDigest(*a.d.Issue), Note: dec.Answers.Note},
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
func (a attempt) eventsWithThis() []triage.TimelineEvent {
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
func (a *recorder) tidies(ctx context.Context) bool {
	if a.d.Name != triage.EventIssues || !slices.Contains([]string{"closed", "reopened", "edited"}, a.d.Action) || a.reads.fresh() || !a.proposes() {
		return false
	}
	rec, err := a.reads.stored(ctx)
	return err == nil && len(rec.Pending()) > 0
}

// A proposalRoom limits on how many issues a scheduled run begins to propose.
type proposalRoom struct {
	left    int // issues on which the run may still post a comment with proposals
	refused int // issues on which it did not
}

// within skips the proposals of a plan if the scheduled run must not post another comment with proposals.
func (a attempt) within(r reviewed) reviewed {
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

// proposes reports whether the configuration can propose actions.
func (s setup) proposes() bool {
	return s.c.Proposes() || s.o.Agent.Agent != nil && s.c.Policy.Suggestions != policy.SuggestionsOff
}

// unattended is the time after which the run that made a proposal does not post the comment any more.
const unattended = 10 * time.Minute

// outstanding reports whether the proposals of a record need a scheduled run: one is too old, or the
// comment with the proposals does not show it.
func outstanding(r memory.Record, now time.Time) bool {
	return slices.ContainsFunc(r.Pending(), func(p memory.Proposal) bool {
		return !p.Expires.After(now) || r.Unshown(p) && now.Sub(p.At) > unattended
	})
}
