package executor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/org/foreman-action/internal/server/supervisor"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store"
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
	out, err := l.o.Progress.Advance(ctx, store.Step{Lease: l.token, For: l.o.Lease})
	if err = l.note(start, out, err); err == nil && l.left() < l.need() { // the call took that long, or the process was suspended
		return errNotRenewed
	}
	return err
}

// note records the result of a step that began at start, and returns its error. The error of a step in
// which the lease was not renewed is errNotRenewed or that of a lost lease. The caller holds turn.
func (l *lease) note(start time.Time, out store.Advanced, err error) error {
	switch {
	case errors.Is(err, queue.ErrLost), errors.Is(err, queue.ErrNotFound):
		l.lost = fmt.Errorf("renew the lease: %w", err)
		return l.lost
	case err == nil || out.Renewed:
		if start.After(l.from) {
			l.from = start
		}
		return err
	}
	return fmt.Errorf("%w: %w", errNotRenewed, err)
}

// advance makes a step, which renews the lease. Meanwhile the lease can be renewed by other calls,
// because saving a record may take long. After an error no write is permitted.
func (l *lease) advance(ctx context.Context, s store.Step) (store.Advanced, error) {
	s.Lease, s.For = l.token, l.o.Lease
	bounded := ctx
	if s.Record == nil {
		var cancel context.CancelFunc
		bounded, cancel = context.WithTimeout(ctx, min(l.o.Lease/3, supervisor.CallTimeout))
		defer cancel()
	}
	if err := l.check(ctx); err != nil {
		return store.Advanced{}, err
	}
	start := l.o.Now()
	out, err := l.o.Progress.Advance(bounded, s)
	done, failed := l.take(context.WithoutCancel(ctx)) // the result is known
	if failed != nil {
		return out, failed
	}
	defer done()
	switch noted := l.note(start, out, err); {
	case err != nil && s.Record != nil && l.lost == nil:
		return out, err // the caller saves the record again
	case noted != nil:
		return out, noted
	case s.Slot != nil && l.left() < l.need():
		return out, errNotRenewed
	}
	return out, nil
}

// check returns an error if the lease is lost.
func (l *lease) check(ctx context.Context) error {
	done, err := l.take(ctx)
	if err != nil {
		return err
	}
	defer done()
	return l.lost
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
