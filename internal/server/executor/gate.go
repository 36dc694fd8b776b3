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
	maxLate     = time.Second      // after the slot's time; a later write takes a new slot
)

// errStopping is the cause of all that ends early because the server stops.
var errStopping = errors.New("the server is being stopped")

// A gate delays or refuses the writes of one decision.
type gate struct {
	lease    *lease
	limiter  *ratelimit.Limiter
	stopping <-chan struct{} // closed when no more writes may begin
	slots    chan struct{}   // contains an element for this decision
	freed    func()          // called when an element of slots was freed

	mu sync.Mutex // held by the request that waits for its slot
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

// admit returns a check that must succeed before each request that may change something. It limits
// the rate of an identity's writes, because GitHub limits it, too.
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
			turn := g.lease.now().Add(wait)
			if wait > 0 {
				if err := g.wait(ctx, wait); err != nil {
					return err
				}
			}
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			// The journal already contains the write. If another process leases the decision after this,
			// it finds the write there, and waits as long as the write may still take effect.
			if err := g.lease.confirm(ctx); err != nil || g.lease.now().Sub(turn) <= maxLate {
				return err
			}
		}
	}
}

// wait waits for a write's time. Meanwhile another decision may use this decision's element in
// slots.
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
