package dispatch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/org/foreman-action/internal/server/health"
	"github.com/org/foreman-action/internal/server/supervisor"
	"github.com/org/foreman-action/queue"
)

// ask starts workers for at most n of the pending tasks of a synchronous agent. If the agent's breaker
// is half-open, it first checks the agent's health, and starts one worker.
func (d *Dispatcher) ask(ctx context.Context, p *peer, a Agent, pending []string, n int) {
	for range n {
		t, ok := p.turn()
		if !ok {
			return
		}
		if t.permit.Probe {
			if !d.probe(ctx, p, a, t.permit) {
				p.tasks.abandon(t.place)
				p.endTurn(t)
				return
			}
			t.first = p.unfailed(pending)
		}
		d.requests.Go(func() { d.work(ctx, p, a, t) })
	}
}

// probe checks the health of an agent with a half-open breaker. If it is not healthy, probe fails the
// tasks that have waited too long.
func (d *Dispatcher) probe(ctx context.Context, p *peer, a Agent, permit health.Permit) (healthy bool) {
	status, healthy := d.client.health(ctx, a)
	if !healthy && ctx.Err() == nil {
		d.report(ctx, p, status)
		d.failExpired(ctx, p, status)
		time.AfterFunc(p.breaker.Trip(ctx, permit, status), d.loop.Wake)
	}
	return healthy
}

// acquire acquires a turn without a check of the backlog. The loop is woken if a check, or a probe of
// the agent's health, has to come first.
func (d *Dispatcher) acquire(p *peer) (t turn, ok bool) {
	t, ok = p.turn()
	if ok && t.permit.Probe {
		p.tasks.abandon(t.place)
		p.endTurn(t)
		t.stale, ok = true, false
	}
	if t.stale {
		d.loop.Wake()
	}
	return t, ok
}

// work claims a task and sends it to a synchronous agent, and goes on with the agent's next tasks.
// Each worker starts another one when it has claimed a task, because there may be more.
func (d *Dispatcher) work(ctx context.Context, p *peer, a Agent, t turn) {
	d.working.Add(1) // before the look at drained, so that no claim is missed
	defer d.working.Add(-1)
	for ok := true; ok; t, ok = d.acquire(p) {
		if d.drained.Load() {
			p.tasks.abandon(t.place)
			p.endTurn(t)
			return
		}
		claim, err := d.claims.next(ctx, p.address, t.first)
		switch {
		case errors.Is(err, queue.ErrEmpty):
			p.tasks.found(t.place, false)
			p.endTurn(t)
			continue
		case err != nil:
			if p.tasks.fail(t.place) && ctx.Err() == nil {
				time.AfterFunc(claimPause, d.loop.Wake)
			}
			p.endTurn(t)
			return
		}
		p.tasks.found(t.place, true)
		if next, ok := d.acquire(p); ok {
			d.requests.Go(func() { d.work(ctx, p, a, next) })
		}
		decided := d.protected(ctx, p, a, t.permit, claim)
		p.endTurn(t)
		if !decided {
			// The task may keep its claim for a time, so the agent has less room than the semaphore knows.
			p.tasks.expire()
			d.loop.Wake()
			return
		}
	}
}

// protected makes a request and recovers from a panic.
func (d *Dispatcher) protected(ctx context.Context, p *peer, a Agent, permit health.Permit, claim queue.Claim) (decided bool) {
	defer func() {
		if v := recover(); v != nil {
			d.o.Log.ErrorContext(ctx, "panic while calling an agent", "agent", p.address, "task", claim.ID, "error", supervisor.PanicError(v))
		}
	}()
	return d.request(ctx, p, a, permit, claim)
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
func (d *Dispatcher) request(ctx context.Context, p *peer, a Agent, permit health.Permit, claim queue.Claim) (decided bool) {
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
		return true
	case ctx.Err() != nil: // the server stops, so release the task for another server
		d.claims.release(ctx, claim, 0)
	case lost:
		d.o.Log.InfoContext(ctx, "claim lost while an agent decided on its task", "agent", p.address, "task", claim.ID)
	default:
		d.undecided(ctx, p, permit, claim, err)
	}
	return false
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
		claim, err := d.claims.next(ctx, p.address, "")
		if err != nil {
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
