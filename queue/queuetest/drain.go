package queuetest

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/org/foreman-action/queue"
)

// lane names the issue of a task; empty: it is about none.
func (t *task) lane() string {
	if t.Info.Issue == 0 {
		return ""
	}
	return strings.ToLower(t.Info.Repo) + "#" + strconv.Itoa(t.Info.Issue)
}

// DrainCompleted implements queue.Queue.
func (q *Queue) DrainCompleted(ctx context.Context, o queue.DrainOptions) ([]queue.Decision, error) {
	if err := o.Check(); err != nil {
		return nil, fmt.Errorf("lease decisions: %w", err)
	}
	now, err := q.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer q.mu.Unlock()
	busy := map[string]bool{}
	for _, t := range q.tasks {
		if t.Draining {
			busy[t.lane()] = true
		}
	}
	var list []queue.Decision
	for _, t := range q.tasks {
		free := t.State == queue.Completed && !t.Draining && !t.held(now)
		if !free || t.lane() != "" && busy[t.lane()] || len(list) == o.Limit {
			continue
		}
		busy[t.lane()] = true
		t.Draining, t.Owner, t.Until, t.Ready = true, queue.CleanText(o.Owner), now.Add(o.Lease), time.Time{}
		t.epoch++
		list = append(list, queue.Decision{
			Hold: queue.Hold{ID: t.id(), Epoch: t.epoch}, Until: t.Until,
			Agent: t.Info.Agent, Repo: t.Info.Repo, Issue: t.Info.Issue,
			Message: slices.Clone(t.Message), Origin: slices.Clone(t.Origin), Result: slices.Clone(t.result),
			Tries: t.Tries, Enqueued: t.Enqueued, Completed: t.Completed,
		})
	}
	return list, nil
}

// hold locks the queue and returns the task under a lease. The caller unlocks it if
// there is no error.
func (q *Queue) hold(ctx context.Context, h queue.Hold) (*task, time.Time, error) {
	now, err := q.begin(ctx)
	if err != nil {
		return nil, now, err
	}
	t := q.byID(h.ID)
	if t == nil || !t.Draining || t.epoch != h.Epoch {
		q.mu.Unlock()
		return nil, now, queue.ErrLost
	}
	return t, now, nil
}

// Renew implements queue.Queue.
func (q *Queue) Renew(ctx context.Context, h queue.Hold, d time.Duration) (time.Time, error) {
	if err := (queue.ClaimOptions{Lease: d}).Check(); err != nil {
		return time.Time{}, fmt.Errorf("extend a lease: %w", err)
	}
	t, now, err := q.hold(ctx, h)
	if err != nil {
		return time.Time{}, err
	}
	defer q.mu.Unlock()
	t.Until = now.Add(d)
	return t.Until, nil
}

// MarkDone implements queue.Queue.
func (q *Queue) MarkDone(ctx context.Context, h queue.Hold, report []byte) error {
	if err := queue.CheckSize("report", report); err != nil {
		return fmt.Errorf("end a task: %w", err)
	}
	t, now, err := q.hold(ctx, h)
	if err != nil {
		return err
	}
	defer q.mu.Unlock()
	t.State, t.Ended, t.Reason, t.report = queue.Done, now, "", slices.Clone(report)
	t.Draining, t.Until = false, time.Time{}
	q.tellLane(t)
	q.free(t, now)
	return nil
}

// Fail implements queue.Queue.
func (q *Queue) Fail(ctx context.Context, h queue.Hold, reason string, report []byte) error {
	if err := queue.CheckSize("report", report); err != nil {
		return fmt.Errorf("fail a task: %w", err)
	}
	t, now, err := q.hold(ctx, h)
	if err != nil {
		return err
	}
	defer q.mu.Unlock()
	q.fail(t, now, reason)
	t.report = slices.Clone(report)
	q.tellLane(t)
	return nil
}

// Release implements queue.Queue.
func (q *Queue) Release(ctx context.Context, h queue.Hold, p queue.Postponement) error {
	t, now, err := q.hold(ctx, h)
	if err != nil {
		return err
	}
	defer q.mu.Unlock()
	t.Draining, t.Until, t.Reason = false, time.Time{}, queue.CleanText(p.Reason)
	if p.Wait > 0 {
		t.Ready = now.Add(p.Wait)
	}
	if !p.Free {
		t.Tries++
	}
	t.note(now, "given back", t.Owner, p.Reason)
	q.tell(t)
	return nil
}

// RequeueStale implements queue.Queue.
func (q *Queue) RequeueStale(ctx context.Context, l queue.Limits) ([]queue.Swept, error) {
	now, err := q.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer q.mu.Unlock()
	var list []queue.Swept
	for _, t := range q.tasks {
		if q.exhaust(t, now, l) || t.requeue(now) {
			q.tell(t)
			list = append(list, queue.Swept{ID: t.id(), Agent: t.Info.Agent, State: t.State})
		}
	}
	return list, nil
}

// exhaust fails a task that was handed out as often as the limits allow, and reports
// whether it was.
func (q *Queue) exhaust(t *task, now time.Time, l queue.Limits) bool {
	over := !t.Until.IsZero() && !t.Until.After(now)
	tries := t.Tries
	if t.Draining {
		tries++
	}
	switch {
	case l.Claims > 0 && t.claims >= l.Claims && (t.State == queue.Pending || t.State == queue.Claimed && over):
		q.fail(t, now, fmt.Sprintf("given up: handed out %d times, and no decision came", t.claims))
	case l.Drains > 0 && tries >= l.Drains && t.State == queue.Completed && (!t.Draining || over):
		t.Tries = tries
		q.fail(t, now, fmt.Sprintf("given up: could not be carried out in %d tries: %s", tries, t.Reason))
		q.tellLane(t)
	default:
		return false
	}
	t.note(now, "given up", "", t.Reason)
	return true
}

// requeue takes up a task whose claim or lease ran out, and reports whether it did.
func (t *task) requeue(now time.Time) bool {
	if t.Until.IsZero() || t.Until.After(now) {
		return false
	}
	t.Until = time.Time{}
	if t.Draining {
		t.Draining = false
		t.Tries++
		t.note(now, "lease ran out", t.Owner, "")
	} else {
		t.State = queue.Pending
		t.note(now, "requeued", t.claimedBy, "the claim ran out")
	}
	return true
}

// Grace implements queue.Queue.
func (q *Queue) Grace(ctx context.Context, d time.Duration) (int, error) {
	now, err := q.begin(ctx)
	if err != nil {
		return 0, err
	}
	defer q.mu.Unlock()
	n := 0
	for _, t := range q.tasks {
		if t.State == queue.Claimed && t.Until.Before(now.Add(d)) {
			t.Until = now.Add(d)
			n++
		}
	}
	return n, nil
}
