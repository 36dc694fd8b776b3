package executor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/harness/observe"
	"github.com/org/foreman-action/internal/github/rest"
	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/internal/server/decision"
	"github.com/org/foreman-action/internal/server/outcomes"
	"github.com/org/foreman-action/internal/server/supervisor"
	"github.com/org/foreman-action/internal/wait"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/runner/effect"
	"github.com/org/foreman-action/triage"
)

const (
	maxAttempt  = 15 * time.Minute // for one attempt
	maxRateWait = 20 * time.Second // for a write's turn; if it takes longer, the decision is released
	maxLate     = time.Second      // after the slot's time; a later write takes a new slot
)

// errStopping is the cause of all that ends early because the server stops.
var errStopping = errors.New("the server is being stopped")

// An attempt is one try to carry a leased decision out. Its methods are in the order in which they
// run.
type attempt struct {
	e        *Executor
	dec      queue.Decision
	begun    time.Time // before the lease began
	lease    *lease
	progress *progress
	stopping <-chan struct{} // closed when no more writes may begin
	writing  sync.Mutex      // held by the write that waits for its slot
	endSpan  func(error)     // ends the span of the attempt, if it was begun

	// The fields below are set by parse.
	id      runner.TaskIdentity
	event   triage.Delivery
	message *protocol.DecisionMessage // nil: decided without an agent
	tidies  bool                      // there is no event: the proposals of the issue are brought up to date
	trace   string
}

func newAttempt(e *Executor, dec queue.Decision, begun time.Time, stopping <-chan struct{}) *attempt {
	l := newLease(e.o, dec.Lease, begun)
	return &attempt{e: e, dec: dec, begun: begun, lease: l, progress: newProgress(e.o, l), stopping: stopping, endSpan: func(error) {}}
}

// run executes the decision while its lease is renewed, and records the result.
func (a *attempt) run(ctx context.Context) {
	leased, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	kept := make(chan struct{})
	go func() {
		defer close(kept)
		a.lease.keep(leased, cancel)
	}()
	rep, err := a.execute(leased)
	a.settle(ctx, rep, err)
	a.endSpan(err)
	cancel(nil)
	<-kept
}

// execute executes the decision. A panic becomes an error of this decision only.
func (a *attempt) execute(ctx context.Context) (rep runner.Report, err error) {
	ctx, end := context.WithTimeoutCause(rest.ForEvent(ctx), maxAttempt, fmt.Errorf("the attempt took longer than %s", maxAttempt))
	defer end()
	rep = runner.Report{Status: runner.StatusFailed}
	defer func() {
		if p := recover(); p != nil {
			err = supervisor.PanicError(p)
			a.e.o.Log.ErrorContext(ctx, "panic while executing a decision", "task", a.dec.ID, "error", err)
		}
		if cause := context.Cause(ctx); err != nil && cause != nil && !errors.Is(err, cause) {
			err = fmt.Errorf("%w: %w", cause, err)
		}
	}()
	if err := a.parse(); err != nil {
		return rep, &permanentError{err}
	}
	ctx, a.endSpan = a.e.o.Span(ctx, a.trace, a.dec.ID)
	set, err := a.settings(ctx)
	if err != nil {
		return rep, err
	}
	if a.sends() || set.Config.Rules.Len() > 0 {
		if wait, ok := a.e.limiter.Ready(set.Identity, maxRateWait); !ok {
			return rep, &rateError{wait}
		}
	}
	return a.apply(ctx, set)
}

// parse parses the decision and its event. An event of another issue than that of the task is an
// error.
func (a *attempt) parse() error {
	dec := a.dec
	task, err := protocol.ParseTask(dec.Message)
	if err != nil {
		return fmt.Errorf("the task cannot be read: %w", err)
	}
	origin, err := queue.ParseOrigin(dec.Origin)
	if err != nil {
		return fmt.Errorf("the origin of the task cannot be read: %w", err)
	}
	if origin.Event == "" { // the queue of the published harness stores only the issue
		origin.Event = triage.EventRepositoryDispatch
	}
	a.trace, a.tidies = origin.Trace, origin.Source == queue.SourceProposals
	a.event, err = triage.ParseEvent(triage.EventSource{Name: origin.Event, Repo: dec.Repo, Issue: dec.Issue, Payload: task.Payload})
	if err != nil {
		return fmt.Errorf("the event of the task cannot be read: %w", err)
	}
	if a.tidies {
		a.event.Number = dec.Issue
	}
	if !strings.EqualFold(a.event.FullRepo(), dec.Repo) || a.event.Number != dec.Issue {
		return fmt.Errorf("the event is about %s, the task about %s#%d", a.event.Ref(), dec.Repo, dec.Issue)
	}
	a.id = identity(dec)
	if dec.Result != nil {
		m, err := decision.Parse(dec.Result)
		if err != nil {
			return fmt.Errorf("the decision cannot be read: %w", err)
		}
		if m.TaskID == dec.ID { // else it is rejected
			m.TaskID = a.id.ID
		}
		a.message = &m
	}
	return a.id.Check()
}

// identity returns the identity of a decision, by which the journal and the markers in comments
// recognize its writes. The first decision on a task has the task's id. Each later one, after the
// agent was asked again, has an id that is derived from the task's id.
func identity(dec queue.Decision) runner.TaskIdentity {
	id := runner.TaskIdentity{ID: dec.ID, First: dec.Tries == 0 && dec.Leases <= 1}
	for n := range dec.Asks {
		id.Earlier = append(id.Earlier, id.ID)
		id.ID = protocol.DeriveTaskID("asked again", dec.ID, strconv.Itoa(n+1))
	}
	return id
}

// settings returns the settings of the decision's repository.
func (a *attempt) settings(ctx context.Context) (Settings, error) {
	set, err := a.e.o.Settings(ctx, a.dec.Repo, a.dec.Agent)
	switch {
	case errors.Is(err, ErrUnknownRepo):
		return set, &permanentError{err}
	case err != nil:
		err = fmt.Errorf("prepare the decision: %w", err)
	case set.Config == nil || set.Host.Issues == nil && set.Config.Mode != config.ModeShadow:
		return set, errors.New("prepare the decision: the settings are not complete")
	}
	return set, a.judge("settings of "+a.dec.Repo, runner.Report{}, err)
}

// judge returns err, or an *outageError if the attempt failed because of an outage.
func (a *attempt) judge(identity string, rep runner.Report, err error) error {
	if _, paused := errors.AsType[*pausedError](err); paused {
		return err
	}
	return a.e.outages.judge(identity, a.dec.ID, rep, err, a.e.o.Now())
}

// writes reports whether the decision may write at all.
func (a *attempt) writes() bool { return a.message == nil || a.message.Decision.Writes() }

// sends reports whether the decision may send writes to GitHub: never_again only writes to
// the memory.
func (a *attempt) sends() bool {
	return a.message == nil || a.writes() &&
		slices.ContainsFunc(a.message.Actions, func(item protocol.ActionItem) bool {
			spec, _ := protocol.SpecOf(item.Type)
			return !spec.RecordOnly
		})
}

// apply passes the decision to package runner, which plans and writes. Each step that writes passes
// guard, and each request that writes passes admit.
func (a *attempt) apply(ctx context.Context, set Settings) (rep runner.Report, err error) {
	set.Host.Guard = a.guard
	r, err := runner.New(runner.Options{
		Config: set.Config, Host: set.Host,
		// The agent only receives events that its route accepts, so it may answer all of them.
		// policy.comment_interval limits its comments.
		Agent:   runner.AgentOptions{Name: a.dec.Agent, Record: set.AgentName, AnswersAll: true},
		Actions: a.e.o.Actions,
		NoBoxes: set.NoBoxes, AcceptedClose: set.AcceptedClose, Panels: &a.e.panels,
		Memory: a.memory(),
		Log:    slog.New(quiet{a.e.o.Log.With("task", a.dec.ID).Handler()}),
	})
	if err != nil {
		return runner.Report{Status: runner.StatusFailed}, &permanentError{err}
	}
	gated := effect.WithGate(ctx, a.admit(set.Identity))
	if a.tidies {
		rep, err = r.Tidy(gated, a.id, a.event)
		return rep, a.judge(set.Identity, rep, err)
	}
	rep, err = r.Apply(gated, a.id, a.event, a.message)
	if err == nil && rep.Reason == triage.ErrGone.Error() && a.writes() {
		// A run of the action would end here. But the token may have lost its access only for a while,
		// so the decision must be retried.
		rep.Status, err = runner.StatusFailed, triage.ErrGone
	}
	return rep, a.judge(set.Identity, rep, err)
}

// memory returns the memory and the journal of the attempt.
func (a *attempt) memory() runner.Memory {
	m := runner.Memory{Required: true, Unscheduled: true, Agenda: a.e.o.Agenda}
	if a.e.o.Memory != nil {
		m.Store = counted(a.progress, a.dec.Agent, a.e.o.Observe)
	}
	if a.e.o.Journal != nil {
		m.Journal = a.progress
	}
	return m
}

// guard must pass before each step of the decision that writes, scheduled ones included.
func (a *attempt) guard(ctx context.Context) error {
	select {
	case <-a.stopping:
		return errStopping
	default:
	}
	if err := a.e.pauses.check(ctx, a.dec.Agent, a.dec.Repo); err != nil {
		return err
	}
	return a.lease.ensure(ctx)
}

// admit returns a check that must succeed before each request that may change something. It limits
// the rate of an identity's writes, because GitHub limits it, too.
func (a *attempt) admit(identity string) func(context.Context) error {
	return func(ctx context.Context) error {
		a.writing.Lock() // one at a time, as the decision holds but one slot
		defer a.writing.Unlock()
		for {
			if err := a.guard(ctx); err != nil {
				return err
			}
			reserved, wait, ok := a.e.limiter.Reserve(identity, maxRateWait)
			if !ok {
				return &rateError{wait}
			}
			// The journal contains the write before the lease is confirmed. If another process leases the
			// decision after this, it finds the write there, and waits as long as the write may still take
			// effect.
			slot, err := a.progress.permit(ctx, reserved.Request())
			if err != nil {
				reserved.Cancel()
				return err
			}
			if wait, ok = reserved.Settle(ctx, slot); !ok {
				return &rateError{wait}
			}
			turn := a.e.o.Now().Add(wait)
			if wait > 0 {
				if err := a.await(ctx, wait); err != nil {
					return err
				}
				if err := a.e.pauses.check(ctx, a.dec.Agent, a.dec.Repo); err != nil {
					return err
				}
				if err := a.lease.confirm(ctx); err != nil {
					return err
				}
			}
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if a.e.o.Now().Sub(turn) <= maxLate {
				return nil
			}
		}
	}
}

// await waits for a write's time. Meanwhile another decision may use this decision's slot.
func (a *attempt) await(ctx context.Context, d time.Duration) error {
	<-a.e.slots
	a.e.Wake()
	defer func() { a.e.slots <- struct{}{} }()
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-a.stopping:
		return errStopping
	case <-t.C:
		return nil
	}
}

// settle records the result of the attempt in the queue, and then in the log. err is the error of
// the attempt.
func (a *attempt) settle(ctx context.Context, rep runner.Report, err error) {
	o, dec, took := a.e.o, a.dec, a.e.o.Now().Sub(a.begun)
	d := makeRetryDecision(err, dec.Tries, o.MaxTries, o.Random)
	if rep.Reason == "" {
		rep.Reason = d.reason
	}
	report, err := encode(rep)
	if err != nil {
		o.Log.ErrorContext(ctx, "encoding a report failed", "task", dec.ID, "error", err)
	}
	err = supervisor.Commit(ctx, func(ctx context.Context) error {
		if d.status != statusLost {
			if err := a.progress.flush(ctx); errors.Is(err, queue.ErrLost) || errors.Is(err, errNotRenewed) {
				return err
			} else if err != nil {
				o.Log.WarnContext(ctx, "storing the journal of a decision failed; the next attempt looks for its last write", "task", dec.ID, "error", err)
			}
		}
		return a.record(ctx, d, report)
	})
	if errors.Is(err, queue.ErrLost) {
		d.status = statusLost
	}
	if err != nil {
		o.Log.WarnContext(ctx, "recording the outcome of a decision failed; the decision is retried", "task", dec.ID, "status", d.status, "error", err)
	}
	d.log(ctx, o.Log, "status", d.status, "task", dec.ID, "repo", dec.Repo, "issue", dec.Issue,
		"decision", string(rep.Decision), "executed", rep.Executed, "reason", cmp.Or(d.reason, sanitize.Line(firstLine(rep.Reason))), "wait", d.wait, "took", took)
	outcomes.Summary{Repo: dec.Repo, Judged: rep.Judged, Undone: rep.Undone, Changes: rep.Changes}.Report(ctx, o.Log, o.Observe, "issue", dec.Issue)
	seen := observe.Observation{Event: observe.ApplyAttempted, Status: d.status, Agent: dec.Agent, Repo: dec.Repo, N: 1, Took: took}
	o.Observe.Report(seen)
	if err == nil || d.status == statusLost {
		seen.Event, seen.Took = observe.LeaseEnded, max(o.Now().Sub(dec.Completed), 0)
		o.Observe.Report(seen)
	}
	if d.wait > 0 {
		time.AfterFunc(d.wait, a.e.Wake)
	}
}

// record ends the lease of a decision and stores the result.
func (a *attempt) record(ctx context.Context, d retryDecision, report []byte) error {
	switch d.status {
	case statusDone:
		return a.e.o.Queue.MarkDone(ctx, a.dec.Lease, report)
	case statusFailed, statusExhausted:
		return a.e.o.Queue.Fail(ctx, a.dec.Lease, d.reason, report)
	case statusRetry, statusReleased:
		return a.e.o.Queue.ReleaseLease(ctx, a.dec.Lease, queue.Postponement{Wait: d.wait, Reason: d.reason, Free: d.status == statusReleased})
	}
	return nil
}

// The statuses of an attempt, as metrics and the log have them.
const (
	statusDone      = "done"      // executed; there may have been nothing to do
	statusFailed    = "failed"    // it cannot succeed
	statusRetry     = "again"     // it is tried again, and this try counts
	statusExhausted = "given_up"  // it failed in its last try
	statusReleased  = "given_off" // it is tried again, and this try does not count
	statusLost      = "lost"      // another process has the lease
)

const (
	maxBackoff   = 15 * time.Minute // between two tries: 1 s, 4 s, 16 s …
	maxLimitWait = time.Hour        // maximum wait for a rate limit; GitHub may ask for more
)

// A retryDecision is the next step for a decision after an attempt.
type retryDecision struct {
	status string
	wait   time.Duration // until the next try
	reason string        // of the error
	failed bool          // false: the attempt succeeded, was postponed or was interrupted
}

// log logs the attempt.
func (d retryDecision) log(ctx context.Context, log *slog.Logger, args ...any) {
	switch {
	case d.status == statusDone:
		log.InfoContext(ctx, "decision executed", args...)
	case d.status == statusLost:
		log.InfoContext(ctx, "decision leased by another server", args...)
	case d.status == statusFailed, d.status == statusExhausted:
		log.WarnContext(ctx, "executing a decision failed; its task failed", args...)
	case d.status == statusRetry:
		log.WarnContext(ctx, "executing a decision failed; it will be retried", args...)
	case d.failed: // during an outage, which has its own warning
		log.InfoContext(ctx, "executing a decision failed; it will be retried", args...)
	default:
		log.InfoContext(ctx, "decision released; it will be retried", args...)
	}
}

// makeRetryDecision decides what happens after an attempt that returned err. tries is the number of
// earlier counted tries. random returns numbers in [0, 1).
func makeRetryDecision(err error, tries, maxTries int, random func() float64) retryDecision {
	if err == nil {
		return retryDecision{status: statusDone}
	}
	d := retryDecision{status: statusReleased, reason: firstLine(err.Error())}
	limit, limited := errors.AsType[*rest.LimitError](err)
	outage, inOutage := errors.AsType[*outageError](err)
	rate, overRate := errors.AsType[*rateError](err)
	paused, held := errors.AsType[*pausedError](err)
	switch {
	case errors.Is(err, queue.ErrLost):
		d.status = statusLost
	case errors.Is(err, errStopping):
		d.reason = errStopping.Error()
	case held:
		d.reason = firstLine(paused.Error())
	case errors.Is(err, errNotRenewed):
		d.wait = time.Second
	case overRate:
		d.wait = min(rate.wait, maxLimitWait)
	case limited:
		d.wait = min(max(limit.Wait, time.Second), maxLimitWait)
	case inOutage:
		d.wait, d.failed = jitter(outage.wait, random), true
	case permanent(err):
		d.status = statusFailed
	case tries+1 >= maxTries:
		d.status, d.reason = statusExhausted, fmt.Sprintf("failed after %d tries: %s", tries+1, d.reason)
	default:
		d.status, d.wait = statusRetry, jitter(wait.Backoff(2*tries, time.Second, maxBackoff), random)
	}
	return d
}

// jitter returns a random duration between wait/2 and wait.
func jitter(wait time.Duration, random func() float64) time.Duration {
	return wait/2 + time.Duration(random()*float64(wait/2))
}

// permanent reports whether every retry would fail with the same error.
func permanent(err error) bool {
	_, undecodable := errors.AsType[*permanentError](err)
	_, unknown := errors.AsType[*triage.UnknownActionError](err)
	_, unusable := errors.AsType[*runner.AgentError](err)
	return undecodable || unknown || unusable
}

// A permanentError is an error that no retry can resolve.
type permanentError struct{ err error }

func (e *permanentError) Error() string { return e.err.Error() }
func (e *permanentError) Unwrap() error { return e.err }

// A rateError means that the account has reached its limit of writes.
type rateError struct{ wait time.Duration }

func (e *rateError) Error() string {
	return fmt.Sprintf("the rate limit of writes is reached; the next write is possible in %s", e.wait.Round(time.Second))
}

// An outageError is the error of an attempt during an outage of GitHub.
type outageError struct {
	err  error
	wait time.Duration
}

func (e *outageError) Error() string { return e.err.Error() }
func (e *outageError) Unwrap() error { return e.err }

// quiet is a handler that lowers all records to [slog.LevelDebug]. A server carries out many decisions,
// so it logs their steps only on request.
type quiet struct{ slog.Handler }

// Enabled reports whether records of the lowered level are written.
func (q quiet) Enabled(ctx context.Context, _ slog.Level) bool {
	return q.Handler.Enabled(ctx, slog.LevelDebug)
}

// Handle writes a record at the lowered level.
func (q quiet) Handle(ctx context.Context, rec slog.Record) error {
	rec.Level = slog.LevelDebug
	return q.Handler.Handle(ctx, rec)
}

// WithAttrs returns a quiet handler that adds the attributes to every record.
func (q quiet) WithAttrs(attrs []slog.Attr) slog.Handler { return quiet{q.Handler.WithAttrs(attrs)} }

// WithGroup returns a quiet handler that prefixes the names of later attributes.
func (q quiet) WithGroup(name string) slog.Handler { return quiet{q.Handler.WithGroup(name)} }
