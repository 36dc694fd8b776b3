package dispatch

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/org/foreman-action/internal/server/dispatch/breaker"
	"github.com/org/foreman-action/internal/server/supervisor"
	"github.com/org/foreman-action/queue"
)

// ask sends at most n of the pending tasks to a synchronous agent, each in its own goroutine. If the agent's
// breaker is half-open, it first checks the agent's health.
func (d *Dispatcher) ask(ctx context.Context, p *peer, a Agent, pending []string, n int) {
	permit, n := p.breaker.Allow(n)
	if permit.Probe && n > 0 {
		if status, healthy := d.client.health(ctx, a); !healthy {
			p.breaker.Release(permit)
			if ctx.Err() == nil {
				d.report(ctx, p, status)
				d.failExpired(ctx, p, status)
				time.AfterFunc(p.breaker.Trip(permit), d.loop.Wake)
				d.reportBreaker(ctx, p, status)
			}
			return
		}
	}
	for range n {
		var skip int
		if permit.Probe {
			skip = d.skip(p, pending)
		}
		claim, ok := d.claim(ctx, p, skip)
		if !ok {
			p.breaker.Release(permit)
			continue
		}
		d.requests.Go(func() {
			defer d.loop.Wake()
			defer p.breaker.Release(permit)
			defer func() {
				if v := recover(); v != nil {
					d.o.Log.ErrorContext(ctx, "panic while calling an agent", "agent", p.address, "task", claim.ID, "error", supervisor.PanicError(v))
				}
			}()
			d.request(ctx, p, a, permit, claim)
		})
	}
}

// maxSkipped is how many tasks a probe skips at most. The log of a task contains each skip.
const maxSkipped = 16

// skip returns how many of the pending tasks a probe skips: those before the first task on which the
// agent has not failed, because a bad task would keep the breaker open. It returns 0 if there is no
// such task, or it is too far behind.
func (d *Dispatcher) skip(p *peer, pending []string) int {
	n := slices.IndexFunc(pending, func(id string) bool { return !p.breaker.Failed(id) })
	if n > maxSkipped {
		return 0
	}
	return max(n, 0)
}

// claim claims the next task of an agent. It skips at most as many tasks on which the agent has
// failed. If no other task follows, because another server has claimed it, it claims the first one.
func (d *Dispatcher) claim(ctx context.Context, p *peer, skip int) (queue.Claim, bool) {
	var list []queue.Claim
	for range 1 + skip {
		c, ok := d.claims.next(ctx, p.address)
		if !ok {
			break
		}
		list = append(list, c)
		if !p.breaker.Failed(c.ID) {
			break
		}
	}
	if len(list) == 0 {
		return queue.Claim{}, false
	}
	chosen := len(list) - 1
	if p.breaker.Failed(list[chosen].ID) {
		chosen = 0
	}
	for i, c := range list {
		if i != chosen {
			d.requests.Go(func() { d.claims.release(ctx, c, 0) })
		}
	}
	return list[chosen], true
}

// request sends an agent a task and records its decision. A task without a decision becomes
// pending again.
func (d *Dispatcher) request(ctx context.Context, p *peer, a Agent, permit breaker.Permit, claim queue.Claim) {
	asking, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	renewed := make(chan struct{})
	go func() {
		defer close(renewed)
		d.claims.renew(asking, claim, cancel)
	}()
	decision, err := d.client.decide(asking, a, claim)
	lost := asking.Err() != nil
	cancel(nil)
	<-renewed
	switch {
	case err == nil:
		p.breaker.Success(ctx, claim.ID)
		d.report(ctx, p, statusOK)
		d.reportBreaker(ctx, p, statusOK)
		d.claims.complete(ctx, claim, decision)
	case ctx.Err() != nil: // the server stops, so release the task for another server
		d.claims.release(ctx, claim, 0)
	case lost:
		d.o.Log.InfoContext(ctx, "claim lost while an agent decided on its task", "agent", p.address, "task", claim.ID)
	default:
		d.undecided(ctx, p, permit, claim, err)
	}
}

// undecided retries or fails a task that an agent did not decide on. It fails the task after
// MaxClaims counted failures, or after the agent has failed for breaker.GiveUpAfter.
func (d *Dispatcher) undecided(ctx context.Context, p *peer, permit breaker.Permit, claim queue.Claim, err error) {
	status, cause := statusOf(err), causeOf(err)
	d.report(ctx, p, status)
	v := p.breaker.Failure(ctx, permit, breaker.Task{ID: claim.ID, Enqueued: claim.Enqueued}, cause)
	d.reportBreaker(ctx, p, err.Error())
	switch {
	case v.Expired:
		d.fail(ctx, p, claim, expiredReason(status))
		return
	case v.Attempts >= d.o.MaxClaims:
		d.fail(ctx, p, claim, fmt.Sprintf("no decision after %d failed attempts; last error: %s", d.o.MaxClaims, status))
		return
	}
	d.o.Log.InfoContext(ctx, "agent returned no decision; retrying", "agent", p.address, "task", claim.ID, "in", v.Wait, "counts", v.Counts, "error", err)
	if cause == breaker.Unusable {
		d.claims.expire(ctx, claim, v.Wait, d.o.Requeue)
		return
	}
	// Release the claim during the wait, which may be long, because it would keep other tasks from
	// the agent.
	d.claims.release(ctx, claim, v.Wait)
	time.AfterFunc(v.Wait, d.loop.Wake)
}

// failExpired fails those tasks of a failing agent that have waited too long.
func (d *Dispatcher) failExpired(ctx context.Context, p *peer, status string) {
	for range maxCap {
		if !p.breaker.Expired(ctx) {
			return
		}
		claim, ok := d.claims.next(ctx, p.address)
		if !ok {
			return
		}
		if time.Since(claim.Enqueued) <= breaker.GiveUpAfter {
			d.claims.release(ctx, claim, breaker.MaxInterval)
			return
		}
		d.fail(ctx, p, claim, expiredReason(status))
	}
}

// fail fails a task, which the agent will not receive again.
func (d *Dispatcher) fail(ctx context.Context, p *peer, claim queue.Claim, reason string) {
	p.breaker.Forget(claim.ID)
	d.claims.fail(ctx, p.address, claim, reason)
}

func expiredReason(status string) string {
	return fmt.Sprintf("no decision after %d hours; last error: %s", int(breaker.GiveUpAfter.Hours()), status)
}
