package queue

import (
	"context"
	"fmt"
	"slices"
	"time"
)

var (
	_ Queue  = (*InMemory)(nil)
	_ Pauses = (*InMemory)(nil)
)

// paused reports whether a pause holds a task.
func (q *InMemory) paused(t *task) bool {
	_, held := HeldBy(q.pauses, t.Agent, t.Repo)
	return held
}

// indexOf returns the index of the pause of a scope; -1: there is none.
func (q *InMemory) indexOf(s Scope) int {
	return slices.IndexFunc(q.pauses, func(p Pause) bool { return p.Scope.same(s) })
}

// same reports whether two scopes have the same tasks.
func (s Scope) same(other Scope) bool {
	return s.Kind == other.Kind && (s.Name == other.Name || s.Kind == ScopeRepo && other.Has("", s.Name))
}

// Pause implements [Pauses].
func (q *InMemory) Pause(ctx context.Context, s Scope, by, reason string) (p Pause, already bool, err error) {
	if err := s.Check(); err != nil {
		return Pause{}, false, fmt.Errorf("pause: %w", err)
	}
	p, err = locked(ctx, q, func(now time.Time) (Pause, error) {
		i := q.indexOf(s)
		if already = i >= 0; !already {
			i = len(q.pauses)
			q.pauses = append(q.pauses, Pause{Scope: s, By: CleanText(by), At: now, Reason: CleanText(reason)})
		}
		return q.tasks.count(q.pauses[i], now), nil
	})
	return p, already, err
}

// Resume implements [Pauses].
func (q *InMemory) Resume(ctx context.Context, s Scope) (p Pause, found bool, err error) {
	if err := s.Check(); err != nil {
		return Pause{}, false, fmt.Errorf("resume: %w", err)
	}
	p, err = locked(ctx, q, func(now time.Time) (Pause, error) {
		i := q.indexOf(s)
		if found = i >= 0; !found {
			return Pause{}, nil
		}
		p := q.tasks.count(q.pauses[i], now)
		q.pauses = slices.Delete(q.pauses, i, i+1)
		for _, t := range q.tasks {
			if t.ready(now) && s.Has(t.Agent, t.Repo) {
				q.watchers.notify(t)
			}
		}
		return p, nil
	})
	return p, found, err
}

// ListPauses implements [Pauses].
func (q *InMemory) ListPauses(ctx context.Context, count bool) ([]Pause, error) {
	return locked(ctx, q, func(now time.Time) (list []Pause, _ error) {
		for _, p := range q.pauses {
			if count {
				p = q.tasks.count(p, now)
			}
			list = append(list, p)
		}
		return list, nil
	})
}

// count returns a pause with the numbers of its tasks.
func (l tasks) count(p Pause, now time.Time) Pause {
	for _, t := range l {
		if !p.Scope.Has(t.Agent, t.Repo) {
			continue
		}
		p.Held = min(MaxHeld, p.Held+count(t.ready(now)))
		p.Claimed += count(t.State == Claimed)
		p.Draining += count(t.Draining)
	}
	return p
}

// ready reports whether a task could be handed out if there were no pauses.
func (t *task) ready(now time.Time) bool {
	return (t.State == Pending || t.State == Completed && !t.Draining) && !t.held(now)
}
