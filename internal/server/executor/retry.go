package executor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/org/foreman-action/internal/wait"

	"github.com/org/foreman-action/internal/github/rest"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/triage"
)

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
	switch {
	case errors.Is(err, queue.ErrLost):
		d.status = statusLost
	case errors.Is(err, errStopping):
		d.reason = errStopping.Error()
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
