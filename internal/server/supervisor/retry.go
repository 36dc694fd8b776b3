package supervisor

import (
	"context"
	"errors"
	"time"

	"github.com/org/foreman-action/internal/wait"
	"github.com/org/foreman-action/queue"
)

// CallTimeout bounds a call to the queue that must not be left out.
const CallTimeout = 10 * time.Second

// commitTries is how often Commit makes its call.
const commitTries = 5

// Backoff returns the exponential pause after a number of earlier failures: a second after
// none, doubled by each, and at most limit.
func Backoff(failures int, limit time.Duration) time.Duration {
	if failures > 30 {
		return limit
	}
	return min(time.Second<<max(failures, 0), limit)
}

// Commit makes a call that records a result in the queue, and retries it with a backoff.
// The end of ctx interrupts no call, but ends the retries. It does not retry when the queue
// refuses the call because the task has changed hands or state.
func Commit(ctx context.Context, call func(context.Context) error) error {
	for n := 0; ; n++ {
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), CallTimeout)
		err := call(bounded)
		cancel()
		refused := errors.Is(err, queue.ErrLost) || errors.Is(err, queue.ErrNotFound) || errors.Is(err, queue.ErrState)
		if err == nil || refused || n == commitTries-1 || wait.For(ctx, Backoff(n, maxErrorPause)) != nil {
			return err
		}
	}
}
