package supervisor

import (
	"context"
	"errors"
	"time"

	"github.com/org/foreman-action/internal/wait"
	"github.com/org/foreman-action/queue"
)

// CallTimeout is the time limit of a call to the queue that must complete even if the server stops.
const CallTimeout = 10 * time.Second

// commitTries is the maximum number of calls that Commit makes.
const commitTries = 5

// Commit makes a call that records a result in the queue, and retries it with a backoff. When ctx
// ends, the current call continues, but there are no further retries. Commit does not retry if the
// queue refuses the call because the task has another owner or state.
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
