// Package queuetest provides an in-memory queue.Queue for tests. Its subpackage conformance
// contains the tests that every implementation of queue.Queue must pass.
package queuetest

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/org/foreman-action/queue"
)

// Options configure a Queue. The zero value uses the machine's clock.
type Options struct {
	Now func() time.Time // nil: time.Now
}

// A Queue is an in-memory queue.Queue and queue.Slots. The cost of a call grows linearly with the
// number of tasks.
type Queue struct {
	mu       sync.Mutex
	now      func() time.Time
	seq      int64
	tasks    tasks
	watchers watchers
	slots    map[string][]time.Time // by account, sorted
	broken   error
}

var (
	_ queue.Queue = (*Queue)(nil)
	_ queue.Slots = (*Queue)(nil)
)

// New returns an empty queue.
func New(o Options) *Queue {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Queue{now: o.Now, watchers: watchers{}, slots: map[string][]time.Time{}}
}

// Break makes every method that can fail return err, without changing anything. Break(nil) ends
// that.
func (q *Queue) Break(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.broken = err
}

// locked calls f with the queue locked.
func locked[T any](ctx context.Context, q *Queue, f func(now time.Time) (T, error)) (T, error) {
	var zero T
	if err := ctx.Err(); err != nil {
		return zero, err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.broken != nil {
		return zero, q.broken
	}
	return f(q.now().UTC().Truncate(time.Millisecond))
}

// claimed calls f with a task that the caller has claimed, while the queue is locked.
func (q *Queue) claimed(ctx context.Context, ref queue.Ref, f func(t *task, now time.Time)) error {
	_, err := locked(ctx, q, func(now time.Time) (any, error) {
		t := q.tasks.byID(ref.ID)
		switch {
		case t == nil:
			return nil, queue.ErrNotFound
		case t.claimedByOther(ref):
			return nil, queue.ErrNotYours
		case t.State != queue.Claimed, ref.Attempt != 0 && ref.Attempt != t.Attempt:
			return nil, queue.ErrLost
		}
		f(t, now)
		return nil, nil
	})
	return err
}

// leased calls f with the task of a lease, while the queue is locked.
func (q *Queue) leased(ctx context.Context, l queue.Lease, f func(t *task, now time.Time)) error {
	_, err := locked(ctx, q, func(now time.Time) (any, error) {
		t := q.tasks.byID(l.ID)
		if t == nil || !t.Draining || t.epoch != l.Epoch {
			return nil, queue.ErrLost
		}
		f(t, now)
		return nil, nil
	})
	return err
}

// end ends a task, releases the next task of its issue, and notifies the watchers.
func (q *Queue) end(t *task, now time.Time, state queue.State, reason string) {
	decided := t.State == queue.Completed
	t.end(now, state, reason)
	q.ended(t, now, decided)
}

// ended releases the next task of the issue, and notifies the watchers.
func (q *Queue) ended(t *task, now time.Time, decided bool) {
	next := q.tasks.find(func(other *task) bool {
		return other.State == queue.Completed && !other.Draining && other.lane() == t.lane()
	})
	if decided && next != nil && t.lane() != "" {
		q.watchers.notify(next)
	}
	if next := q.tasks.releaseBehind(t); next != nil && !next.held(now) {
		q.watchers.notify(next)
	}
}

// Enqueue implements queue.Queue.
func (q *Queue) Enqueue(ctx context.Context, in queue.Task) (queue.Enqueued, error) {
	if err := in.Check(); err != nil {
		return queue.Enqueued{}, fmt.Errorf("enqueue a task: %w", err)
	}
	return locked(ctx, q, func(now time.Time) (queue.Enqueued, error) {
		if old := q.tasks.duplicate(in); old != nil {
			return old.enqueued(queue.Duplicate, now), nil
		}
		if old := q.tasks.joinable(in); old != nil && old.join(in) {
			return old.enqueued(queue.Coalesced, now), nil
		}
		q.seq++
		t := newTask(in, q.seq, now, q.tasks.turn(in))
		q.tasks = append(q.tasks, t)
		if in.Coalesce && in.Agent != "" {
			q.tasks.holdBehind(t)
		}
		q.watchers.notify(t)
		return t.enqueued(queue.Added, now), nil
	})
}

// Duplicate implements queue.Queue.
func (q *Queue) Duplicate(ctx context.Context, dedup string) (queue.Enqueued, error) {
	return locked(ctx, q, func(now time.Time) (queue.Enqueued, error) {
		if old := q.tasks.duplicate(queue.Task{Dedup: dedup}); old != nil && dedup != "" {
			return old.enqueued(queue.Duplicate, now), nil
		}
		return queue.Enqueued{}, queue.ErrNotFound
	})
}

// ClaimNext implements queue.Queue.
func (q *Queue) ClaimNext(ctx context.Context, agent string, o queue.ClaimOptions) (queue.Claim, error) {
	if err := o.Check(); err != nil {
		return queue.Claim{}, fmt.Errorf("claim a task: %w", err)
	}
	return locked(ctx, q, func(now time.Time) (queue.Claim, error) {
		for t := q.tasks.next(agent, o.Task, now); t != nil; t = q.tasks.next(agent, o.Task, now) {
			if queue.Decodable(t.message) {
				return t.claim(now, o), nil
			}
			q.end(t, now, queue.Failed, "its message is not a JSON object")
		}
		return queue.Claim{}, queue.ErrEmpty
	})
}

// Heartbeat implements queue.Queue.
func (q *Queue) Heartbeat(ctx context.Context, ref queue.Ref, lease time.Duration) error {
	if err := (queue.ClaimOptions{Lease: lease}).Check(); err != nil {
		return fmt.Errorf("extend a claim: %w", err)
	}
	return q.claimed(ctx, ref, func(t *task, now time.Time) { t.Until = now.Add(lease) })
}

// FailClaim implements queue.Queue.
func (q *Queue) FailClaim(ctx context.Context, ref queue.Ref, reason string) error {
	return q.claimed(ctx, ref, func(t *task, now time.Time) {
		q.end(t, now, queue.Failed, reason)
		t.addLog(now, "given up", t.claimedBy, t.Reason)
	})
}

// ReleaseClaim implements queue.Queue.
func (q *Queue) ReleaseClaim(ctx context.Context, ref queue.Ref, wait time.Duration) error {
	return q.claimed(ctx, ref, func(t *task, now time.Time) {
		t.State, t.Until, t.claims = queue.Pending, time.Time{}, max(0, t.claims-1)
		t.addLog(now, "released", t.claimedBy, fmt.Sprintf("claim %d", t.Attempt))
		if wait > 0 {
			t.Ready = now.Add(wait)
			return
		}
		q.watchers.notify(t)
	})
}

// Complete implements queue.Queue.
func (q *Queue) Complete(ctx context.Context, ref queue.Ref, decision []byte) (queue.Receipt, error) {
	if err := queue.CheckDecision(decision); err != nil {
		return queue.Receipt{}, fmt.Errorf("complete a task: %w", err)
	}
	return locked(ctx, q, func(now time.Time) (queue.Receipt, error) {
		t := q.tasks.byID(ref.ID)
		if t == nil {
			return queue.Receipt{Reason: "there is no such task"}, nil
		}
		if reason, err := t.complete(now, ref, decision); reason != "" {
			return queue.Receipt{Reason: reason}, err
		}
		q.watchers.notify(t)
		return queue.Receipt{Accepted: true}, nil
	})
}
