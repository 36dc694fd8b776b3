package drain

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/org/foreman-action/queue"
)

// margin is what a lease must last beyond the longest request.
const margin = 5 * time.Second

// callTime bounds a call to the queue that must not be left out.
const callTime = 10 * time.Second

// errUnheld says that nobody can tell whether the lease is still ours.
var errUnheld = errors.New("the lease could not be renewed in time")

// A hold is the lease of a decision that is being carried out.
type hold struct {
	queue queue.Queue
	ref   queue.Hold
	lease time.Duration
	need  time.Duration // that it must last for a write

	mu   sync.Mutex // guards what follows, and makes renewals one after the other
	from time.Time  // the lease lasts from then on, at least
	lost error      // why it is not ours any more
}

// left is how long the lease lasts. The clock that only goes forward stands still while
// the machine sleeps, and the one on the wall may be set back: the later one counts.
// The caller holds h.mu.
func (h *hold) left() time.Duration {
	now := time.Now()
	return h.lease - max(now.Sub(h.from), now.Round(0).Sub(h.from.Round(0)))
}

// ensure makes sure that the lease lasts long enough for a write. Its error says why
// nothing may be written.
func (h *hold) ensure(ctx context.Context) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.lost != nil {
		return h.lost
	}
	if h.left() >= h.need {
		return nil
	}
	return h.renew(ctx)
}

// renew makes the lease last from now on. The caller holds h.mu.
func (h *hold) renew(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	start := time.Now()
	_, err := h.queue.Renew(ctx, h.ref, h.lease)
	switch {
	case err == nil:
		h.from = start
	case errors.Is(err, queue.ErrLost), errors.Is(err, queue.ErrNotFound):
		h.lost = fmt.Errorf("renew the lease: %w", err)
		return h.lost
	case h.left() < h.need:
		return fmt.Errorf("%w: %w", errUnheld, err)
	}
	if h.left() < h.need { // the call took that long, or the process stood still in it
		return errUnheld
	}
	return nil
}

// keep renews the lease from time to time, until ctx ends or the lease is lost, which it
// tells lose.
func (h *hold) keep(ctx context.Context, lose func(error)) {
	t := time.NewTicker(h.lease / 3)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		if err := h.refresh(ctx); err != nil && ctx.Err() == nil {
			lose(err)
			return
		}
	}
}

// refresh renews the lease. Its error says that it is lost, or ran out.
func (h *hold) refresh(ctx context.Context) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	err := h.renew(ctx)
	if h.lost != nil || err != nil && h.left() <= 0 {
		return err
	}
	return nil
}
