package executor

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/org/foreman-action/internal/server/executor/ratelimit"
)

const (
	maxRateWait = 20 * time.Second // for a write's turn; if it takes longer, the decision is released
	maxLate     = time.Second      // behind its turn; if a write is later, it takes a new one
)

// errStopping is the cause of all that ends early because the server stops.
var errStopping = errors.New("the server is being stopped")

// A gate stands before the writes of one decision.
type gate struct {
	lease    *lease
	limiter  *ratelimit.Limiter
	stopping <-chan struct{} // closed when no more writes may begin
	slots    chan struct{}   // the decision holds one
	freed    func()          // a slot is free

	mu sync.Mutex // held by the request that waits for its turn
}

// check must pass before each step of a decision that writes, scheduled ones included.
func (g *gate) check(ctx context.Context) error {
	select {
	case <-g.stopping:
		return errStopping
	default:
		return g.lease.ensure(ctx)
	}
}

// admit returns a check that must pass before each request that may change something: GitHub
// limits their rate for an identity.
func (g *gate) admit(identity string) func(context.Context) error {
	return func(ctx context.Context) error {
		g.mu.Lock() // one at a time, as the decision holds but one slot
		defer g.mu.Unlock()
		for {
			if err := g.check(ctx); err != nil {
				return err
			}
			wait, ok := g.limiter.Take(ctx, identity, maxRateWait)
			if !ok {
				return &rateError{wait}
			}
			turn := time.Now().Add(wait)
			if wait > 0 {
				if err := g.wait(ctx, wait); err != nil {
					return err
				}
			}
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			// The journal has the write by now. If another process leases the decision after this,
			// it finds the write there, and waits until it has taken effect, or cannot any more.
			if err := g.lease.confirm(ctx); err != nil || time.Since(turn) <= maxLate {
				return err
			}
		}
	}
}

// wait waits for a turn, and lends the slot to another decision meanwhile.
func (g *gate) wait(ctx context.Context, d time.Duration) error {
	<-g.slots
	g.freed()
	defer func() { g.slots <- struct{}{} }()
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-g.stopping:
		return errStopping
	case <-t.C:
		return nil
	}
}
