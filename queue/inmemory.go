package queue

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/org/foreman-action/internal/wait"
)

// Options configure a queue in memory. The zero value uses the machine's clock.
type Options struct {
	Now func() time.Time // nil: time.Now
}

// New returns an empty queue that lasts as long as the process. Only this process can use it, and
// its tasks are lost when the process ends. The cost of a call grows linearly with the number of
// tasks, so purge those that have ended.
func New(o Options) *InMemory {
	return &InMemory{now: wait.Clock(o.Now), watchers: watchers{}}
}

// InMemory is a queue in memory with its pauses: see [New].
type InMemory struct {
	mu       sync.Mutex
	now      func() time.Time
	seq      int64
	tasks    tasks
	pauses   []Pause // the oldest first, without the numbers of tasks
	watchers watchers
}

// locked calls f with the queue locked.
func locked[T any](ctx context.Context, q *InMemory, f func(now time.Time) (T, error)) (T, error) {
	var zero T
	if err := ctx.Err(); err != nil {
		return zero, err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	return f(q.now().UTC().Truncate(time.Millisecond))
}

// claimed calls f with a task that the caller has claimed, while the queue is locked.
func (q *InMemory) claimed(ctx context.Context, ref Ref, f func(t *task, now time.Time)) error {
	_, err := locked(ctx, q, func(now time.Time) (any, error) {
		t := q.tasks.byID(ref.ID)
		switch {
		case t == nil:
			return nil, ErrNotFound
		case t.claimedByOther(ref):
			return nil, ErrNotYours
		case t.State != Claimed, ref.Attempt != 0 && ref.Attempt != t.Attempt:
			return nil, ErrLost
		}
		f(t, now)
		return nil, nil
	})
	return err
}

// leased calls f with the task of a lease, while the queue is locked.
func (q *InMemory) leased(ctx context.Context, l Lease, f func(t *task, now time.Time)) error {
	_, err := locked(ctx, q, func(now time.Time) (any, error) {
		t := q.tasks.byID(l.ID)
		if t == nil || !t.Draining || t.Epoch != l.Epoch {
			return nil, ErrLost
		}
		f(t, now)
		return nil, nil
	})
	return err
}

// end ends a task, releases the next task of its issue, and notifies the watchers.
func (q *InMemory) end(t *task, now time.Time, state State, reason string) {
	decided := t.State == Completed
	t.end(now, state, reason)
	q.ended(t, now, decided)
}

// ended releases the next task of the issue, and notifies the watchers.
func (q *InMemory) ended(t *task, now time.Time, decided bool) {
	next := q.tasks.find(func(other *task) bool {
		return other.State == Completed && !other.Draining && other.lane() == t.lane()
	})
	if decided && next != nil && t.lane() != "" {
		q.watchers.notify(next)
	}
	if next := q.tasks.releaseBehind(t); next != nil && !next.held(now) {
		q.watchers.notify(next)
	}
}

// Enqueue implements [Queue].
func (q *InMemory) Enqueue(ctx context.Context, in Task) (Enqueued, error) {
	if err := in.Check(); err != nil {
		return Enqueued{}, fmt.Errorf("enqueue a task: %w", err)
	}
	return locked(ctx, q, func(now time.Time) (Enqueued, error) {
		if old := q.tasks.duplicate(in); old != nil {
			return old.enqueued(Duplicate, now), nil
		}
		if old := q.tasks.joinable(in); old != nil && old.join(in) {
			return old.enqueued(Coalesced, now), nil
		}
		q.seq++
		t := newTask(in, q.seq, now, q.tasks.turn(in))
		q.tasks = append(q.tasks, t)
		if in.Coalesce && in.Agent != "" {
			q.tasks.holdBehind(t)
		}
		q.watchers.notify(t)
		return t.enqueued(Added, now), nil
	})
}

// Duplicate implements [Queue].
func (q *InMemory) Duplicate(ctx context.Context, dedup string) (Enqueued, error) {
	return locked(ctx, q, func(now time.Time) (Enqueued, error) {
		if old := q.tasks.duplicate(Task{Dedup: dedup}); old != nil && dedup != "" {
			return old.enqueued(Duplicate, now), nil
		}
		return Enqueued{}, ErrNotFound
	})
}

// ClaimNext implements [Queue].
func (q *InMemory) ClaimNext(ctx context.Context, agent string, o ClaimOptions) (Claim, error) {
	if err := o.Check(); err != nil {
		return Claim{}, fmt.Errorf("claim a task: %w", err)
	}
	return locked(ctx, q, func(now time.Time) (Claim, error) {
		for t := q.next(agent, o.Task, now); t != nil; t = q.next(agent, o.Task, now) {
			if Decodable(t.message) {
				return t.claim(now, o), nil
			}
			q.end(t, now, Failed, "its message is not a JSON object")
		}
		return Claim{}, ErrEmpty
	})
}

// Heartbeat implements [Queue].
func (q *InMemory) Heartbeat(ctx context.Context, ref Ref, lease time.Duration) error {
	if err := (ClaimOptions{Lease: lease}).Check(); err != nil {
		return fmt.Errorf("extend a claim: %w", err)
	}
	return q.claimed(ctx, ref, func(t *task, now time.Time) { t.Until = now.Add(lease) })
}

// FailClaim implements [Queue].
func (q *InMemory) FailClaim(ctx context.Context, ref Ref, reason string) error {
	return q.claimed(ctx, ref, func(t *task, now time.Time) {
		q.end(t, now, Failed, reason)
		t.addLog(now, "given up", t.claimedBy, t.Reason)
	})
}

// ReleaseClaim implements [Queue].
func (q *InMemory) ReleaseClaim(ctx context.Context, ref Ref, wait time.Duration) error {
	return q.claimed(ctx, ref, func(t *task, now time.Time) {
		t.State, t.Until, t.claims = Pending, time.Time{}, max(0, t.claims-1)
		t.addLog(now, "released", t.claimedBy, fmt.Sprintf("claim %d", t.Attempt))
		if wait > 0 {
			t.Ready = now.Add(wait)
			return
		}
		q.watchers.notify(t)
	})
}

// Complete implements [Queue].
func (q *InMemory) Complete(ctx context.Context, ref Ref, decision []byte) (Receipt, error) {
	if err := CheckDecision(decision); err != nil {
		return Receipt{}, fmt.Errorf("complete a task: %w", err)
	}
	return locked(ctx, q, func(now time.Time) (Receipt, error) {
		t := q.tasks.byID(ref.ID)
		if t == nil {
			return Receipt{Reason: "there is no such task"}, nil
		}
		if reason, err := t.complete(now, ref, decision); reason != "" {
			return Receipt{Reason: reason}, err
		}
		q.watchers.notify(t)
		return Receipt{Accepted: true}, nil
	})
}
