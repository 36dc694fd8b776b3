package queue

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// LeaseDecisions implements [Queue].
func (q *InMemory) LeaseDecisions(ctx context.Context, o DrainOptions) ([]Decision, error) {
	if err := o.Check(); err != nil {
		return nil, fmt.Errorf("lease decisions: %w", err)
	}
	return locked(ctx, q, func(now time.Time) (list []Decision, _ error) {
		busy := map[string]bool{}
		for _, t := range q.tasks {
			busy[t.lane()] = busy[t.lane()] || t.Draining
		}
		for _, t := range q.tasks {
			free := t.State == Completed && t.ready(now) && !q.paused(t) && (t.lane() == "" || !busy[t.lane()])
			if free && len(list) < o.Limit {
				busy[t.lane()] = true
				list = append(list, t.lease(now, o))
			}
		}
		return list, nil
	})
}

// Renew implements [Queue].
func (q *InMemory) Renew(ctx context.Context, l Lease, d time.Duration) (until time.Time, err error) {
	if err := (ClaimOptions{Lease: d}).Check(); err != nil {
		return time.Time{}, fmt.Errorf("extend a lease: %w", err)
	}
	err = q.leased(ctx, l, func(t *task, now time.Time) {
		until = now.Add(d)
		t.Until = until
	})
	return until, err
}

// MarkDone implements [Queue].
func (q *InMemory) MarkDone(ctx context.Context, l Lease, report []byte) error {
	if err := CheckSize("report", report); err != nil {
		return fmt.Errorf("end a task: %w", err)
	}
	return q.leased(ctx, l, func(t *task, now time.Time) {
		t.report = slices.Clone(report)
		q.end(t, now, Done, "")
	})
}

// Fail implements [Queue].
func (q *InMemory) Fail(ctx context.Context, l Lease, reason string, report []byte) error {
	if err := CheckSize("report", report); err != nil {
		return fmt.Errorf("fail a task: %w", err)
	}
	return q.leased(ctx, l, func(t *task, now time.Time) {
		t.report = slices.Clone(report)
		q.end(t, now, Failed, reason)
	})
}

// ReleaseLease implements [Queue].
func (q *InMemory) ReleaseLease(ctx context.Context, l Lease, p Postponement) error {
	return q.leased(ctx, l, func(t *task, now time.Time) {
		t.Draining, t.Until, t.Reason = false, time.Time{}, CleanText(p.Reason)
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

// RequeueStale implements [Queue].
func (q *InMemory) RequeueStale(ctx context.Context, l Limits) ([]Requeued, error) {
	return locked(ctx, q, func(now time.Time) (list []Requeued, _ error) {
		for _, t := range q.tasks {
			decided := t.State == Completed
			if l.MaxClaim > 0 && t.State == Claimed && !t.expired(now) && now.Sub(t.Claimed) >= l.MaxClaim {
				t.Until = now
			}
			switch {
			case t.exhaust(now, l):
				q.ended(t, now, decided)
			case !t.requeue(now):
				continue
			}
			q.watchers.notify(t)
			list = append(list, Requeued{ID: t.ID, Agent: t.Agent, State: t.State})
		}
		return list, nil
	})
}

// RequeueLeases implements [Queue]. All leases belong to this process.
func (q *InMemory) RequeueLeases(ctx context.Context, drains int) (LeaseCheck, error) {
	list, err := locked(ctx, q, func(now time.Time) (list []Requeued, _ error) {
		for _, t := range q.tasks {
			if !t.Draining {
				continue
			}
			switch {
			case t.exhaust(now, Limits{Drains: drains}):
				q.ended(t, now, true)
			case !t.requeue(now):
				continue
			}
			q.watchers.notify(t)
			list = append(list, Requeued{ID: t.ID, Agent: t.Agent, State: t.State})
		}
		return list, nil
	})
	return LeaseCheck{Requeued: list}, err
}

// ExtendClaims implements [Queue].
func (q *InMemory) ExtendClaims(ctx context.Context, d time.Duration) (int, error) {
	return locked(ctx, q, func(now time.Time) (n int, _ error) {
		for _, t := range q.tasks {
			if t.State == Claimed && t.Until.Before(now.Add(d)) {
				t.Until = now.Add(d)
				n++
			}
		}
		return n, nil
	})
}
