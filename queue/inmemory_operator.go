package queue

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// Stats implements [Queue].
func (q *InMemory) Stats(ctx context.Context) (Stats, error) {
	return locked(ctx, q, func(now time.Time) (Stats, error) { return q.tasks.stats(now), nil })
}

// Backlog implements [Queue].
func (q *InMemory) Backlog(ctx context.Context, n int) ([]Backlog, error) {
	return locked(ctx, q, func(now time.Time) (list []Backlog, _ error) {
		for _, a := range q.tasks.stats(now).Agents {
			claimable := q.claimable(a.Agent, now)
			if len(claimable) == 0 {
				continue
			}
			b := Backlog{Agent: a.Agent, Pending: min(len(claimable), MaxBacklog), Claimed: a.Claimed}
			for _, t := range claimable[:min(max(n, 0), len(claimable))] {
				b.IDs = append(b.IDs, t.ID)
			}
			list = append(list, b)
		}
		return list, nil
	})
}

// Search implements [Queue].
func (q *InMemory) Search(ctx context.Context, f Filter) (Page, error) {
	return locked(ctx, q, func(now time.Time) (p Page, _ error) {
		most, full := 0, false
		if f.Scans() {
			most = f.Window()
		}
		p.Examined, p.Next = q.tasks.search(f, now, most, func(t *task) bool {
			if full = len(p.Tasks) == f.PageSize(); !full {
				p.Tasks = append(p.Tasks, t.info(now))
			}
			return !full
		})
		if full {
			p.Next = p.Tasks[len(p.Tasks)-1].Seq
		}
		if most == 0 {
			p.Examined = 0
		}
		return p, nil
	})
}

// Count implements [Queue].
func (q *InMemory) Count(ctx context.Context, f Filter) (Tally, error) {
	return locked(ctx, q, func(now time.Time) (c Tally, _ error) {
		_, c.Next = q.tasks.search(f, now, f.Window(), func(*task) bool { c.N++; return true })
		return c, nil
	})
}

// Inspect implements [Queue].
func (q *InMemory) Inspect(ctx context.Context, id string) (Details, error) {
	return locked(ctx, q, func(now time.Time) (Details, error) {
		t := q.tasks.byID(id)
		if t == nil {
			return Details{}, ErrNotFound
		}
		return Details{
			Info: t.info(now), Message: slices.Clone(t.message), Origin: slices.Clone(t.origin),
			Result: slices.Clone(t.result), Report: slices.Clone(t.report), Log: slices.Clone(t.log),
		}, nil
	})
}

// Retry implements [Queue].
func (q *InMemory) Retry(ctx context.Context, seen Seen, by string) (State, error) {
	return locked(ctx, q, func(now time.Time) (State, error) {
		t, err := q.tasks.seen(seen)
		if err != nil {
			return "", err
		}
		failed := t.State == Failed
		if err := t.retry(now); err != nil {
			return "", err
		}
		if failed && t.State == Pending && t.coalesces {
			q.tasks.holdBehind(t)
		}
		t.addLog(now, "retried", by, "")
		q.watchers.notify(t)
		return t.State, nil
	})
}

// AskAgain implements [Queue].
func (q *InMemory) AskAgain(ctx context.Context, seen Seen, by, reason string) (State, error) {
	return locked(ctx, q, func(now time.Time) (State, error) {
		t, err := q.tasks.seen(seen)
		if err != nil {
			return "", err
		}
		if err := t.ask(now); err != nil {
			return "", err
		}
		if t.State == Pending && t.coalesces {
			q.tasks.holdBehind(t)
		}
		t.addLog(now, "asked again", by, AskText(t.Attempt, reason))
		q.watchers.notify(t)
		return t.State, nil
	})
}

// Cancel implements [Queue].
func (q *InMemory) Cancel(ctx context.Context, seen Seen, by string) error {
	_, err := locked(ctx, q, func(now time.Time) (any, error) {
		t, err := q.tasks.seen(seen)
		switch {
		case err != nil:
			return nil, err
		case t.Draining:
			return nil, fmt.Errorf("%w: it is being applied", ErrState)
		case t.ended():
			return nil, fmt.Errorf("%w: it is %s", ErrState, t.State)
		}
		q.end(t, now, Failed, "cancelled by "+by)
		if t.Attempt == 0 {
			t.slot = time.Time{}
		}
		t.addLog(now, "cancelled", by, "")
		return nil, nil
	})
	return err
}

// Purge implements [Queue].
func (q *InMemory) Purge(ctx context.Context, before time.Time, limit int) (int, error) {
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

// Watch implements [Queue]. It reports changes by all users of this queue.
func (q *InMemory) Watch() (changes <-chan Change, stop func()) {
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
type watchers map[chan Change]bool

func (w watchers) add() chan Change {
	c := make(chan Change, 64)
	w[c] = true
	return c
}

func (w watchers) remove(c chan Change) {
	if w[c] {
		delete(w, c)
		close(c)
	}
}

// notify sends a hint that a task may have become ready.
func (w watchers) notify(t *task) {
	change := Change{}
	if t.State == Pending {
		change.Agent = t.Agent
	}
	for c := range w {
		select {
		case c <- change:
		default: // the reader has not received the previous hints yet
		}
	}
}
