package executor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/harness/observe"
	"github.com/org/foreman-action/internal/server/executor/ratelimit"
	"github.com/org/foreman-action/internal/server/supervisor"
	"github.com/org/foreman-action/internal/wait"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/runner/effect"
	"github.com/org/foreman-action/triage"
)

// maxAttempt bounds one attempt.
const maxAttempt = 15 * time.Minute

// An Executor carries out decisions. Its methods are safe for concurrent use.
type Executor struct {
	o       Options
	limiter *ratelimit.Limiter
	outages outages
	slots   chan struct{} // holds an element for each decision that is being executed
	loop    *supervisor.Loop
	running sync.WaitGroup
}

// New returns an Executor. The error names the option that is wrong.
func New(o Options) (*Executor, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	return &Executor{
		o:       o,
		limiter: ratelimit.New(ratelimit.Options{PerMinute: o.PerMinute, PerHour: o.PerHour, Slots: o.Slots, Now: o.Now, Log: o.Log}),
		outages: outages{now: o.Now, known: map[string]*access{}},
		slots:   make(chan struct{}, o.Concurrency),
		loop:    supervisor.NewLoop(supervisor.LoopOptions{Name: "decisions", Interval: o.Interval, Now: o.Now, Observe: o.Observe, Log: o.Log}),
	}, nil
}

// Run executes decisions until ctx ends. Then the writes in progress are finished within
// Options.StopTime, and the decisions that are not done are released.
func (e *Executor) Run(ctx context.Context) {
	work, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	context.AfterFunc(ctx, func() {
		_ = wait.For(work, e.o.StopTime)
		cancel(errStopping)
	})
	e.loop.Run(ctx, func(ctx context.Context) error {
		return e.fetch(ctx, func(dec queue.Decision, leased time.Time) { e.execute(work, ctx.Done(), dec, leased) })
	})
	e.running.Wait()
}

// Wake makes the Executor look for decisions. It never blocks.
func (e *Executor) Wake() { e.loop.Wake() }

// Health returns the state of the loop.
func (e *Executor) Health() supervisor.Health { return e.loop.Health() }

// fetch leases decisions while there are some and slots are free, and executes each in a
// goroutine of its own.
func (e *Executor) fetch(ctx context.Context, execute func(queue.Decision, time.Time)) error {
	for {
		free := e.takeSlots()
		if free == 0 {
			return nil // no free slots; the end of an execution wakes the loop
		}
		leased, err := e.fetchUpTo(ctx, free, execute)
		if err != nil || leased < free {
			return err
		}
	}
}

// takeSlots takes all free slots and returns their number.
func (e *Executor) takeSlots() int {
	for n := 0; ; n++ {
		select {
		case e.slots <- struct{}{}:
		default:
			return n
		}
	}
}

// fetchUpTo leases at most n decisions, for which the caller has taken slots. It returns their
// number.
func (e *Executor) fetchUpTo(ctx context.Context, n int, execute func(queue.Decision, time.Time)) (leased int, err error) {
	defer func() { // release unused slots, even after a panic
		for range n - leased {
			<-e.slots
		}
	}()
	start := e.o.Now()
	list, err := e.o.Queue.LeaseDecisions(ctx, queue.DrainOptions{Owner: e.o.Owner, Lease: e.o.Lease, Limit: n})
	if err != nil {
		return 0, err
	}
	for _, dec := range list {
		leased++
		e.running.Go(func() {
			defer e.loop.Wake() // the same issue may have another decision
			defer func() { <-e.slots }()
			execute(dec, start)
		})
	}
	return leased, nil
}

// execute makes one attempt at a decision, and records the result. leased is a time before the
// lease began. After stopping is closed, no new write begins.
func (e *Executor) execute(ctx context.Context, stopping <-chan struct{}, dec queue.Decision, leased time.Time) {
	l := newLease(e.o, dec.Lease, leased)
	g := &gate{lease: l, limiter: e.limiter, stopping: stopping, slots: e.slots, freed: e.loop.Wake}
	leaseCtx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	attemptCtx, end := context.WithTimeoutCause(leaseCtx, maxAttempt, fmt.Errorf("the attempt took longer than %s", maxAttempt))
	defer end()
	kept := make(chan struct{})
	go func() {
		defer close(kept)
		l.keep(leaseCtx, cancel)
	}()
	rep, err := e.attempt(attemptCtx, dec, g)
	if cause := context.Cause(attemptCtx); err != nil && cause != nil && !errors.Is(err, cause) {
		err = fmt.Errorf("%w: %w", cause, err)
	}
	e.settle(ctx, dec, rep, err, e.o.Now().Sub(leased))
	cancel(nil)
	<-kept
}

// attempt executes a decision. A panic becomes an error of this decision only.
func (e *Executor) attempt(ctx context.Context, dec queue.Decision, g *gate) (rep runner.Report, err error) {
	rep = runner.Report{Status: runner.StatusFailed}
	defer func() {
		if p := recover(); p != nil {
			err = supervisor.PanicError(p)
			e.o.Log.ErrorContext(ctx, "panic while executing a decision", "task", dec.ID, "error", err)
		}
	}()
	j, err := parse(dec)
	if err != nil {
		return rep, &permanentError{err}
	}
	id := identity(dec)
	if err := id.Check(); err != nil {
		return rep, &permanentError{err}
	}
	if j.message != nil && j.message.TaskID == dec.ID { // else it is rejected
		j.message.TaskID = id.ID
	}
	ctx, end := e.o.Span(ctx, j.trace, dec.ID)
	defer func() { end(err) }()
	set, err := e.o.Settings(ctx, dec.Repo, dec.Agent)
	switch {
	case errors.Is(err, ErrUnknownRepo):
		return rep, &permanentError{err}
	case err != nil:
		return rep, e.outages.judge("settings of "+dec.Repo, dec.ID, rep, fmt.Errorf("prepare the decision: %w", err))
	case set.Config == nil || set.Host.Issues == nil && set.Config.Mode != config.ModeShadow:
		return rep, errors.New("prepare the decision: the settings are not complete")
	}
	if j.sends() || set.Config.Rules.Len() > 0 {
		if wait, ok := e.limiter.Ready(set.Identity, maxRateWait); !ok {
			return rep, &rateError{wait}
		}
	}
	set.Host.Guard = g.check
	r, err := runner.New(runner.Options{
		Config: set.Config, Host: set.Host,
		// The agent only receives events that its route accepts, so it may answer all of them.
		// policy.comment_interval limits its comments.
		Agent:   runner.AgentOptions{Name: dec.Agent, AnswersAll: true},
		Actions: e.o.Actions,
		Memory:  runner.Memory{Store: e.o.Memory, Journal: fence(e.o.Journal, g.lease), Required: true, Unscheduled: true},
		Log:     slog.New(quiet{e.o.Log.With("task", dec.ID).Handler()}),
	})
	if err != nil {
		return rep, &permanentError{err}
	}
	_ = e.outages.judge("settings of "+dec.Repo, dec.ID, rep, nil)
	rep, err = r.Apply(effect.WithGate(ctx, g.admit(set.Identity)), id, j.event, j.message)
	if err == nil && rep.Reason == triage.ErrGone.Error() && j.writes() {
		// A run of the action would end here. But the token may have lost its access only for a while,
		// so the decision must be retried.
		rep.Status, err = runner.StatusFailed, triage.ErrGone
	}
	err = e.outages.judge(set.Identity, dec.ID, rep, err)
	return rep, err
}

// settle records the result of an attempt in the queue, and then in the log. err is the error of
// the attempt.
func (e *Executor) settle(ctx context.Context, dec queue.Decision, rep runner.Report, err error, took time.Duration) {
	d := makeRetryDecision(err, dec.Tries, e.o.MaxTries, e.o.Random)
	if rep.Reason == "" {
		rep.Reason = d.reason
	}
	report, err := encode(rep)
	if err != nil {
		e.o.Log.ErrorContext(ctx, "encoding a report failed", "task", dec.ID, "error", err)
	}
	err = supervisor.Commit(ctx, func(ctx context.Context) error { return e.record(ctx, dec.Lease, d, report) })
	if errors.Is(err, queue.ErrLost) {
		d.status = statusLost
	}
	if err != nil {
		e.o.Log.WarnContext(ctx, "recording the outcome of a decision failed; the decision is retried", "task", dec.ID, "status", d.status, "error", err)
	}
	d.log(ctx, e.o.Log, "status", d.status, "task", dec.ID, "repo", dec.Repo, "issue", dec.Issue,
		"decision", string(rep.Decision), "executed", rep.Executed, "reason", d.reason, "wait", d.wait, "took", took)
	e.o.Observe.Report(observe.Observation{Event: observe.ApplyAttempted, Status: d.status, Agent: dec.Agent, Repo: dec.Repo, N: 1, Took: took})
	if d.wait > 0 {
		time.AfterFunc(d.wait, e.loop.Wake)
	}
}

// record ends the lease of a decision and stores the result.
func (e *Executor) record(ctx context.Context, l queue.Lease, d retryDecision, report []byte) error {
	switch d.status {
	case statusDone:
		return e.o.Queue.MarkDone(ctx, l, report)
	case statusFailed, statusExhausted:
		return e.o.Queue.Fail(ctx, l, d.reason, report)
	case statusRetry, statusReleased:
		return e.o.Queue.ReleaseLease(ctx, l, queue.Postponement{Wait: d.wait, Reason: d.reason, Free: d.status == statusReleased})
	}
	return nil
}

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
