package queuetest

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/org/foreman-action/queue"
)

// Stats implements queue.Queue.
func (q *Queue) Stats(ctx context.Context) (queue.Stats, error) {
	return locked(ctx, q, func(now time.Time) (queue.Stats, error) { return q.tasks.stats(now), nil })
}

// Backlog implements queue.Queue.
func (q *Queue) Backlog(ctx context.Context, n int) ([]queue.Backlog, error) {
	return locked(ctx, q, func(now time.Time) (list []queue.Backlog, _ error) {
		for _, a := range q.tasks.stats(now).Agents {
			claimable := q.tasks.claimable(a.Agent, now)
			if len(claimable) == 0 {
				continue
			}
			b := queue.Backlog{Agent: a.Agent, Pending: min(len(claimable), queue.MaxBacklog), Claimed: a.Claimed}
			for _, t := range claimable[:min(max(n, 0), len(claimable))] {
				b.IDs = append(b.IDs, t.ID)
			}
			list = append(list, b)
		}
		return list, nil
	})
}

// List implements queue.Queue.
func (q *Queue) List(ctx context.Context, f queue.Filter) ([]queue.Info, error) {
	return locked(ctx, q, func(now time.Time) (list []queue.Info, _ error) {
		limit := min(f.Limit, 1000)
		if limit <= 0 {
			limit = 100
		}
		for _, t := range q.tasks.matching(f, limit) {
			list = append(list, t.info(now))
		}
		return list, nil
	})
}

// Inspect implements queue.Queue.
func (q *Queue) Inspect(ctx context.Context, id string) (queue.Details, error) {
	return locked(ctx, q, func(now time.Time) (queue.Details, error) {
		t := q.tasks.byID(id)
		if t == nil {
			return queue.Details{}, queue.ErrNotFound
		}
		return queue.Details{
			Info: t.info(now), Message: slices.Clone(t.message), Origin: slices.Clone(t.origin),
			Result: slices.Clone(t.result), Report: slices.Clone(t.report), Log: slices.Clone(t.log),
		}, nil
	})
}

// Retry implements queue.Queue.
func (q *Queue) Retry(ctx context.Context, id, by string) (queue.State, error) {
	return locked(ctx, q, func(now time.Time) (queue.State, error) {
		t := q.tasks.byID(id)
		if t == nil {
			return "", queue.ErrNotFound
		}
		failed := t.State == queue.Failed
		if err := t.retry(now); err != nil {
			return "", err
		}
		if failed && t.State == queue.Pending && t.coalesces {
			q.tasks.holdBehind(t)
		}
		t.addLog(now, "retried", by, "")
		q.watchers.notify(t)
		return t.State, nil
	})
}

// AskAgain implements queue.Queue.
func (q *Queue) AskAgain(ctx context.Context, id, by, reason string) (queue.State, error) {
	return locked(ctx, q, func(now time.Time) (queue.State, error) {
		t := q.tasks.byID(id)
		if t == nil {
			return "", queue.ErrNotFound
		}
		if err := t.ask(now); err != nil {
			return "", err
		}
		if t.State == queue.Pending && t.coalesces {
			q.tasks.holdBehind(t)
		}
		t.addLog(now, "asked again", by, queue.AskText(t.Attempt, reason))
		q.watchers.notify(t)
		return t.State, nil
	})
}

// Cancel implements queue.Queue.
func (q *Queue) Cancel(ctx context.Context, id, by string) error {
	_, err := locked(ctx, q, func(now time.Time) (any, error) {
		t := q.tasks.byID(id)
		switch {
		case t == nil:
			return nil, queue.ErrNotFound
		case t.Draining:
			return nil, fmt.Errorf("%w: it is being carried out", queue.ErrState)
		case t.ended():
			return nil, fmt.Errorf("%w: it is %s", queue.ErrState, t.State)
		}
		q.end(t, now, queue.Failed, "cancelled by "+by)
		if t.Attempt == 0 {
			t.slot = time.Time{}
		}
		t.addLog(now, "cancelled", by, "")
		return nil, nil
	})
	return err
}

// Purge implements queue.Queue.
func (q *Queue) Purge(ctx context.Context, before time.Time, limit int) (int, error) {
	return locked(ctx, q, func(time.Time) (n int, _ error) {
		q.tasks = slices.DeleteFunc(q.tasks, func(t *task) bool {
			if n >= limit || t.Ended.IsZero() || !t.Ended.Before(before) {
				return false
			}
			n++
			return true
		})
		return n, nil
	})
}

// Watch implements queue.Queue. It reports changes by all users of this queue.
func (q *Queue) Watch() (changes <-chan queue.Change, stop func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	c := q.watchers.add()
	return c, func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.watchers.remove(c)
	}
}

// watchers are the channels of Watch.
type watchers map[chan queue.Change]bool

func (w watchers) add() chan queue.Change {
	c := make(chan queue.Change, 64)
	w[c] = true
	return c
}

func (w watchers) remove(c chan queue.Change) {
	if w[c] {
		delete(w, c)
		close(c)
	}
}

// notify sends a hint that a task may have become ready.
func (w watchers) notify(t *task) {
	change := queue.Change{}
	if t.State == queue.Pending {
		change.Agent = t.Agent
	}
	for c := range w {
		select {
		case c <- change:
		default: // the reader has not received the previous hints yet
		}
	}
}
