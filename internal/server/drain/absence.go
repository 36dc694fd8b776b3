package drain

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/org/foreman-action/queue"
)

// An absence is since when an agent that is asked has been out of order. It is kept with
// the queue, so that a restart does not begin it anew.
type absence struct {
	mu    sync.Mutex // guards what follows
	known bool       // what is kept was read
	since time.Time  // zero: it is in order
}

// absenceMark is where the absence of an agent is kept. No repository has that name.
func absenceMark(p *peer) string { return "agent " + p.address }

// absent notes that an agent is out of order, and returns for how long.
func (d *Drainer) absent(ctx context.Context, p *peer) time.Duration {
	a := &p.absence
	a.mu.Lock()
	defer a.mu.Unlock()
	if !d.recall(ctx, p) {
		return 0
	}
	// A time ahead is of before the clock was set back.
	if now := time.Now(); a.since.IsZero() || a.since.After(now) {
		if !d.keep(ctx, p, now.UTC().AppendFormat(nil, time.RFC3339Nano)) {
			return 0
		}
		a.since = now
	}
	return time.Since(a.since)
}

// present notes that an agent is in order.
func (d *Drainer) present(ctx context.Context, p *peer) {
	a := &p.absence
	a.mu.Lock()
	defer a.mu.Unlock()
	if d.recall(ctx, p) && !a.since.IsZero() && d.keep(ctx, p, nil) {
		a.since = time.Time{}
	}
}

// recall reads what is kept, once. The caller holds the lock.
func (d *Drainer) recall(ctx context.Context, p *peer) (ok bool) {
	if p.absence.known {
		return true
	}
	bounded, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	data, err := d.o.Marks.Cursor(bounded, absenceMark(p))
	if err != nil {
		d.o.Log.WarnContext(ctx, "it cannot be read since when an agent is out of order", "agent", p.address, "error", err)
		return false
	}
	p.absence.known = true
	// Empty, or not to be read: it is in order.
	p.absence.since, _ = time.Parse(time.RFC3339Nano, string(data))
	return true
}

// keep keeps since when an agent is out of order; nil: it is not. The caller holds the lock.
func (d *Drainer) keep(ctx context.Context, p *peer, data []byte) (ok bool) {
	bounded, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	err := d.o.Marks.SaveCursor(bounded, absenceMark(p), data)
	if err != nil {
		d.o.Log.WarnContext(ctx, "it cannot be kept since when an agent is out of order", "agent", p.address, "error", err)
	}
	return err == nil
}

// overdue reports whether a task of an agent that is out of order has waited long enough:
// as long as nobody sees it, nobody does anything about it.
func (d *Drainer) overdue(ctx context.Context, p *peer, claim queue.Claim) bool {
	return d.absent(ctx, p) > outageEnd && time.Since(claim.Enqueued) > outageEnd
}

// bury gives up tasks of an agent that nobody has reached for so long.
func (d *Drainer) bury(ctx context.Context, p *peer, said string) {
	for n := 0; n < maxCap && d.absent(ctx, p) > outageEnd; n++ {
		claim, ok := d.claim(ctx, p)
		if !ok {
			return
		}
		ref := queue.Ref{ID: claim.ID, Attempt: claim.Attempt, By: d.o.Owner}
		if !d.overdue(ctx, p, claim) {
			d.giveBack(ctx, ref, outageMost)
			return
		}
		d.giveUp(ctx, p, ref, noDecision(said))
	}
}

// noDecision says why a task fails whose agent was out of order all the time.
func noDecision(said string) string {
	return fmt.Sprintf("given up: the agent gave no decision for %d hours; the last time: %s", int(outageEnd.Hours()), said)
}

// giveUp fails a task that is claimed. One that cannot be failed is asked about again when
// its claim has run out.
func (d *Drainer) giveUp(ctx context.Context, p *peer, ref queue.Ref, reason string) {
	p.standing.forget(ref.ID)
	err := d.insist(ctx, func(ctx context.Context) error { return d.o.Queue.GiveUp(ctx, ref, reason) })
	if err != nil {
		d.o.Log.WarnContext(ctx, "a task could not be given up; its claim runs out", "task", ref.ID, "error", err)
		return
	}
	d.o.Log.WarnContext(ctx, "a task was given up", "task", ref.ID, "agent", p.address, "reason", reason)
	d.o.Observe(Observation{Event: Requeued, Status: string(queue.Failed), Agent: p.address, N: 1})
}
