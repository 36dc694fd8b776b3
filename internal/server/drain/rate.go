package drain

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/org/foreman-action/queue"
)

// slotTime bounds how long a write waits to be told when it may be: then this process goes
// by what it knows itself.
const slotTime = 3 * time.Second

// A limiter keeps the writes of each identity within what GitHub takes: those of this
// process by itself, and by slots those of all others. While slots are out of reach it goes
// by itself, and tells them later what they missed.
type limiter struct {
	perMinute, perHour int
	slots              queue.Slots                          // nil: there are no others
	trouble            func(ctx context.Context, err error) // slots are out of reach; nil error: not any more

	mu      sync.Mutex
	budgets map[string]*budget
}

// A budget is that of one identity. Times may lie ahead, those of writes by little.
type budget struct {
	taken    []time.Time // of writes of this process, sorted
	missed   []time.Time // of these, those that slots do not know of
	full     time.Time   // until then slots have none
	cut      bool        // slots were out of reach the last time
	promised time.Time   // the last one that somebody who had to go was told to come back at
}

// take reserves a write that happens in at most bound. If there is none to be had, wait
// says when it is worth asking again: everyone who asks gets a time of their own.
func (l *limiter) take(ctx context.Context, identity string, bound time.Duration) (wait time.Duration, ok bool) {
	start := time.Now()
	at, missed, ok := l.reserve(identity, bound)
	if !ok || l.slots == nil {
		return l.granted(identity, at, ok)
	}
	r := queue.SlotRequest{Identity: identity, PerMinute: l.perMinute, PerHour: l.perHour, Within: bound}
	for _, t := range missed {
		r.Missed = append(r.Missed, max(start.Sub(t), 0))
	}
	bounded, cancel := context.WithTimeout(ctx, slotTime)
	defer cancel()
	wait, ok, err := l.slots.TakeSlot(bounded, r)
	if l.heard(ctx, identity, err); err != nil {
		at, ok = l.alone(identity, at, missed, bound)
		return l.granted(identity, at, ok)
	}
	// From now on, not from when they were asked: the answer may be late, a write must not be early.
	if ok {
		return l.granted(identity, l.move(identity, at, time.Now().Add(wait)), true)
	}
	l.refused(identity, at, time.Now().Add(wait))
	return l.granted(identity, at, false)
}

// reserve reserves a write by what this process knows, and hands over those that slots
// are to be told of.
func (l *limiter) reserve(identity string, bound time.Duration) (at time.Time, missed []time.Time, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now, b := time.Now(), l.budget(identity)
	at = l.next(b.taken, now)
	if at.Sub(now) > bound || b.full.Sub(now) > bound {
		return at, nil, false
	}
	b.taken = append(b.taken, at)
	missed, b.missed = b.missed, nil
	return at, missed, true
}

// granted is what take returns for a write at some time.
func (l *limiter) granted(identity string, at time.Time, ok bool) (time.Duration, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !ok {
		return l.promise(l.budget(identity), time.Now()), false
	}
	return max(time.Until(at), 0), true
}

// heard notes whether slots are within reach, and tells of it when that changed.
func (l *limiter) heard(ctx context.Context, identity string, err error) {
	l.mu.Lock()
	b := l.budget(identity)
	changed := b.cut != (err != nil) && ctx.Err() == nil
	b.cut = b.cut != changed
	l.mu.Unlock()
	if changed && l.trouble != nil {
		l.trouble(ctx, err)
	}
}

// alone reserves anew by what this process knows, for asking took its time. Slots know
// nothing of it.
func (l *limiter) alone(identity string, was time.Time, missed []time.Time, bound time.Duration) (at time.Time, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now, b := time.Now(), l.budget(identity)
	b.drop(was)
	b.missed = append(b.missed, missed...)
	if at = l.next(b.taken, now); at.Sub(now) > bound {
		return at, false
	}
	b.taken, b.missed = append(b.taken, at), append(b.missed, at)
	return at, true
}

// move puts a write off, if slots have one only later.
func (l *limiter) move(identity string, from, to time.Time) time.Time {
	if !to.After(from) {
		return from
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.budget(identity)
	b.drop(from)
	i, _ := slices.BinarySearchFunc(b.taken, to, time.Time.Compare)
	b.taken = slices.Insert(b.taken, i, to)
	return to
}

// refused takes a reservation back: slots have none until some time.
func (l *limiter) refused(identity string, at, until time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.budget(identity)
	b.drop(at)
	if until.After(b.full) {
		b.full = until
	}
}

// drop takes out a write that does not happen.
func (b *budget) drop(at time.Time) {
	if i, found := slices.BinarySearchFunc(b.taken, at, time.Time.Compare); found {
		b.taken = slices.Delete(b.taken, i, i+1)
	}
}

// ready reports whether a write could happen in at most bound, as far as this process
// knows. If not, wait is as in take.
func (l *limiter) ready(identity string, bound time.Duration) (wait time.Duration, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now, b := time.Now(), l.budget(identity)
	if l.next(b.taken, now).Sub(now) <= bound && b.full.Sub(now) <= bound {
		return 0, true
	}
	return l.promise(b, now), false
}

// budget returns that of an identity. The caller holds l.mu.
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
	past := func(t time.Time) bool { return !t.After(old) }
	b.taken, b.missed = slices.DeleteFunc(b.taken, past), slices.DeleteFunc(b.missed, past)
	return b
}

// next returns when there is room for one more, behind all others.
func (l *limiter) next(list []time.Time, now time.Time) time.Time {
	at := now
	for _, limit := range []struct {
		n   int
		per time.Duration
	}{{1, 0}, {l.perMinute, time.Minute}, {l.perHour, time.Hour}} {
		if i := len(list) - limit.n; i >= 0 && list[i].Add(limit.per).After(at) {
			at = list[i].Add(limit.per)
		}
	}
	return at
}

// promise returns how long somebody who has to go had better stay away: each a little
// longer than the one before, and at most an hour.
func (l *limiter) promise(b *budget, now time.Time) time.Duration {
	at, end := slices.MaxFunc([]time.Time{l.next(b.taken, now), b.full}, time.Time.Compare), now.Add(time.Hour)
	if later := b.promised.Add(time.Minute / time.Duration(l.perMinute)); later.After(at) {
		at = later
	}
	if at.After(end) {
		return time.Hour
	}
	b.promised = at
	return at.Sub(now)
}
