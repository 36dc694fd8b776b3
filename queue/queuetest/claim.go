package queuetest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/org/foreman-action/queue"
)

// ClaimNext implements queue.Queue.
func (q *Queue) ClaimNext(ctx context.Context, agent string, o queue.ClaimOptions) (queue.Claim, error) {
	if err := o.Check(); err != nil {
		return queue.Claim{}, fmt.Errorf("claim a task: %w", err)
	}
	now, err := q.begin(ctx)
	if err != nil {
		return queue.Claim{}, err
	}
	defer q.mu.Unlock()
	for list := q.waiting(agent, now); len(list) > 0; list = q.waiting(agent, now) {
		t := list[0]
		if !queue.Decodable(t.Message) {
			q.fail(t, now, "its message is no JSON object")
			continue
		}
		t.State, t.claimedBy, t.Owner = queue.Claimed, queue.CleanText(o.By), queue.CleanText(o.By)
		t.Attempt++
		t.claims++
		t.Claimed, t.Until, t.Ready = now, now.Add(o.Lease), time.Time{}
		return queue.Claim{
			ID: t.id(), Message: slices.Clone(t.Message), Origin: slices.Clone(t.Origin),
			Attempt: t.Attempt, Until: t.Until, Enqueued: t.Enqueued, Waited: t.waited,
		}, nil
	}
	return queue.Claim{}, queue.ErrEmpty
}

// waiting returns the tasks that an agent may claim, in the order in which it does.
func (q *Queue) waiting(agent string, now time.Time) []*task {
	var list []*task
	for _, t := range q.tasks {
		if t.State == queue.Pending && t.Info.Agent == agent && !t.held(now) {
			list = append(list, t)
		}
	}
	slices.SortStableFunc(list, func(a, b *task) int { return cmp.Compare(b.Info.Priority, a.Info.Priority) })
	return list
}

// fail ends a task.
func (q *Queue) fail(t *task, now time.Time, reason string) {
	t.State, t.Ended, t.Reason = queue.Failed, now, queue.CleanText(reason)
	t.Draining, t.Until, t.Ready, t.Behind = false, time.Time{}, time.Time{}, ""
	q.free(t, now)
}

// Heartbeat implements queue.Queue.
func (q *Queue) Heartbeat(ctx context.Context, ref queue.Ref, lease time.Duration) error {
	if err := (queue.ClaimOptions{Lease: lease}).Check(); err != nil {
		return fmt.Errorf("extend a claim: %w", err)
	}
	now, err := q.begin(ctx)
	if err != nil {
		return err
	}
	defer q.mu.Unlock()
	t, err := q.claimed(ref)
	if err != nil {
		return err
	}
	t.Until = now.Add(lease)
	return nil
}

// claimed returns a task that is the caller's. The queue is locked.
func (q *Queue) claimed(ref queue.Ref) (*task, error) {
	t := q.byID(ref.ID)
	switch {
	case t == nil:
		return nil, queue.ErrNotFound
	case t.foreign(ref):
		return nil, queue.ErrNotYours
	case t.State != queue.Claimed, ref.Attempt != 0 && ref.Attempt != t.Attempt:
		return nil, queue.ErrLost
	}
	return t, nil
}

// GiveUp implements queue.Queue.
func (q *Queue) GiveUp(ctx context.Context, ref queue.Ref, reason string) error {
	now, err := q.begin(ctx)
	if err != nil {
		return err
	}
	defer q.mu.Unlock()
	t, err := q.claimed(ref)
	if err != nil {
		return err
	}
	q.fail(t, now, reason)
	t.note(now, "given up", t.claimedBy, t.Reason)
	return nil
}

// GiveBack implements queue.Queue.
func (q *Queue) GiveBack(ctx context.Context, ref queue.Ref, wait time.Duration) error {
	now, err := q.begin(ctx)
	if err != nil {
		return err
	}
	defer q.mu.Unlock()
	t, err := q.claimed(ref)
	if err != nil {
		return err
	}
	t.State, t.Until, t.claims = queue.Pending, time.Time{}, max(0, t.claims-1)
	t.note(now, "given back", t.claimedBy, fmt.Sprintf("claim %d", t.Attempt))
	if wait > 0 {
		t.Ready = now.Add(wait)
		return nil
	}
	q.tell(t)
	return nil
}

// foreign reports whether somebody else claimed the task.
func (t *task) foreign(ref queue.Ref) bool {
	return ref.By != "" && queue.CleanText(ref.By) != t.claimedBy
}

// Complete implements queue.Queue.
func (q *Queue) Complete(ctx context.Context, ref queue.Ref, decision []byte) (queue.Receipt, error) {
	if err := queue.CheckDecision(decision); err != nil {
		return queue.Receipt{}, fmt.Errorf("complete a task: %w", err)
	}
	now, err := q.begin(ctx)
	if err != nil {
		return queue.Receipt{}, err
	}
	defer q.mu.Unlock()
	t := q.byID(ref.ID)
	if t == nil {
		return queue.Receipt{Reason: "there is no such task"}, nil
	}
	var reason string
	switch {
	case t.foreign(ref):
		reason, err = "it was claimed by somebody else", queue.ErrNotYours
	case t.State == queue.Failed:
		reason = "the task failed before"
	case t.State != queue.Pending && t.State != queue.Claimed:
		reason = "the task is decided on already"
	case ref.Attempt != 0 && ref.Attempt != t.Attempt && t.State == queue.Claimed:
		reason, err = "the task was given to another attempt", queue.ErrLost
	}
	if reason != "" {
		t.note(now, "decision not accepted", ref.By, reason+": "+string(decision))
		return queue.Receipt{Reason: reason}, err
	}
	t.State, t.decided, t.result, t.Completed = queue.Completed, true, slices.Clone(decision), now
	t.Until, t.Ready, t.Reason, t.Behind = time.Time{}, time.Time{}, "", ""
	q.tell(t)
	return queue.Receipt{Accepted: true}, nil
}
