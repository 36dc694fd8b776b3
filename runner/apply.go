package runner

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/org/foreman-action/internal/wait"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/policy"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/triage"
)

// A Result says what became of an action.
type Result string

// The results.
const (
	ResultDone    Result = "done"    // carried out, now or by an earlier attempt
	ResultPlanned Result = "planned" // a dry run would have carried it out
	ResultNone    Result = "none"    // its verdict was not to do it
	ResultFailed  Result = "failed"  // tried, and failed
	ResultNotRun  Result = "not_run" // never tried, because something before it failed
)

// A Target is where and how a plan is applied.
type Target struct {
	Host Host // nil: a dry run that looks nothing up
	Ref  triage.Ref
	// Task is the id of the task: the comments of one task are counted, and each number
	// is posted once.
	Task string
	// Scope tells two executors of the same task apart, such as two steps of one
	// workflow job; letters, digits, '.', '_' and '-'.
	Scope string
	// Nonce is a secret of this run, letters and digits, fresh for each: by it a comment
	// of unknown outcome is recognised whoever the token turns out to post as. Empty:
	// only comments of Bot are recognised.
	Nonce string
	Bot   string // login that our comments appear under; empty: nobody's are known to be ours
	// Since is a time before which none of this task's writes can lie; the zero time
	// when it is not known.
	Since time.Time
	// Resumed says that an earlier attempt at the task may have written already.
	Resumed bool
	// Comment is the id of the comment that holds commands; 0: there is none.
	Comment int64
	// Fresh says that nothing can have been done on the issue before: its timeline is
	// not worth a call. Of a resumed task it is not believed.
	Fresh bool
	// DryRun looks up, but writes nothing.
	DryRun bool
	// Timeline returns what happened on the issue; nil: the host's. It is asked at most
	// once, and only when people may have a say in a step.
	Timeline func(context.Context) (triage.Timeline, error)
	// Record returns what was remembered of the issue; nil: nothing was. It is asked only
	// when an issue is to be closed that people reopened.
	Record func(context.Context) memory.Record
	// Never reports whether a label is never to be added to the issue again; nil: none is.
	Never func(ctx context.Context, label string) bool

	// Guard is as in Options.
	Guard func(context.Context) error

	Now   func() time.Time                           // nil: time.Now
	Sleep func(context.Context, time.Duration) error // nil: real
	Log   func(format string, args ...any)           // progress, one line each; nil discards
	Warn  func(format string, args ...any)           // nil discards

	journal *journal          // nil: none is kept
	labels  map[string]string // that were looked up before; nil: none
}

// An Outcome is what became of a plan.
type Outcome struct {
	Results []StepResult // one for each step
	Err     error        // the first failure; nil when everything went as planned
	Gone    bool         // the issue was deleted or transferred meanwhile
}

// A StepResult is what became of one step.
type StepResult struct {
	Result Result
	Reason string // why it was not done, or what was odd; may be empty
	URL    string // where it can be seen; may be empty
	// Values are the names that were written: labels, logins, a reason, a title. Never
	// a comment's text.
	Values []string

	wait bool // it was passed over only for now
}

// Executed counts the actions that were carried out.
func (o Outcome) Executed() int {
	n := 0
	for _, r := range o.Results {
		if r.Result == ResultDone {
			n++
		}
	}
	return n
}

// ApplyPlan carries out a plan, one write at a time, in order. Before the first write
// labels are looked up, and steps passed over that would undo what people did or be too
// much for one issue. The first failure ends it; what was done stays. A write whose
// outcome is unknown is looked up before it is tried again.
func ApplyPlan(ctx context.Context, plan Plan, t Target) Outcome {
	x := newExecution(plan, t)
	if t.Host == nil && !t.DryRun && plan.writes() {
		return x.abort(fmt.Errorf("carry out the plan: %w", triage.ErrNeedsHost))
	}
	if t.Host != nil && plan.writes() {
		if err := x.prepare(ctx); err != nil {
			return x.abort(err)
		}
	}
	return x.run(ctx)
}

// An execution is one application of one plan.
type execution struct {
	Target
	issue    triage.Issue
	policy   policy.Policy
	steps    []Step
	urls     map[int]string   // by index of the step
	comments []triage.Comment // those that may be this task's; nil: not read, or old
	tooMany  error            // why nobody can tell whether a comment is there; nil: they can be read
	out      Outcome
}

func newExecution(plan Plan, t Target) *execution {
	x := &execution{Target: t, issue: plan.issue, policy: plan.policy, urls: map[int]string{}}
	x.steps = append(x.steps, plan.Steps...)
	x.out.Results = make([]StepResult, len(x.steps))
	for i, s := range x.steps {
		x.out.Results[i] = StepResult{Result: ResultNone, Reason: s.Reason}
		if s.Verdict == triage.Do {
			x.out.Results[i].Result = ResultNotRun
		}
	}
	return x
}

func (x *execution) log(format string, args ...any) {
	if x.Log != nil {
		x.Log(format, args...)
	}
}

func (x *execution) warn(format string, args ...any) {
	if x.Warn != nil {
		x.Warn(format, args...)
	}
}

// run carries out the steps.
func (x *execution) run(ctx context.Context) Outcome {
	for i := range x.steps {
		s := &x.steps[i]
		r := &x.out.Results[i]
		r.Reason = s.Reason
		switch {
		case s.unknown:
			r.Result = ResultFailed
			x.out.Err = &triage.UnknownActionError{Type: s.Action.Type, Index: s.Index}
			x.settle(ctx, s, *r)
			return x.out
		case s.Verdict != triage.Do:
			r.Result, r.wait = ResultNone, s.wait
		case x.DryRun:
			r.Result = ResultPlanned
		default:
			err := x.step(ctx, s)
			switch {
			case errors.Is(err, errNothing):
				r.Result, r.Reason = ResultNone, s.Reason
			case errors.Is(err, triage.ErrNotFound), errors.Is(err, triage.ErrTruncated) && s.Action.Type != protocol.ActionComment:
				r.Result, r.Reason = ResultNone, err.Error()
			case err != nil:
				return x.fail(ctx, i, err)
			default:
				*r = StepResult{Result: ResultDone, Reason: s.Reason, URL: x.urls[s.Index], Values: s.values()}
			}
		}
		x.settle(ctx, s, *r)
		x.log("%d. %s: %s", s.Index+1, s.Action.Type, describe(*r))
	}
	return x.out
}

func describe(r StepResult) string {
	if r.Reason == "" {
		return string(r.Result)
	}
	return fmt.Sprintf("%s (%s)", r.Result, r.Reason)
}

// fail ends the run at step i. An issue that is gone is no failure.
func (x *execution) fail(ctx context.Context, i int, err error) Outcome {
	r := &x.out.Results[i]
	if errors.Is(err, triage.ErrGone) {
		x.out.Gone = true
		r.Result, r.Reason = ResultNotRun, triage.ErrGone.Error()
		return x.out
	}
	r.Result, r.Reason = ResultFailed, err.Error()
	x.out.Err = err
	if !errors.Is(err, triage.ErrUncertain) && !errors.Is(err, triage.ErrHalted) { // nobody knows, or nothing was tried
		x.settle(ctx, &x.steps[i], *r)
	}
	return x.out
}

// didBefore is why nothing is written for a step that is done.
const didBefore = "an earlier attempt did it"

// abort ends the run before the first write of its own.
func (x *execution) abort(err error) Outcome {
	for i := range x.steps {
		if s := &x.steps[i]; s.Verdict == triage.Do && s.landed {
			x.out.Results[i] = StepResult{Result: ResultDone, Reason: didBefore, URL: x.urls[s.Index], Values: s.values()}
		}
	}
	if errors.Is(err, triage.ErrGone) {
		x.out.Gone = true
		return x.out
	}
	x.out.Err = err
	return x.out
}

// errNothing is what a write returns that the service took and did nothing about.
var errNothing = errors.New("nothing was changed")

// maxTries bounds how often a write of unknown outcome is tried.
const maxTries = 3

// step makes one write, and makes sure of it.
func (x *execution) step(ctx context.Context, s *Step) error {
	if done, err := x.before(ctx, s); done || err != nil {
		return err
	}
	for try := 1; ; try++ {
		if err := x.guard(ctx); err != nil {
			return err
		}
		if try == 1 {
			x.journal.mark(ctx, s, memory.StateTrying, StepResult{})
		}
		err := x.write(ctx, s)
		if !errors.Is(err, triage.ErrUncertain) {
			return err
		}
		x.log("%d. %s: %v; looking whether it was carried out", s.Index+1, s.Action.Type, err)
		if werr := x.sleep(ctx, time.Second<<(try-1)); werr != nil {
			return errors.Join(err, werr)
		}
		done, rerr := x.landed(ctx, s)
		switch {
		case rerr != nil:
			return fmt.Errorf("%w; and it could not be looked up: %w", err, rerr)
		case done:
			return nil
		case try == maxTries:
			return fmt.Errorf("gave up after %d tries: %w", maxTries, err)
		}
	}
}

// guard asks whether a write may happen now.
func (x *execution) guard(ctx context.Context) error {
	err := ctx.Err()
	if err == nil && x.Guard != nil {
		err = x.Guard(ctx)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", triage.ErrHalted, err)
	}
	return nil
}

// before reports whether an earlier attempt carried the step out.
func (x *execution) before(ctx context.Context, s *Step) (bool, error) {
	done := s.landed
	if !done && s.isComment() && x.Resumed {
		var err error
		if done, err = x.done(ctx, s); err != nil {
			return false, err
		}
	}
	if done {
		s.Reason = didBefore
	}
	return done, nil
}

// grace is how long a write under way may go on when the run is asked to stop: less
// than the time that the Actions runner gives.
const grace = 5 * time.Second

// write makes the call of a step. A run that is asked to stop lets it finish, for a
// write that is cut off leaves its outcome open.
func (x *execution) write(ctx context.Context, s *Step) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%w: %w", triage.ErrHalted, err)
	}
	calm, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() {
		if x.sleep(calm, grace) == nil {
			cancel()
		}
	})()
	return s.kind.write(calm, x, s)
}

// landed reads back whether a write took effect.
func (x *execution) landed(ctx context.Context, s *Step) (bool, error) {
	if s.isComment() {
		return x.done(ctx, s)
	}
	if s.kind.landed == nil {
		return false, nil
	}
	raw, err := x.Host.Issue(ctx, x.Ref)
	if err != nil {
		return false, err
	}
	issue, err := triage.ParseIssue(raw)
	if err != nil {
		return false, err
	}
	return s.kind.landed(issueState(issue.Issue), s), nil
}

func (x *execution) now() time.Time {
	if x.Now == nil {
		return time.Now()
	}
	return x.Now()
}

func (x *execution) sleep(ctx context.Context, d time.Duration) error {
	if x.Sleep != nil {
		return x.Sleep(ctx, d)
	}
	return wait.For(ctx, d)
}
