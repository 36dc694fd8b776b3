package executor

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/org/foreman-action/internal/server/supervisor"
	"github.com/org/foreman-action/queue"
)

// margin is how much longer than the longest request a lease must last when it begins.
const margin = 5 * time.Second

// errNotRenewed means that it is unknown whether the lease is still held.
var errNotRenewed = errors.New("the lease could not be renewed in time")

// A lease is the lease of a decision that is being executed. The epoch of its token is a
// fencing token.
type lease struct {
	queue    Queue
	token    queue.Lease
	duration time.Duration // from each renewal on
	need     time.Duration // that must be left for a write

	mu   sync.Mutex // guards the fields below, and makes renewals one after the other
	from time.Time  // when the last renewal began
	lost error      // why the lease was lost; nil: it was not
}

// left is how long the lease lasts. The monotonic clock stands still while the machine
// sleeps, and the wall clock may be set back: the later one counts. The caller holds l.mu.
func (l *lease) left() time.Duration {
	now := time.Now()
	return l.duration - max(now.Sub(l.from), now.Round(0).Sub(l.from.Round(0)))
}

// ensure makes sure that the lease lasts long enough for a write. After an error nothing
// may be written.
func (l *lease) ensure(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lost != nil {
		return l.lost
	}
	if l.left() >= l.need {
		return nil
	}
	return l.renew(ctx)
}

// renew renews the lease. The caller holds l.mu.
func (l *lease) renew(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, supervisor.CallTimeout)
	defer cancel()
	start := time.Now()
	_, err := l.queue.Renew(ctx, l.token, l.duration)
	switch {
	case err == nil:
		l.from = start
	case errors.Is(err, queue.ErrLost), errors.Is(err, queue.ErrNotFound):
		l.lost = fmt.Errorf("renew the lease: %w", err)
		return l.lost
	case l.left() < l.need:
		return fmt.Errorf("%w: %w", errNotRenewed, err)
	}
	if l.left() < l.need { // the call took that long, or the process was suspended
		return errNotRenewed
	}
	return nil
}

// keep renews the lease three times as often as necessary, until ctx ends. When the lease
// is lost or has run out, it calls lost and ends.
func (l *lease) keep(ctx context.Context, lost func(error)) {
	t := time.NewTicker(l.duration / 3)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		if err := l.refresh(ctx); err != nil && ctx.Err() == nil {
			lost(err)
			return
		}
	}
}

// refresh renews the lease. Its error means that the lease is lost, or has run out.
func (l *lease) refresh(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	err := l.renew(ctx)
	if l.lost != nil || err != nil && l.left() <= 0 {
		return err
	}
	return nil
}
