package drain

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/org/foreman-action/internal/github/rest"
	"github.com/org/foreman-action/internal/wait"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/triage"
)

// The statuses of a Settled attempt.
const (
	statusDone     = "done"      // also when nothing was to be done
	statusFailed   = "failed"    // for good
	statusAgain    = "again"     // it is tried again
	statusGivenUp  = "given_up"  // it was tried too often
	statusGivenOff = "given_off" // nothing was to be had now: a limit, or the server stops
	statusLost     = "lost"      // somebody else has it
)

const (
	maxBackoff = 15 * time.Minute
	maxWait    = time.Hour // that a limit is believed
)

// A finalError cannot pass.
type finalError struct{ err error }

func (e *finalError) Error() string { return e.err.Error() }
func (e *finalError) Unwrap() error { return e.err }

// A rateError says that there were too many writes of late.
type rateError struct{ wait time.Duration }

func (e *rateError) Error() string {
	return fmt.Sprintf("the rate of writes is used up for %s", e.wait.Round(time.Second))
}

// An outcome is what became of an attempt.
type outcome struct {
	dec  queue.Decision
	rep  runner.Report
	err  error // nil: it was carried out
	took time.Duration
}

// A verdict says what happens to the decision now.
type verdict struct {
	status string
	wait   time.Duration // before it is tried again
	reason string
}

// judge says what an attempt means for its decision.
func (d *Drainer) judge(o outcome) verdict {
	if o.err == nil {
		return verdict{status: statusDone}
	}
	v := verdict{status: statusGivenOff, reason: firstLine(o.err.Error())}
	limit, limited := errors.AsType[*rest.LimitError](o.err)
	out, outage := errors.AsType[*outageError](o.err)
	rate, rated := errors.AsType[*rateError](o.err)
	switch {
	case errors.Is(o.err, queue.ErrLost):
		v.status = statusLost
	case errors.Is(o.err, errStopping):
		v.reason = errStopping.Error()
	case errors.Is(o.err, errUnheld):
		v.wait = time.Second
	case rated:
		v.wait = min(rate.wait, maxWait)
	case limited:
		v.wait = min(max(limit.Wait, time.Second), maxWait)
	case outage:
		v.wait = d.jitter(out.wait)
	case final(o.err):
		v.status = statusFailed
	case o.dec.Tries+1 >= d.o.MaxDrains:
		v.status, v.reason = statusGivenUp, fmt.Sprintf("given up after %d tries: %s", o.dec.Tries+1, v.reason)
	default:
		v.status, v.wait = statusAgain, d.jitter(backoff(2*o.dec.Tries, maxBackoff))
	}
	return v
}

// jitter returns a time from half of wait up to all of it.
func (d *Drainer) jitter(wait time.Duration) time.Duration {
	return wait/2 + time.Duration(d.o.Random()*float64(wait/2))
}

// final reports whether an error stays, however often it is tried.
func final(err error) bool {
	_, undecodable := errors.AsType[*finalError](err)
	_, unknown := errors.AsType[*triage.UnknownActionError](err)
	_, unusable := errors.AsType[*runner.AgentError](err)
	return undecodable || unknown || unusable
}

// settle tells the queue what became of an attempt, and then the log.
func (d *Drainer) settle(ctx context.Context, o outcome) {
	v := d.judge(o)
	if o.rep.Reason == "" {
		o.rep.Reason = v.reason
	}
	report, err := NewReport(o.rep).Encode()
	if err != nil {
		d.o.Log.ErrorContext(ctx, "the report cannot be kept", "task", o.dec.ID, "error", err)
	}
	err = d.insist(ctx, func(ctx context.Context) error { return d.tell(ctx, o.dec.Hold, v, report) })
	if errors.Is(err, queue.ErrLost) {
		v.status = statusLost
	}
	if err != nil {
		d.o.Log.WarnContext(ctx, "the queue could not be told what became of a decision; it comes back", "task", o.dec.ID, "status", v.status, "error", err)
	}
	level := slog.LevelWarn
	switch v.status {
	case statusDone, statusGivenOff, statusLost:
		level = slog.LevelInfo
	}
	d.o.Log.Log(ctx, level, "decision carried out", "status", v.status, "task", o.dec.ID, "repo", o.dec.Repo, "issue", o.dec.Issue,
		"decision", string(o.rep.Decision), "executed", o.rep.Executed, "reason", v.reason, "wait", v.wait, "took", o.took)
	d.o.Observe(Observation{Event: Settled, Status: v.status, Agent: o.dec.Agent, Repo: o.dec.Repo, N: 1, Took: o.took})
	if v.wait > 0 {
		time.AfterFunc(v.wait, d.decisions.wake)
	}
}

// tell tells the queue of a verdict.
func (d *Drainer) tell(ctx context.Context, h queue.Hold, v verdict, report []byte) error {
	switch v.status {
	case statusDone:
		return d.o.Queue.MarkDone(ctx, h, report)
	case statusFailed, statusGivenUp:
		return d.o.Queue.Fail(ctx, h, v.reason, report)
	case statusAgain, statusGivenOff:
		return d.o.Queue.Release(ctx, h, queue.Postponement{Wait: v.wait, Reason: v.reason, Free: v.status == statusGivenOff})
	}
	return nil
}

// insist makes a call that must not be left out, and repeats it for a while. It does not
// end with ctx, but is not repeated then.
func (d *Drainer) insist(ctx context.Context, call func(context.Context) error) error {
	const tries = 5
	for n := 0; ; n++ {
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTime)
		err := call(bounded)
		cancel()
		lost := errors.Is(err, queue.ErrLost) || errors.Is(err, queue.ErrNotFound) || errors.Is(err, queue.ErrState)
		if err == nil || lost || n == tries-1 || wait.For(ctx, backoff(n, maxRest)) != nil {
			return err
		}
	}
}
