package dispatch

import (
	"context"
	"fmt"
	"time"

	"github.com/org/foreman-action/internal/server/health"
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
				time.AfterFunc(p.breaker.Trip(ctx, permit, status), d.loop.Wake)
			}
			return
		}
	}
	first := ""
	if permit.Probe {
		first = p.unfailed(pending)
	}
	for range n {
		claim, ok := d.claims.next(ctx, p.address, first)
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

// unfailed returns the first of the pending tasks on which an agent has not failed. A probe uses it,
// because a bad task would keep the breaker open. It returns "" if there is no such task.
func (p *peer) unfailed(pending []string) string {
	for _, id := range pending {
		if !p.breaker.Failed(id) {
			return id
		}
	}
	return ""
}

// request sends an agent a task and records its decision. A task without a decision becomes
// pending again.
func (d *Dispatcher) request(ctx context.Context, p *peer, a Agent, permit health.Permit, claim queue.Claim) {
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
		d.report(ctx, p, statusOK)
		p.breaker.Success(ctx, claim.ID)
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
// MaxClaims counted failures, or after the agent has failed for health.GiveUpAfter.
func (d *Dispatcher) undecided(ctx context.Context, p *peer, permit health.Permit, claim queue.Claim, err error) {
	status, cause := statusOf(err), causeOf(err)
	d.report(ctx, p, status)
	v := p.breaker.Failure(ctx, permit, health.Task{ID: claim.ID, Enqueued: claim.Enqueued}, cause, err.Error())
	switch {
	case v.Expired:
		d.fail(ctx, p, claim, expiredReason(status))
		return
	case v.Attempts >= d.o.MaxClaims:
		d.fail(ctx, p, claim, fmt.Sprintf("no decision after %d failed attempts; last error: %s", d.o.MaxClaims, lastError(err)))
		return
	}
	d.o.Log.InfoContext(ctx, "agent returned no decision; retrying", "agent", p.address, "task", claim.ID, "in", v.Wait, "counts", v.Counts, "error", err)
	if cause == health.Unusable {
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
		if !p.breaker.Expired(ctx, status) {
			return
		}
		claim, ok := d.claims.next(ctx, p.address, "")
		if !ok {
			return
		}
		if d.o.Now().Sub(claim.Enqueued) <= health.GiveUpAfter {
			d.claims.release(ctx, claim, health.MaxInterval)
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
	return fmt.Sprintf("no decision after %d hours; last error: %s", int(health.GiveUpAfter.Hours()), status)
}
