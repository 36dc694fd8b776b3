package results

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/org/foreman-action/memory"
)

// firstWait is the first wait before a store looks again at a state that may be behind.
const firstWait = time.Second

// checkIssue checks the arguments of every call of a store that keeps the repository own.
func checkIssue(ctx context.Context, own, repo string, issue int) error {
	if _, err := memory.Key(repo, issue); err != nil {
		return err
	}
	if !strings.EqualFold(own, repo) {
		return fmt.Errorf("this store keeps the memory of %s only", own)
	}
	return ctx.Err()
}

// A semaphore lets one save of a process through at a time: to the services two would
// be competitors, which costs waiting.
type semaphore chan struct{}

func newSemaphore() semaphore { return make(semaphore, 1) }

func (s semaphore) acquire(ctx context.Context) error {
	select {
	case s <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s semaphore) release() { <-s }

// checkRevision reports whether a record of revision next may be saved over the stored
// one, given the stored revision or the error from reading it.
func checkRevision(next, stored int, err error) error {
	switch {
	case errors.Is(err, memory.ErrNotFound):
		stored = 0
	case errors.Is(err, memory.ErrBroken) && next == 0:
		return nil
	case errors.Is(err, memory.ErrBroken):
		return fmt.Errorf("%w: %w", memory.ErrConflict, err)
	case err != nil:
		return err
	}
	if next != stored {
		return fmt.Errorf("%w: it has revision %d, not %d", memory.ErrConflict, stored, next)
	}
	return nil
}

// isServiceError reports whether an error comes from the service or the network, and not
// from a record that is missing or cannot be read.
func isServiceError(err error) bool {
	return err != nil && !errors.Is(err, memory.ErrNotFound) && !errors.Is(err, memory.ErrBroken) && !errors.Is(err, memory.ErrNewer)
}

func broken(err error) error { return fmt.Errorf("%w: %w", memory.ErrBroken, err) }
