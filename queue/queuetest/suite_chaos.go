package queuetest

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/org/foreman-action/queue"
)

// How much happens at once, and how often.
const (
	chaosCallers = 8
	chaosRounds  = 15
	chaosIssues  = 3
	chaosTasks   = 30
)

// chaos is all calls at once, about few tasks of few issues.
type chaos struct {
	*rig

	added, purged atomic.Int64
}

// parallelChaos makes all calls at once, while claims and leases run out: none of them
// fails, and in the end each task is there once, or was purged.
func parallelChaos(r *rig) {
	c := &chaos{rig: r}
	c.race(chaosCallers, func(i int, q queue.Queue) {
		for round := range chaosRounds {
			for n, call := range c.calls(q, i, round) {
				c.ok(n, call())
			}
			c.clock.Advance(time.Second)
		}
	})
	left := 0
	for _, n := range c.stats().States {
		left += n
	}
	if all := int(c.added.Load()); left+int(c.purged.Load()) != all {
		c.Errorf("%d tasks were added, %d purged, and %d are left", all, c.purged.Load(), left)
	}
}

// ok makes sure that a call had no error, or one that says who came first.
func (c *chaos) ok(n int, err error) {
	c.Helper()
	for _, fine := range []error{nil, queue.ErrEmpty, queue.ErrLost, queue.ErrState, queue.ErrNotFound} {
		if errors.Is(err, fine) {
			return
		}
	}
	c.Errorf("call %d: %v", n, err)
}

// calls are those that one caller makes in a round.
func (c *chaos) calls(q queue.Queue, caller, round int) []func() error {
	ctx, name := c.Context(), func(n int) string { return fmt.Sprint("chaos-", n%chaosTasks) }
	n := caller*chaosRounds + round
	return []func() error{
		func() error { return c.enqueue(q, n) },
		func() error {
			claim, err := q.ClaimNext(ctx, agent, queue.ClaimOptions{Lease: 5 * time.Second})
			if err == nil && n%3 == 0 {
				return q.GiveBack(ctx, queue.Ref{ID: claim.ID, Attempt: claim.Attempt}, time.Second)
			}
			return err
		},
		func() error { _, err := q.Complete(ctx, queue.Ref{ID: name(n * 7)}, []byte("{}")); return err },
		func() error { return c.drain(q, n) },
		func() error { _, err := q.RequeueStale(ctx, queue.Limits{Claims: 3, Drains: 2}); return err },
		func() error { _, err := q.Grace(ctx, 3*time.Second); return err },
		func() error { _, err := q.Retry(ctx, name(n*11), "person"); return err },
		func() error {
			if n%4 > 0 {
				return nil
			}
			return q.Cancel(ctx, name(n*5), "person")
		},
		func() error {
			gone, err := q.Purge(ctx, c.clock.Now().Add(-10*time.Second), 4)
			c.purged.Add(int64(gone))
			return err
		},
	}
}

// enqueue adds a task, or one that is there already.
func (c *chaos) enqueue(q queue.Queue, n int) error {
	t := queue.Task{
		ID: fmt.Sprint("chaos-", n%chaosTasks), Agent: agent, Repo: repo, Issue: 1 + n%chaosIssues,
		Message: []byte("{}"), Dedup: fmt.Sprint("key-", n%(2*chaosTasks)), Coalesce: n%2 == 0,
	}
	if n%5 == 0 {
		t.Wait = time.Second
	}
	if n%7 == 0 {
		t.HourlyLimit = 10
	}
	got, err := q.Enqueue(c.Context(), t)
	if err == nil && got.How == queue.Added {
		c.added.Add(1)
	}
	return err
}

// drain leases decisions, and ends their leases in one way or another.
func (c *chaos) drain(q queue.Queue, n int) error {
	list, err := q.DrainCompleted(c.Context(), queue.DrainOptions{Owner: "harness", Lease: 4 * time.Second, Limit: 1 + chaosIssues})
	for i, d := range list {
		switch (n + i) % 5 {
		case 0:
			c.ok(n, q.MarkDone(c.Context(), d.Hold, []byte("report")))
		case 1:
			c.ok(n, q.Fail(c.Context(), d.Hold, "why", nil))
		case 2:
			c.ok(n, q.Release(c.Context(), d.Hold, queue.Postponement{Reason: "why"}))
		case 3:
			c.ok(n, q.Release(c.Context(), d.Hold, queue.Postponement{Wait: time.Second}))
		default: // its lease runs out
		}
	}
	return err
}
