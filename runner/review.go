package runner

import (
	"context"
	"fmt"
	"time"

	"github.com/org/foreman-action/runner/internal/execute"
	"github.com/org/foreman-action/runner/internal/history"
	"github.com/org/foreman-action/runner/internal/plan"
	"github.com/org/foreman-action/triage"
)

// A reviewed plan has the data that was read for its final verdicts.
type reviewed struct {
	made, plan plan.Plan // before and after the review
	identity   history.Identity
	seen       plan.Snapshot
	err        error // of reading; then the verdicts are not final
}

// carryOut carries out a reviewed plan.
func carryOut(ctx context.Context, a attempt, r reviewed, j *execute.Journal) execute.Outcome {
	for _, text := range r.plan.Warnings {
		a.warn("%s", text)
	}
	if r.err != nil {
		return execute.Abort(r.made, r.plan, r.err)
	}
	issue := *a.d.Issue
	if r.seen.Issue != nil {
		issue = *r.seen.Issue
	}
	return execute.Run(ctx, r.made, r.plan, execute.Target{
		Host: writerOf(a), Identity: r.identity, Issue: issue, Since: a.reads.since, DryRun: a.dry, Comments: r.seen.Comments, Sticky: a.sticky,
		Posted:  func(login string) { a.posted.Store(&login); a.reads.login = login },
		Journal: j, Guard: a.o.Host.Guard, LabelIDs: a.reads.labels.IDs, Sleep: a.o.Clock.Sleep, Log: a.o.Log, Warn: a.warn,
	})
}

// review reads the data for the final verdicts, and reviews the plan. Writes that an earlier attempt
// began, as the journal has it, are looked up until they can no longer take effect.
func review(ctx context.Context, a attempt, p plan.Plan, j *execute.Journal) reviewed {
	r := reviewed{made: p, plan: p, identity: a.identity()}
	if a.o.Host.Issues == nil {
		return r // a dry run without a host, which cannot read anything
	}
	at := a.planned()
	if !a.dry {
		at.Began, at.Recreated = j.Began, j.Recreated
	}
	r.seen = a.reads.seen
	r.seen.Labels, r.seen.Assumed, r.seen.Settled = a.reads.labels.Known, a.reads.labels.Assumed, r.seen.Issue != nil && !a.settled.After(a.d.Fetched)
	looks := &execute.Looks{Rest: a.settled.Sub(a.o.Clock.Now())}
	for r.err == nil {
		need := plan.Needs(p, at, r.seen)
		if need.Nothing() {
			break
		}
		if need.Settled {
			r.err = settle(ctx, a, looks, j)
			r.seen.Issue, r.seen.Comments = nil, nil
			continue
		}
		if r.seen.Issue == nil {
			r.seen.Settled = looks.Rest <= 0
		}
		r.err = a.reads.need(ctx, need, &r.seen)
	}
	r.plan = plan.Review(p, at, r.seen)
	return r
}

// settle waits before the next look-up of the writes that an earlier attempt may have begun. Without
// a journal it is unlikely that there are any, so there is only one more look-up.
func settle(ctx context.Context, a attempt, looks *execute.Looks, j *execute.Journal) error {
	pause := looks.Next()
	if j == nil {
		pause, looks.Rest = pause+looks.Rest, 0
	}
	a.o.Log.InfoContext(ctx, "an earlier attempt may have begun to write; looking again", "in", pause.Round(time.Millisecond))
	if err := a.o.Clock.Sleep(ctx, pause); err != nil {
		return fmt.Errorf("%w: %w", triage.ErrHalted, err)
	}
	return nil
}
