package drain

import (
	"slices"
	"sync"
	"time"
)

// A limiter keeps the writes of each identity within what GitHub takes. What is known
// begins with the process: GitHub itself says when an earlier one wrote too much.
type limiter struct {
	perMinute, perHour int

	mu      sync.Mutex
	budgets map[string]*budget
}

// A budget is that of one identity. Times may lie ahead, those of writes by little.
type budget struct {
	taken    []time.Time // of writes
	promised time.Time   // the last one that somebody who had to go was told to come back at
}

// take reserves a write that happens in at most bound. If there is none to be had, wait
// says when it is worth asking again: everyone who asks gets a time of their own.
func (l *limiter) take(identity string, bound time.Duration) (wait time.Duration, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now, b := time.Now(), l.budget(identity)
	at := l.next(b.taken, now)
	if wait = at.Sub(now); wait <= bound {
		b.taken = append(b.taken, at)
		return wait, true
	}
	return l.promise(b, now), false
}

// ready reports whether a write could happen in at most bound. If not, wait is as in take.
func (l *limiter) ready(identity string, bound time.Duration) (wait time.Duration, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now, b := time.Now(), l.budget(identity)
	if l.next(b.taken, now).Sub(now) <= bound {
		return 0, true
	}
	return l.promise(b, now), false
}

func (l *limiter) budget(identity string) *budget {
	if l.budgets == nil {
		l.budgets = map[string]*budget{}
	}
	b := l.budgets[identity]
	if b == nil {
		b = &budget{}
		l.budgets[identity] = b
	}
	old := time.Now().Add(-time.Hour)
	b.taken = slices.DeleteFunc(b.taken, func(t time.Time) bool { return !t.After(old) })
	return b
}

// next returns when there is room for one more.
func (l *limiter) next(list []time.Time, now time.Time) time.Time {
	at := now
	for _, limit := range []struct {
		n   int
		per time.Duration
	}{{l.perMinute, time.Minute}, {l.perHour, time.Hour}} {
		if i := len(list) - limit.n; i >= 0 && list[i].Add(limit.per).After(at) {
			at = list[i].Add(limit.per)
		}
	}
	return at
}

// promise returns how long somebody who has to go had better stay away: each a little
// longer than the one before, and at most an hour.
func (l *limiter) promise(b *budget, now time.Time) time.Duration {
	at, end := l.next(b.taken, now), now.Add(time.Hour)
	if later := b.promised.Add(time.Minute / time.Duration(l.perMinute)); later.After(at) {
		at = later
	}
	if at.After(end) {
		return time.Hour
	}
	b.promised = at
	return at.Sub(now)
}
