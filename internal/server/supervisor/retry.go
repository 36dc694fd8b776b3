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

// Commit makes a call that records a result in the queue, and retries it with a backoff.
// The end of ctx interrupts no call, but ends the retries. It does not retry when the queue
// refuses the call because the task has changed hands or state.
func Commit(ctx context.Context, call func(context.Context) error) error {
	for n := 0; ; n++ {
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), CallTimeout)
		err := call(bounded)
		cancel()
		refused := errors.Is(err, queue.ErrLost) || errors.Is(err, queue.ErrNotFound) || errors.Is(err, queue.ErrState)
		if err == nil || refused || n == commitTries-1 || wait.For(ctx, wait.Backoff(n, time.Second, maxErrorPause)) != nil {
			return err
		}
	}
}
