package results

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/org/foreman-action/memory"
)

// firstWait is the first wait before a store reads a state again that may be outdated.
const firstWait = time.Second

// checkIssue checks the arguments of every call of a store for the repository own.
func checkIssue(ctx context.Context, own, repo string, issue int) error {
	if _, err := memory.Key(repo, issue); err != nil {
		return err
	}
	if !strings.EqualFold(own, repo) {
		return fmt.Errorf("this store keeps the memory of %s only", own)
	}
	return ctx.Err()
}

// A semaphore allows one save of a process at a time. Two saves at once would be competitors for
// the service, and one of them would have to wait and retry.
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

// checkRevision returns nil if a record of revision next may be saved over the stored record. err
// is the error from reading the stored record.
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

// isServiceError reports whether an error comes from the service or the network. A record that is
// missing or cannot be read is not a service error.
func isServiceError(err error) bool {
	return err != nil && !errors.Is(err, memory.ErrNotFound) && !errors.Is(err, memory.ErrBroken) && !errors.Is(err, memory.ErrNewer)
}

func broken(err error) error { return fmt.Errorf("%w: %w", memory.ErrBroken, err) }
