package runner

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/runner/effect"
	"github.com/org/foreman-action/runner/internal/execute"
	"github.com/org/foreman-action/runner/internal/history"
	"github.com/org/foreman-action/runner/internal/plan"
	"github.com/org/foreman-action/triage"
)

// A Runner handles events. It is safe for concurrent use if the parts in its Options are.
type Runner struct{ setup }

// New returns a Runner. The error states which option is missing.
func New(o Options) (*Runner, error) {
	switch {
	case !taskID.MatchString(o.Task.ID):
		return nil, fmt.Errorf("runner: Task.ID: want a UUID, got %q", text.Quote(o.Task.ID))
	case o.Task.Scope != "" && !effect.ValidKey(o.Task.Scope):
		return nil, fmt.Errorf("runner: Task.Scope: want letters, digits, '.', '_' and '-', got %q", text.Quote(o.Task.Scope))
	case o.Task.Nonce != "" && !effect.ValidKey(o.Task.Nonce):
		return nil, errors.New("runner: Task.Nonce: want letters and digits")
	}
	return &Runner{newSetup(o)}, nil
}

var taskID = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// Run handles one event, from the decision to the record in the memory. An error means that there
// is no decision, or that an action failed; the report is complete also then. It is not an error if
// there is nothing to do, the decision is to escalate, an action is refused or skipped, or the
// issue no longer exists.
func (r *Runner) Run(ctx context.Context, d triage.Delivery) (Report, error) {
	return run(ctx, r.setup, d, nil)
}

// Apply is like [Runner.Run], but for an event on which an agent has already decided: the agent got
// the result of [Task]. m is its decision, nil if no agent was asked. Options.Agent.Name is the
// agent's name; the agent is not asked again. The rules are evaluated first, as in Run.
//
// The decision may be old, so the issue is read again. A decision for another task, or one with too
// many actions, is an error. Then none of its actions is carried out.
func (r *Runner) Apply(ctx context.Context, d triage.Delivery, m *protocol.DecisionMessage) (Report, error) {
	given := &given{message: m}
	if d.Happened() && d.Issue != nil {
		given.since, given.decided = d.Issue.UpdatedAt, d.Issue.UpdatedAt
	}
	if given.since.IsZero() {
		// UpdatedAt of the current issue is not the time at which the task began.
		given.since = r.o.Clock.Now().Add(-rerunWindow)
	}
	return run(ctx, r.setup, d, given)
}

// Comment creates or updates the program's comment with that key, on the issue that the event
// contains. The policy's limits apply. The body is trusted like a rule's text, so the caller must
// neutralize quoted values in it.
func (r *Runner) Comment(ctx context.Context, d triage.Delivery, key, body string) (triage.ActionResult, error) {
	item, err := protocol.NewAction(protocol.ActionUpdateComment, map[string]any{"body": body, "key": key})
	if err != nil {
		return triage.ActionResult{}, err
	}
	a := newAttempt(r.setup, d, nil, func(string, ...any) {})
	in := input(a, decided{Decision: plan.Decision{
		Message: protocol.DecisionMessage{TaskID: r.o.Task.ID, Decision: protocol.LabelAndRespond, Actions: []protocol.ActionItem{item}},
		Sources: []triage.Source{{Rule: key}},
	}})
	in.MayComment = true
	p := plan.Make(in)
	if r.o.Host.Issues == nil && !r.dry && p.Writes() {
		return triage.ActionResult{}, fmt.Errorf("carry out the plan: %w", triage.ErrNeedsHost)
	}
	out := carryOut(ctx, a, p, nil)
	return out.Results[0], out.Err
}

// run makes all steps: it completes the event, decides, plans, reviews, writes and records.
func run(ctx context.Context, s setup, d triage.Delivery, g *given) (Report, error) {
	rep := newReport(s, d)
	if why := d.SkipReason(s.o.Host.Login); why != "" {
		rep.skip(why)
		return rep, nil
	}
	d, err := complete(ctx, s, d, g)
	switch {
	case errors.Is(err, triage.ErrGone) && d.Happened():
		rep.skip(triage.ErrGone.Error())
		return rep, nil
	case err != nil: // for example, a person requested a run for an issue that does not exist
		rep.fail(err)
		return rep, err
	}
	rep.IssueURL, rep.Title = d.Issue.URL, d.Issue.Title
	if why := d.SkipReason(s.o.Host.Login); why != "" {
		rep.skip(why)
		return rep, nil
	}
	a := newAttempt(s, d, g, rep.warnf)
	rec := recorder{attempt: a}
	kept := rec.resume(ctx)
	var dec decided
	if kept != nil {
		dec = rec.recalled(*kept)
	} else if dec, err = (decider{a}).decide(ctx); err != nil {
		rep.setDecision(dec)
		rep.fail(err)
		return rep, err
	}
	rep.setDecision(dec)
	_, err = act(ctx, rec, &rep, dec, kept)
	return rep, err
}

// complete returns the event with its issue. It fetches the issue if the event contains only the
// number. If the decision was made earlier, it fetches the issue again, unless the decision writes
// nothing and there are no rules.
func complete(ctx context.Context, s setup, d triage.Delivery, g *given) (triage.Delivery, error) {
	switch {
	case d.Issue == nil && d.Name == triage.EventSchedule:
		return d, errors.New("a scheduled run has no issue: use Sweep")
	case d.Issue == nil && s.o.Host.Issues == nil:
		return d, fmt.Errorf("fetch issue %s: %w", d.Ref(), triage.ErrNeedsHost)
	case d.Issue == nil:
		return fetch(ctx, s, d)
	case g == nil || s.o.Host.Issues == nil || d.Pull != nil:
		return d, nil
	case g.message != nil && !g.message.Decision.Writes() && s.c.Rules.Len() == 0:
		return d, nil
	}
	return fetch(ctx, s, d)
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

// act plans, records, reviews and carries out a decision. kept is the journal of an earlier
// attempt, or nil.
func act(ctx context.Context, a recorder, rep *Report, dec decided, kept *memory.Ledger) (execute.Outcome, error) {
	p := plan.Make(input(a.attempt, dec))
	if kept != nil {
		p = p.Resume(kept.Entries, a.c.Rules.IDs())
	}
	if a.o.Host.Issues == nil && !a.dry && p.Writes() {
		err := fmt.Errorf("carry out the plan: %w", triage.ErrNeedsHost)
		rep.fail(err)
		return execute.Outcome{}, err
	}
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
	out := carryOut(ctx, a.attempt, p, j)
	rep.setOutcome(out)
	if errors.Is(out.Err, triage.ErrHalted) && out.Executed() == 0 {
		return out, out.Err // nothing was done, and another attempt may have recorded more
	}
	err = a.remember(ctx, rep, dec, out)
	scorer{a.attempt}.score(ctx, rep, dec.At)
	if out.Err != nil {
		err = out.Err
	}
	return out, err
}

// newAudit returns the audit record of a decision.
func newAudit(now time.Time, rep Report, p plan.Plan) Audit {
	a := Audit{
		Time: now.UTC().Truncate(time.Millisecond), TaskID: rep.TaskID, Repo: rep.Repo, Issue: rep.Issue,
		Event: rep.Event, Decision: rep.Decision, Rationale: rep.Rationale, By: rep.By, DryRun: rep.DryRun,
	}
	for _, s := range p.Steps {
		a.Actions = append(a.Actions, s.ActionResult)
	}
	return a
}

// input returns the data for the plan of a decision.
func input(a attempt, dec decided) plan.Input {
	in := plan.Input{
		Decision: dec.Decision, Issue: *a.d.Issue, Policy: a.c.Policy,
		MayComment: dec.Retriaged || mayComment(a), AgentMayComment: a.o.Agent.AnswersAll,
		CommentID: a.d.Comment.ID,
	}
	if a.dry {
		return in
	}
	switch m := a.o.Memory; {
	case m.Store == nil || m.Discards:
		in.NoNotes = "no memory is configured to record it: set memory.store (input memory)"
	case m.ReadOnly:
		in.NoNotes = "the memory is read-only on this event: see memory.store (input memory)"
	case m.Unscheduled:
		in.NoSchedule = "no scheduled run would carry it out when it is due"
	case m.Agenda == nil:
		in.NoSchedule = "later runs cannot read this memory: memory.store (input memory) must be artifact or file"
	}
	return in
}

// mayComment reports whether a comment may answer the event. Edits, label events and comments are
// answered only if a rule names the event.
func mayComment(a attempt) bool {
	quiet := a.d.Name == triage.EventIssueComment
	switch a.d.Action {
	case "edited", "labeled", "unlabeled", "synchronize":
		quiet = quiet || a.d.Happened()
	}
	return !quiet || a.c.Rules.Names(a.d.RuleName(), a.d.Action)
}

// carryOut reads the data for the review of a plan, reviews it and carries it out.
func carryOut(ctx context.Context, a attempt, p plan.Plan, j *execute.Journal) execute.Outcome {
	identity := history.Identity{
		Ref: a.d.Ref(), Task: a.o.Task.ID, Scope: a.o.Task.Scope, Nonce: a.o.Task.Nonce, Login: a.o.Host.Login,
		Earlier: a.o.Task.Earlier,
	}
	reviewed, seen, err := review(ctx, a, p, identity, j)
	for _, text := range reviewed.Warnings {
		a.warn("%s", text)
	}
	if err != nil {
		return execute.Abort(p, reviewed, err)
	}
	issue := *a.d.Issue
	if seen.Issue != nil {
		issue = *seen.Issue
	}
	return execute.Run(ctx, p, reviewed, execute.Target{
		Host: a.o.Host.Issues, Identity: identity, Issue: issue, Since: a.reads.since, DryRun: a.dry, Comments: seen.Comments, Sticky: a.reads.sticky,
		Journal: j, Guard: a.o.Host.Guard, Sleep: a.o.Clock.Sleep, Log: a.o.Log, Warn: a.warn,
	})
}

// review reads the data for the final verdicts, and returns the reviewed plan. Writes that an
// earlier attempt began, as the journal has it, are looked up until they can no longer take effect.
func review(ctx context.Context, a attempt, p plan.Plan, identity history.Identity, j *execute.Journal) (plan.Plan, plan.Snapshot, error) {
	var seen plan.Snapshot
	if a.o.Host.Issues == nil {
		return p, seen, nil // a dry run without a host, which cannot read anything
	}
	at := plan.Attempt{
		Identity: identity, Now: a.o.Clock.Now(), Resumed: a.reads.resumed, Fresh: a.reads.fresh(),
		Read:       a.d.Name == triage.EventSchedule && !a.first,
		Remembers:  a.o.Memory.Store != nil && !a.o.Memory.Discards,
		UsesMemory: !a.o.Memory.Implicit || a.forbidsLabels() || a.reads.record != nil,
	}
	if c := a.d.Comment; a.d.Name == triage.EventIssueComment && a.d.Action == "created" {
		at.Said = triage.TimelineEvent{
			ID: c.ID, Kind: "commented", At: c.CreatedAt, Actor: c.Author, ActorType: a.d.Sender.Type, Association: c.Association,
		}
	}
	if !a.dry {
		at.Began = j.Began
	}
	seen.Labels = a.reads.labels.known
	looks := &execute.Looks{Rest: a.settled.Sub(a.o.Clock.Now())}
	for {
		need := plan.Needs(p, at, seen)
		if need.Nothing() {
			return plan.Review(p, at, seen), seen, nil
		}
		if need.Settled {
			if err := settle(ctx, a, looks, j); err != nil {
				return plan.Review(p, at, seen), seen, err
			}
			seen.Issue, seen.Comments = nil, nil
			continue
		}
		if seen.Issue == nil {
			seen.Settled = looks.Rest <= 0
		}
		if err := a.reads.need(ctx, need, &seen); err != nil {
			return plan.Review(p, at, seen), seen, err
		}
	}
}

// settle waits before the next look-up of the writes that an earlier attempt may have begun. Without
// a journal it is unlikely that there are any, so there is only one more look-up.
func settle(ctx context.Context, a attempt, looks *execute.Looks, j *execute.Journal) error {
	pause := looks.Next()
	if j == nil {
		pause, looks.Rest = pause+looks.Rest, 0
	}
	a.o.Log("an earlier attempt may have begun to write; looking again in %s", pause.Round(time.Millisecond))
	if err := a.o.Clock.Sleep(ctx, pause); err != nil {
		return fmt.Errorf("%w: %w", triage.ErrHalted, err)
	}
	return nil
}
