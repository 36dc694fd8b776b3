package drain

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/org/foreman-action/agent"
	"github.com/org/foreman-action/internal/wait"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/queue"
)

// ask asks an agent that does not claim its tasks about at most n of them, each beside the
// others. One that is out of order is knocked at first.
func (d *Drainer) ask(ctx context.Context, p *peer, a Agent, n int) {
	t, n := p.standing.grant(n)
	if t.probe && n > 0 {
		// Published agents of this kind need not have the path.
		if code, said := d.knock(ctx, a, http.MethodGet, "/health", nil); code == 0 || broken(code) {
			p.standing.end(t)
			if ctx.Err() == nil {
				d.heard(ctx, p, said)
				d.bury(ctx, p, said)
				time.AfterFunc(p.standing.out(t), d.nudges.wake)
			}
			return
		}
	}
	for range n {
		claim, ok := d.claim(ctx, p)
		if !ok {
			p.standing.end(t)
			continue
		}
		d.work.Go(func() {
			defer d.nudges.wake()
			defer p.standing.end(t)
			defer func() {
				if r := recover(); r != nil {
					d.o.Log.ErrorContext(ctx, "panic while an agent was asked", "agent", p.address, "task", claim.ID, "error", panicked(r))
				}
			}()
			d.consult(ctx, p, a, claim, t)
		})
	}
}

// claim claims a task of an agent.
func (d *Drainer) claim(ctx context.Context, p *peer) (claim queue.Claim, ok bool) {
	if ctx.Err() != nil {
		return claim, false
	}
	// Not broken off: whether it was claimed would not be known.
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTime)
	defer cancel()
	claim, err := d.o.Queue.ClaimNext(bounded, p.address, queue.ClaimOptions{By: d.o.Owner, Lease: d.o.ClaimTimeout})
	if err != nil && !errors.Is(err, queue.ErrEmpty) {
		d.o.Log.WarnContext(ctx, "a task for an agent could not be claimed", "agent", p.address, "error", err)
	}
	return claim, err == nil
}

// consult asks an agent about a task, and keeps its decision. A task that it does not
// decide on becomes pending again.
func (d *Drainer) consult(ctx context.Context, p *peer, a Agent, claim queue.Claim, t turn) {
	ref := queue.Ref{ID: claim.ID, Attempt: claim.Attempt, By: d.o.Owner}
	asking, end := context.WithCancelCause(ctx)
	defer end(nil)
	beats := make(chan struct{})
	go func() {
		defer close(beats)
		d.beat(asking, ref, end)
	}()
	m, err := d.decide(asking, a, claim)
	lost := asking.Err() != nil
	end(nil)
	<-beats
	switch {
	case err == nil:
		p.standing.well(claim.ID)
		d.heard(ctx, p, answered)
		d.present(ctx, p)
		err = d.insist(ctx, func(ctx context.Context) error {
			_, err := d.o.Queue.Complete(ctx, ref, m)
			return err
		})
		if err != nil {
			d.o.Log.WarnContext(ctx, "the decision of an agent could not be kept; it is asked again", "task", claim.ID, "error", err)
		}
	case ctx.Err() != nil: // the server stops: somebody else may have it at once
		d.giveBack(ctx, ref, 0)
	case lost:
		d.o.Log.InfoContext(ctx, "the claim of a task was lost while an agent was asked", "agent", p.address, "task", claim.ID)
	default:
		d.undecided(ctx, p, claim, t, err)
	}
}

// undecided takes care of a task that an agent gave no decision on. While the agent is out
// of order nothing is counted, but not for ever.
func (d *Drainer) undecided(ctx context.Context, p *peer, claim queue.Claim, t turn, err error) {
	ref := queue.Ref{ID: claim.ID, Attempt: claim.Attempt, By: d.o.Owner}
	d.heard(ctx, p, reason(err))
	var wait time.Duration
	counts, ill := true, ailing(err)
	if ill {
		wait, counts = p.standing.ill(t, ref.ID, err, d.o.MaxClaims)
	} else {
		wait = p.standing.wrong(ref.ID)
		d.present(ctx, p)
	}
	switch {
	case !counts && d.overdue(ctx, p, claim):
		d.giveUp(ctx, p, ref, noDecision(reason(err)))
		return
	case counts && p.standing.tried(ref.ID) >= d.o.MaxClaims:
		d.giveUp(ctx, p, ref, fmt.Sprintf("given up: asked %d times, and no decision came; the last time: %s", d.o.MaxClaims, reason(err)))
		return
	}
	d.o.Log.InfoContext(ctx, "an agent gave no decision; it is asked again", "agent", p.address, "task", ref.ID, "in", wait, "counts", counts, "error", err)
	if ill { // it may wait for long, and a claim would keep others from the agent
		d.giveBack(ctx, ref, wait)
		time.AfterFunc(wait, d.nudges.wake) // others are looked for more often than that
		return
	}
	// A claim that runs out counts, over a restart too.
	err = d.insist(ctx, func(ctx context.Context) error { return d.o.Queue.Heartbeat(ctx, ref, wait) })
	if err == nil {
		time.AfterFunc(wait, d.requeues.wake)
	}
}

// giveBack ends a claim, and counts it not. One that cannot be given back runs out.
func (d *Drainer) giveBack(ctx context.Context, ref queue.Ref, wait time.Duration) {
	err := d.insist(ctx, func(ctx context.Context) error { return d.o.Queue.GiveBack(ctx, ref, wait) })
	if err != nil {
		d.o.Log.WarnContext(ctx, "a task could not be given back; its claim runs out", "task", ref.ID, "error", err)
	}
}

// reason says in a word or two why an agent gave no decision.
func reason(err error) string {
	e, ok := errors.AsType[*agent.Error](err)
	switch {
	case !ok:
		return errUnaskable.Error()
	case e.Reason == agent.ReasonStatus:
		return fmt.Sprintf("status %d", e.Status)
	}
	return string(e.Reason)
}

// decide returns an agent's decision on a task as JSON. The error holds no secret.
func (d *Drainer) decide(ctx context.Context, a Agent, claim queue.Claim) ([]byte, error) {
	remote, err := agent.NewRemote(agent.RemoteOptions{URL: a.URL, Timeout: a.Timeout, Transport: d.peers.remote, UserAgent: "foremand"})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errUnaskable, err)
	}
	task, err := protocol.ParseTask(claim.Message)
	if err != nil {
		return nil, err
	}
	m, err := remote.Decide(ctx, task)
	if err != nil {
		return nil, err
	}
	return protocol.Encode(m)
}

// beat keeps a claim until ctx ends. When it is lost, lose is told.
func (d *Drainer) beat(ctx context.Context, ref queue.Ref, lose func(error)) {
	for wait.For(ctx, d.o.ClaimTimeout/3) == nil {
		err := d.o.Queue.Heartbeat(ctx, ref, d.o.ClaimTimeout)
		if errors.Is(err, queue.ErrLost) || errors.Is(err, queue.ErrNotFound) || errors.Is(err, queue.ErrNotYours) {
			lose(err)
			return
		}
	}
}
