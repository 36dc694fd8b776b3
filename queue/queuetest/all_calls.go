package queuetest

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/queue/internal/script"
)

// The numbers of concurrent callers, and of issues and task ids.
const (
	callers = 8
	issues  = 3
	taskIDs = 30
)

// allCalls calls all methods concurrently, with few tasks and few issues.
type allCalls struct {
	*store

	added, purged atomic.Int64
}

// parallelAllCalls calls all methods concurrently, while claims and leases expire. No call may
// fail, and in the end each added task must exist once, unless it was purged.
func parallelAllCalls(s *store) {
	a := &allCalls{store: s}
	rounds := 8**factor + 1 // an odd number, so that in one round the callers make different calls
	s.race(callers, func(caller int, q queue.Queue) (string, error) {
		for round := range rounds {
			for i, call := range a.calls(q, caller*rounds+round) {
				a.check(i, call())
			}
			s.Clock.Advance(time.Second)
		}
		return "", nil
	})
	stats, err := s.B.Stats(s.Context())
	s.ok("Stats", err)
	left := int64(0)
	for _, n := range stats.States {
		left += int64(n)
	}
	if left+a.purged.Load() != a.added.Load() {
		s.Errorf("%d tasks were added, %d purged, and %d are left", a.added.Load(), a.purged.Load(), left)
	}
}

// check fails the test for an error, unless the error means that another caller was faster.
func (a *allCalls) check(call int, err error) {
	a.Helper()
	if ignore(err, queue.ErrEmpty, queue.ErrLost, queue.ErrState, queue.ErrNotFound) != nil {
		a.Errorf("call %d: %v", call, err)
	}
}

// calls returns the calls that one caller makes in a round.
func (a *allCalls) calls(q queue.Queue, n int) []func() error {
	ctx, name := a.Context(), func(n int) string { return script.ID(n % taskIDs) }
	return []func() error{
		func() error { return a.enqueue(q, n) },
		func() error {
			claim, err := q.ClaimNext(ctx, script.Agent, queue.ClaimOptions{Lease: 5 * time.Second})
			if err == nil && n%3 == 0 {
				return q.ReleaseClaim(ctx, queue.Ref{ID: claim.ID, Attempt: claim.Attempt}, time.Second)
			}
			return err
		},
		func() error {
			_, err := q.ClaimNext(ctx, script.Agent, queue.ClaimOptions{Lease: 5 * time.Second, Task: name(n * 3)})
			return err
		},
		func() error { _, err := q.Complete(ctx, queue.Ref{ID: name(n * 7)}, []byte("{}")); return err },
		func() error { return a.drain(q, n) },
		func() error { _, err := q.RequeueStale(ctx, queue.Limits{Claims: 3, Drains: 2}); return err },
		func() error { _, err := q.ExtendClaims(ctx, 3*time.Second); return err },
		func() error { _, err := q.Retry(ctx, queue.Seen{ID: name(n * 11)}, "person"); return err },
		func() error { _, err := q.AskAgain(ctx, queue.Seen{ID: name(n * 13)}, "person", "why"); return err },
		func() error {
			if n%4 > 0 {
				return nil
			}
			return q.Cancel(ctx, queue.Seen{ID: name(n * 5)}, "person")
		},
		func() error {
			purged, err := q.Purge(ctx, a.Clock.Now().Add(-10*time.Second), 4)
			a.purged.Add(int64(purged))
			return err
		},
	}
}

// enqueue adds a task, which may exist already.
func (a *allCalls) enqueue(q queue.Queue, n int) error {
	t := script.Task(n%taskIDs, fmt.Sprintf("issue=%d dedup=key-%d", 1+n%issues, n%(2*taskIDs)))
	t.Coalesce = n%2 == 0
	if n%5 == 0 {
		t.Wait = time.Second
	}
	if n%7 == 0 {
		t.HourlyLimit = 10
	}
	got, err := q.Enqueue(a.Context(), t)
	if err == nil && got.Outcome == queue.Added {
		a.added.Add(1)
	}
	return err
}

// drain leases decisions, and ends each lease in one of several ways.
func (a *allCalls) drain(q queue.Queue, n int) error {
	ctx := a.Context()
	list, err := q.LeaseDecisions(ctx, queue.DrainOptions{Owner: "harness", Lease: 4 * time.Second, Limit: 1 + issues})
	for i, d := range list {
		switch (n + i) % 5 {
		case 0:
			a.check(n, q.MarkDone(ctx, d.Lease, []byte("report")))
		case 1:
			a.check(n, q.Fail(ctx, d.Lease, "why", nil))
		case 2:
			a.check(n, q.ReleaseLease(ctx, d.Lease, queue.Postponement{Reason: "why"}))
		case 3:
			a.check(n, q.ReleaseLease(ctx, d.Lease, queue.Postponement{Wait: time.Second}))
		default: // the lease expires
		}
	}
	return err
}
