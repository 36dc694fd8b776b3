package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/runner/internal/execute"
	"github.com/org/foreman-action/runner/internal/plan"
	"github.com/org/foreman-action/runner/internal/proposal"
	"github.com/org/foreman-action/triage"
)

// A Runner handles events. It is safe for concurrent use if the parts in its Options are.
type Runner struct{ setup }

// New returns a Runner. The error names the option that is missing. Without a host, it matches
// [triage.ErrNeedsHost].
func New(o Options) (*Runner, error) {
	s := newSetup(o)
	switch {
	case o.Host.Issues == nil && !s.dry:
		return nil, fmt.Errorf("runner: Options.Host.Issues is nil, and Options.DryRun is false: %w", triage.ErrNeedsHost)
	case o.Supplied != nil && !o.DryRun:
		return nil, errors.New("runner: Options.Supplied is set, and Options.DryRun is false")
	case o.Host.Issues != nil && o.Host.Repository == nil:
		return nil, errors.New("runner: Options.Host.Repository is nil, and Options.Host.Issues is not")
	}
	if err := checkActions(o.Actions); err != nil {
		return nil, err
	}
	return &Runner{s}, nil
}

// forCall returns the setup for one task. It derives the id that a dry run may leave out.
func (s setup) forCall(id TaskIdentity, d triage.Delivery) (setup, error) {
	if id.ID == "" && s.dry {
		id.ID, id.First = protocol.DeriveTaskID("dry run", d.FullRepo(), strconv.Itoa(d.Number), d.Key(), strconv.FormatInt(d.Comment.ID, 10), d.Time().UTC().Format(time.RFC3339)), true
	}
	s.id, s.settled = id, s.o.Clock.Now().Add(execute.Settle)
	return s, id.Check()
}

// Run handles one event, from the decision to the record in the memory. An error means that there
// is no decision, or that a rule or an action failed; the report is complete also then. It is not an error if
// there is nothing to do, the decision is to escalate, an action is refused or skipped, or the
// issue no longer exists.
func (r *Runner) Run(ctx context.Context, id TaskIdentity, d triage.Delivery) (Report, error) {
	return r.run(ctx, id, d, nil)
}

func (r *Runner) run(ctx context.Context, id TaskIdentity, d triage.Delivery, g *given) (Report, error) {
	s, err := r.forCall(id, d)
	if err != nil {
		rep := newReport(s, d)
		rep.fail(err)
		return rep, err
	}
	rep, err := run(ctx, s, d, g)
	rep.warnRefusals()
	return rep, err
}

// Apply is like [Runner.Run], but for an event on which an agent has already decided: the agent got
// the result of [Task]. m is its decision, nil if no agent was asked. Options.Agent.Name is the
// agent's name; the agent is not asked again. The rules are evaluated first, as in Run.
//
// The decision may be old. So the timeline is read, which shows whether the issue is still as in the event,
// or the issue is read again. A decision for another task, or one with too
// many actions, is an error. Then none of its actions is carried out.
func (r *Runner) Apply(ctx context.Context, id TaskIdentity, d triage.Delivery, m *protocol.DecisionMessage) (Report, error) {
	given := &given{message: m}
	if d.Happened() && d.Issue != nil {
		given.since, given.decided = d.Time(), d.Time()
	}
	if given.since.IsZero() {
		// The current issue does not contain the time at which the task began.
		given.since = r.o.Clock.Now().Add(-rerunWindow)
	}
	return r.run(ctx, id, d, given)
}

// Comment creates or updates the program's comment with that key, on the issue that the event
// contains. The policy's limits apply. The body is trusted like a rule's text, so the caller must
// neutralize quoted values in it.
func (r *Runner) Comment(ctx context.Context, id TaskIdentity, d triage.Delivery, key, body string) (triage.ActionResult, error) {
	s, err := r.forCall(id, d)
	if err != nil {
		return triage.ActionResult{}, err
	}
	item, err := protocol.NewAction(protocol.ActionUpdateComment, map[string]any{"body": body, "key": key})
	if err != nil {
		return triage.ActionResult{}, err
	}
	a := newAttempt(s, d, nil, func(string, ...any) {})
	in := input(ctx, a, decided{Decision: plan.Decision{
		Message: protocol.DecisionMessage{TaskID: s.id.ID, Decision: protocol.LabelAndRespond, Actions: []protocol.ActionItem{item}},
		Sources: []triage.Source{{Rule: key}},
	}})
	in.MayComment, in.Direct = true, true
	p := plan.Make(in)
	out := carryOut(ctx, a, review(ctx, a, p, nil), nil)
	return out.Results[0], out.Err
}

// run makes all steps: it completes the event, decides, plans, reviews, writes and records. If the
// issue in the event may be outdated, it decides twice: on that issue, to find out whether there is
// something to do, and then on the current issue.
func run(ctx context.Context, s setup, d triage.Delivery, g *given) (Report, error) {
	rep := newReport(s, d)
	if why := d.SkipReason(s.login()); why != "" {
		rep.skip(why)
		if d.Key() == "issue_comment.deleted" && d.Issue != nil { // perhaps our own comment
			(&recorder{attempt: newAttempt(s, d, g, rep.warnf)}).countAnswers(ctx, &rep, proposal.Answers{})
		}
		return rep, nil
	}
	ticks, why := s.editOf(d)
	if why != "" {
		rep.skip(why)
		return rep, nil
	}
	now, err := complete(ctx, s, d, g)
	d = now.event
	switch {
	case errors.Is(err, triage.ErrGone) && d.Happened():
		rep.skip(triage.ErrGone.Error())
		return rep, nil
	case err != nil: // for example, a person requested a run for an issue that does not exist
		rep.fail(err)
		return rep, err
	}
	rep.IssueURL, rep.Title = d.Issue.URL, d.Issue.Title
	if why := d.SkipReason(s.login()); why != "" {
		rep.skip(why)
		return rep, nil
	}
	a := newAttempt(s, d, g, rep.warnf)
	a.reads.found(now)
	rec := recorder{attempt: a}
	kept := rec.resume(ctx)
	var dec decided
	switch {
	case kept != nil:
		dec = rec.recalled(*kept)
	case len(ticks) > 0:
		if stale := a.outdated(); stale != "" {
			if d, err = refetch(ctx, s, d); err != nil {
				err = rep.notReadAgain(stale, err)
				return rep, err
			}
			rep.ReadAgain, rec.attempt = stale, newAttempt(s, d, g, rep.warnf)
			a = rec.attempt
		}
		if dec, why, err = (decider{a}).tick(ctx, ticks); why != "" {
			rep.skip(why)
			return rep, nil
		}
	default:
		dec, err = decider{a}.decide(ctx)
		if why := a.readsAgain(dec, err); why != "" {
			if rec.attempt, err = again(ctx, a, dec); err != nil {
				err = rep.notReadAgain(why, err)
				return rep, err
			}
			rep.ReadAgain, rep.IssueURL, rep.Title = why, rec.d.Issue.URL, rec.d.Issue.Title
			dec, err = decider{rec.attempt}.decide(ctx)
		}
	}
	rep.setDecision(dec)
	if err != nil {
		rep.fail(err)
		return rep, err
	}
	_, err = act(ctx, rec, &rep, dec, kept)
	return rep, err
}

// complete returns the event with its issue. It fetches the issue if the event contains only the
// number. If the decision was made earlier, it finds out whether the issue is still as in the event,
// unless the decision writes nothing and there are no rules.
func complete(ctx context.Context, s setup, d triage.Delivery, g *given) (current, error) {
	switch {
	case d.Issue == nil && d.Name == triage.EventSchedule:
		return current{event: d}, errors.New("a scheduled run has no issue: use Sweep")
	case d.Issue == nil && s.o.Host.Issues == nil:
		return current{event: d}, fmt.Errorf("fetch issue %s: %w", d.Ref(), triage.ErrNeedsHost)
	case d.Issue == nil:
		d, err := fetch(ctx, s, d)
		return current{event: d}, err
	case g == nil || s.o.Host.Issues == nil || d.Pull != nil:
		return current{event: d}, nil
	case g.message != nil && !g.message.Decision.Writes() && s.c.Rules.Len() == 0:
		return current{event: d}, nil
	}
	return confirm(ctx, s, d, *g)
}

// confirm returns the event of a given decision with the issue as it is now. An agent's decision needs
// the timeline anyway, which shows whether the issue in the event is still current. Only if it is not,
// or if the text of an issue matters that may have been edited, the issue is read, too.
func confirm(ctx context.Context, s setup, d triage.Delivery, g given) (current, error) {
	c := current{event: d}
	if byTimeline(s, d, g) {
		now := s.o.Clock.Now()
		// After an error the issue is read, and the review reads the timeline again and returns its error.
		if t, err := s.o.Host.Issues.Timeline(ctx, d.Ref()); err == nil {
			if c.timeline = &t; unchanged(d, t) {
				c.event.At, c.event.Fetched = d.Time(), now
				return c, nil
			}
		}
	}
	var err error
	if c.event, err = fetch(ctx, s, d); err != nil {
		return c, err
	}
	c.untouched = s.id.First && d.Key() == "issues.opened" && d.Issue != nil && untouched(*d.Issue, *c.event.Issue)
	return c, nil
}

// byTimeline reports whether the timeline of the issue is read instead of the issue. It does not show
// edits of the issue's body. These matter only to rules, for which a text is current for as long as an
// event is not late. An earlier attempt may have changed the issue itself.
func byTimeline(s setup, d triage.Delivery, g given) bool {
	return s.id.First && d.Happened() && d.Issue != nil && d.Fetched.IsZero() && !d.Time().IsZero() &&
		g.message != nil && g.message.Decision.Writes() && len(g.message.Actions) > 0 &&
		(s.c.Rules.Len() == 0 || !d.Late(s.o.Clock.Now()))
}

// fetch returns the event with the current issue.
func fetch(ctx context.Context, s setup, d triage.Delivery) (triage.Delivery, error) {
	d.Fetched = s.o.Clock.Now()
	issue, err := s.o.Host.Issues.Issue(ctx, d.Ref())
	if err != nil {
		return d, err
	}
	return d.WithIssue(issue), nil
}

// readsAgain returns why the issue must be read again; empty: it need not be read again. It is called
// after the decision on the issue in the event, or after the error of that decision. An agent is asked
// only once. A decision without actions does nothing, so it needs no newer issue.
func (a attempt) readsAgain(dec decided, err error) string {
	if errors.Is(err, errOutdated) || err == nil && !a.reads.asked && len(dec.Message.Actions) > 0 {
		return a.outdated()
	}
	return ""
}

// again returns the attempt on the current issue, which it reads. dec is the decision on the issue
// in the event.
func again(ctx context.Context, a attempt, dec decided) (attempt, error) {
	d := a.d
	d.At = d.Time()
	d, err := refetch(ctx, a.setup, d)
	if err != nil {
		return a, err
	}
	current := *d.Issue
	if a.reads.resumed {
		issue, err := a.beforeAttempt(ctx, current, dec.Decision, plan.Make(input(ctx, a, dec)), dec.Asks)
		if err != nil {
			return a, err
		}
		d.Issue = &issue
	}
	s := a.setup
	s.read = a.reads
	b := newAttempt(s, d, nil, a.warn)
	b.reads.seen.Issue = &current
	b.reads.changed = current.UpdatedAt.After(a.d.Time())
	if dec.Rules != nil && !dec.Retriaged {
		for _, t := range dec.Rules.Trace {
			if t.Outcome == rules.False {
				b.falseBefore = append(b.falseBefore, t.ID)
			}
		}
	}
	return b, nil
}

// refetch returns an event with the current issue or pull request.
func refetch(ctx context.Context, s setup, d triage.Delivery) (triage.Delivery, error) {
	if d.Pull == nil {
		return fetch(ctx, s, d)
	}
	now := s.o.Clock.Now()
	p, err := s.o.Host.Repository.Pull(ctx, d.Ref())
	switch {
	case errors.Is(err, triage.ErrNotFound):
		return d, fmt.Errorf("%w: %w", triage.ErrGone, err)
	case err != nil:
		return d, err
	case p.Shared.Number == 0: // a host that reports only the fields of pull requests
		d.Pull = &p
		return fetch(ctx, s, d)
	}
	d.Fetched = now
	return d.WithPull(p), nil
}

// act plans, records, reviews and carries out a decision. kept is the journal of an earlier
// attempt, or nil.
func act(ctx context.Context, a recorder, rep *Report, dec decided, kept *memory.Ledger) (execute.Outcome, error) {
	p := plan.Make(input(ctx, a.attempt, dec))
	if kept != nil {
		p = p.Resume(kept.Entries, a.c.Rules.IDs())
		p.InOrder = !kept.LocksLast
	}
	withRationales(ctx, a.attempt, dec, &p)
	if a.o.Audit != nil {
		if err := a.o.Audit(newAudit(a.o.Clock.Now(), *rep, p)); err != nil {
			err = fmt.Errorf("record the decision: %w", err)
			rep.fail(err)
			return execute.Outcome{}, err
		}
	}
	j, err := a.journal(ctx, dec, p, kept)
	if err != nil {
		rep.fail(err)
		return execute.Outcome{}, err
	}
	r := review(ctx, a.attempt, p, j)
	if kept == nil {
		r = a.recheck(ctx, rep, &dec, r)
	}
	r = withPanel(ctx, a.attempt, dec, publisher{a.attempt}.within(r))
	out := carryOut(ctx, a.attempt, r, j)
	rep.setOutcome(out, dec.Failed)
	if errors.Is(out.Err, triage.ErrHalted) && out.Executed() == 0 {
		return out, out.Err // nothing was done, and another attempt may have recorded more
	}
	err = a.remember(ctx, rep, dec, out, r.plan)
	a.rememberPlanned(ctx, rep, dec.At)
	a.countAnswers(ctx, rep, dec.Answers)
	if out.Err != nil {
		err = out.Err
	}
	if dec.Failed != nil {
		err = errors.Join(err, dec.Failed)
	}
	return out, err
}

// recheck reads the issue again if the data for the review shows that it changed after the event.
// The decision is recorded already, so actions can only be skipped: those of rules that do not fire
// on the current issue. An agent's actions stay. Rules that fail on the current issue are added to
// the failed rules of the decision.
func (a *recorder) recheck(ctx context.Context, rep *Report, dec *decided, r reviewed) reviewed {
	why := a.outdated()
	if why == "" || r.err != nil || !r.plan.Writes() {
		return r
	}
	b, err := again(ctx, a.attempt, *dec)
	if err != nil {
		r.err = err
		return r
	}
	b.given = &given{} // the rules decide again, and the agent was not asked
	now, err := decider{b}.decide(ctx)
	if err != nil {
		r.err = err
		return r
	}
	dec.fail(now.Failed)
	rep.ReadAgain = why
	r.plan.Steps = slices.Clone(r.plan.Steps)
	for i := range r.plan.Steps {
		s := &r.plan.Steps[i]
		same := func(from triage.Source) bool { return from.ID() == s.Source.ID() }
		if (s.Verdict == triage.Do || s.Verdict == triage.Suggest) && s.Accepted == nil && !s.Landed && !s.Source.IsAgent() && !slices.ContainsFunc(now.Sources, same) {
			s.Verdict, s.Reason = triage.Skip, "the issue changed after the event, and the rule does not act on it now"
		}
	}
	return r
}
