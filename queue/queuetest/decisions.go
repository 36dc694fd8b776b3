package queuetest

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/org/foreman-action/queue"
)

// LeaseDecisions implements queue.Queue.
func (q *Queue) LeaseDecisions(ctx context.Context, o queue.DrainOptions) ([]queue.Decision, error) {
	if err := o.Check(); err != nil {
		return nil, fmt.Errorf("lease decisions: %w", err)
	}
	return locked(ctx, q, func(now time.Time) (list []queue.Decision, _ error) {
		busy := map[string]bool{}
		for _, t := range q.tasks {
			busy[t.lane()] = busy[t.lane()] || t.Draining
		}
		for _, t := range q.tasks {
			free := t.State == queue.Completed && !t.Draining && !t.held(now) && (t.lane() == "" || !busy[t.lane()])
			if free && len(list) < o.Limit {
				busy[t.lane()] = true
				list = append(list, t.lease(now, o))
			}
		}
		return list, nil
	})
}

// Renew implements queue.Queue.
func (q *Queue) Renew(ctx context.Context, l queue.Lease, d time.Duration) (until time.Time, err error) {
	if err := (queue.ClaimOptions{Lease: d}).Check(); err != nil {
		return time.Time{}, fmt.Errorf("extend a lease: %w", err)
	}
	err = q.leased(ctx, l, func(t *task, now time.Time) {
		until = now.Add(d)
		t.Until = until
	})
	return until, err
}

// MarkDone implements queue.Queue.
func (q *Queue) MarkDone(ctx context.Context, l queue.Lease, report []byte) error {
	if err := queue.CheckSize("report", report); err != nil {
		return fmt.Errorf("end a task: %w", err)
	}
	return q.leased(ctx, l, func(t *task, now time.Time) {
		t.report = slices.Clone(report)
		q.end(t, now, queue.Done, "")
	})
}

// Fail implements queue.Queue.
func (q *Queue) Fail(ctx context.Context, l queue.Lease, reason string, report []byte) error {
	if err := queue.CheckSize("report", report); err != nil {
		return fmt.Errorf("fail a task: %w", err)
	}
	return q.leased(ctx, l, func(t *task, now time.Time) {
		t.report = slices.Clone(report)
		q.end(t, now, queue.Failed, reason)
	})
}

// ReleaseLease implements queue.Queue.
func (q *Queue) ReleaseLease(ctx context.Context, l queue.Lease, p queue.Postponement) error {
	return q.leased(ctx, l, func(t *task, now time.Time) {
		t.Draining, t.Until, t.Reason = false, time.Time{}, queue.CleanText(p.Reason)
		if p.Wait > 0 {
			t.Ready = now.Add(p.Wait)
		}
		if !p.Free {
			t.Tries++
		}
		t.addLog(now, "released", t.Owner, p.Reason)
		q.watchers.notify(t)
	})
}

// RequeueStale implements queue.Queue.
func (q *Queue) RequeueStale(ctx context.Context, l queue.Limits) ([]queue.Requeued, error) {
	return locked(ctx, q, func(now time.Time) (list []queue.Requeued, _ error) {
		for _, t := range q.tasks {
			decided := t.State == queue.Completed
			if l.MaxClaim > 0 && t.State == queue.Claimed && !t.expired(now) && now.Sub(t.Claimed) >= l.MaxClaim {
				t.Until = now
			}
			switch {
			case t.exhaust(now, l):
				q.ended(t, now, decided)
			case !t.requeue(now):
				continue
			}
			q.watchers.notify(t)
			list = append(list, queue.Requeued{ID: t.ID, Agent: t.Agent, State: t.State})
		}
		return list, nil
	})
}

// RequeueLeases implements queue.Queue. All leases belong to this process.
func (q *Queue) RequeueLeases(ctx context.Context, drains int) (queue.LeaseCheck, error) {
	list, err := locked(ctx, q, func(now time.Time) (list []queue.Requeued, _ error) {
		for _, t := range q.tasks {
			if !t.Draining {
				continue
			}
			switch {
			case t.exhaust(now, queue.Limits{Drains: drains}):
				q.ended(t, now, true)
			case !t.requeue(now):
				continue
			}
			q.watchers.notify(t)
			list = append(list, queue.Requeued{ID: t.ID, Agent: t.Agent, State: t.State})
		}
		return list, nil
	})
	return queue.LeaseCheck{Requeued: list}, err
}

// ExtendClaims implements queue.Queue.
func (q *Queue) ExtendClaims(ctx context.Context, d time.Duration) (int, error) {
	return locked(ctx, q, func(now time.Time) (n int, _ error) {
		for _, t := range q.tasks {
			if t.State == queue.Claimed && t.Until.Before(now.Add(d)) {
				t.Until = now.Add(d)
				n++
			}
		}
		return n, nil
	})
}

// TakeSlot implements queue.Slots.
func (q *Queue) TakeSlot(ctx context.Context, r queue.SlotRequest) (wait time.Duration, ok bool, err error) {
	if err := r.Check(); err != nil {
		return 0, false, fmt.Errorf("take a slot for a write: %w", err)
	}
	wait, err = locked(ctx, q, func(now time.Time) (time.Duration, error) {
		taken := slotsTaken(q.slots[r.Identity], now, r.Missed)
		at := nextSlot(taken, now, r)
		if ok = at.Sub(now) <= r.Within; ok {
			taken = append(taken, at)
		}
		q.slots[r.Identity] = taken
		return at.Sub(now), nil
	})
	return wait, ok, err
}

// slotsTaken returns the sorted times of an account's slots and of its writes without a slot.
func slotsTaken(taken []time.Time, now time.Time, missed []time.Duration) []time.Time {
	if n := len(taken); n > 0 && taken[n-1].Sub(now) > queue.MaxSlotWait { // the clock was set back
		shift := taken[n-1].Sub(now)
		for i := range taken {
			taken[i] = taken[i].Add(-shift)
		}
	}
	for _, ago := range missed {
		taken = append(taken, now.Add(-ago))
	}
	slices.SortFunc(taken, time.Time.Compare)
	return taken
}

// nextSlot returns the first time at which a slot exceeds no limit.
func nextSlot(taken []time.Time, now time.Time, r queue.SlotRequest) time.Time {
	at := now
	for _, w := range []struct {
		n      int
		window time.Duration
	}{{1, 0}, {r.PerMinute, time.Minute}, {r.PerHour, time.Hour}} {
		if i := len(taken) - w.n; i >= 0 && taken[i].Add(w.window).After(at) {
			at = taken[i].Add(w.window)
		}
	}
	return at
}
