package executor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/org/foreman-action/internal/server/supervisor"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/queue"
)

// errNotRenewed means that it is unknown whether the lease was lost.
var errNotRenewed = errors.New("the lease could not be renewed in time")

// A lease is the lease of a decision that is being executed. The epoch in its token is a fencing
// token: after another process has leased the decision, every renewal fails.
type lease struct {
	o     Options // Lease is how long the lease lasts from each renewal on
	token queue.Lease

	turn chan struct{} // semaphore for the fields below, so that renewals are sequential
	from time.Time     // when the last renewal began
	lost error         // why the lease was lost; nil if it was not lost
}

func newLease(o Options, token queue.Lease, begun time.Time) *lease {
	return &lease{o: o, token: token, turn: make(chan struct{}, 1), from: begun}
}

// take acquires turn. The caller calls done to release it.
func (l *lease) take(ctx context.Context) (done func(), err error) {
	select {
	case l.turn <- struct{}{}:
		return func() { <-l.turn }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// left returns how long the lease lasts. The monotonic clock may stop while the machine sleeps, and
// the wall clock may be set back, so the longer elapsed time counts. The caller holds turn.
func (l *lease) left() time.Duration {
	now := l.o.Now()
	return l.o.Lease - max(now.Sub(l.from), now.Round(0).Sub(l.from.Round(0)))
}

// need returns how long the lease must still last when a write begins. During the write, the lease
// is renewed.
func (l *lease) need() time.Duration { return l.o.Lease / 2 }

// ensure renews the lease unless that happened recently. After an error no write is permitted.
func (l *lease) ensure(ctx context.Context) error {
	done, err := l.take(ctx)
	if err != nil {
		return err
	}
	defer done()
	if l.lost != nil {
		return l.lost
	}
	if l.left() >= l.need() {
		return nil
	}
	return l.renew(ctx)
}

// confirm renews the lease, which fails if another process has leased the decision. That can happen
// before the lease ends, if the other process believed this one dead. After an error no write is
// permitted.
func (l *lease) confirm(ctx context.Context) error {
	done, err := l.take(ctx)
	if err != nil {
		return err
	}
	defer done()
	if l.lost != nil {
		return l.lost
	}
	return l.renew(ctx)
}

// renew renews the lease. The call's time limit is short enough for two more calls before the lease
// ends. The caller holds turn.
func (l *lease) renew(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, min(l.o.Lease/3, supervisor.CallTimeout))
	defer cancel()
	start := l.o.Now()
	_, err := l.o.Queue.Renew(ctx, l.token, l.o.Lease)
	switch {
	case err == nil:
		l.from = start
	case errors.Is(err, queue.ErrLost), errors.Is(err, queue.ErrNotFound):
		l.lost = fmt.Errorf("renew the lease: %w", err)
		return l.lost
	default:
		return fmt.Errorf("%w: %w", errNotRenewed, err)
	}
	if l.left() < l.need() { // the call took that long, or the process was suspended
		return errNotRenewed
	}
	return nil
}

// keep renews the lease every third of its duration, until ctx ends. When the lease is lost or has
// expired, it calls lost and returns.
func (l *lease) keep(ctx context.Context, lost func(error)) {
	t := time.NewTicker(l.o.Lease / 3)
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
	done, err := l.take(ctx)
	if err != nil {
		return nil // ctx ended, so the caller ends as well
	}
	defer done()
	err = l.renew(ctx)
	if l.lost != nil || err != nil && l.left() <= 0 {
		return err
	}
	return nil
}

// A fencedJournal is a journal that is written only under the lease of its decision.
type fencedJournal struct {
	memory.Journal

	lease *lease
}

// fence returns the journal of a decision, or nil if there is none.
func fence(j memory.Journal, l *lease) memory.Journal {
	if j == nil {
		return nil
	}
	return fencedJournal{j, l}
}

// confirm confirms the lease, and takes no longer than it lasts. Callers of Mark pass a context that
// is not cancelled by a stop, so the entries of finished writes are still stored.
func (j fencedJournal) confirm(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, j.lease.o.Lease)
	defer cancel()
	return j.lease.confirm(ctx)
}

// Begin implements memory.Journal.
func (j fencedJournal) Begin(ctx context.Context, l memory.Ledger) error {
	if err := j.confirm(ctx); err != nil {
		return err
	}
	return j.Journal.Begin(ctx, l)
}

// Mark implements memory.Journal.
func (j fencedJournal) Mark(ctx context.Context, key memory.LedgerKey, e memory.Entry) error {
	if err := j.confirm(ctx); err != nil {
		return err
	}
	return j.Journal.Mark(ctx, key, e)
}
