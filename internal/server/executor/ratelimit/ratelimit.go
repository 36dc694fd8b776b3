// Package ratelimit limits the writes of each account on GitHub, within sliding windows of a minute
// and an hour.
//
// A Limiter counts the writes of this process itself. The caller asks queue.Slots, which count those of
// all processes that use the queue, and passes the answer to the Limiter. While the slots are
// unavailable, the Limiter uses only its own count, and later reports the writes of that time to the
// slots.
//
// golang.org/x/time/rate is not used, because the bursts of its token buckets can exceed the limit
// of a sliding window, and because it cannot count writes of other processes.
package ratelimit

import (
	"context"
	"log/slog"
	"slices"
	"sort"
	"sync"
	"time"

	"github.com/org/foreman-action/internal/wait"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store"
)

const maxWait = time.Hour // maximum time until the next try of a refused caller

// Options configure a Limiter.
type Options struct {
	PerMinute, PerHour int              // maximum number of writes of an identity; must be set
	Now                func() time.Time // nil: time.Now
	Log                *slog.Logger
}

// A Limiter limits the writes of each identity. Its methods are safe for concurrent use.
//
// It keeps times as durations since it was made: they take a third of the memory of a time.Time,
// and there are as many as writes in an hour.
type Limiter struct {
	o     Options
	start time.Time // when it was made

	mu      sync.Mutex
	budgets map[string]*budget // by identity
}

// A budget contains the writes of one identity. Times may be in the future; those of writes by only
// a little.
type budget struct {
	writes     []time.Duration // of this process, sorted
	unreported []time.Duration // writes that are not yet in the slots
	fullUntil  time.Duration   // according to the slots
	cutOff     bool            // the slots were unavailable at the last call
	promised   time.Duration   // the latest time at which a refused caller was asked to try again; 0: none
}

// New returns a Limiter.
func New(o Options) *Limiter {
	o.Now = wait.Clock(o.Now)
	return &Limiter{o: o, start: o.Now(), budgets: map[string]*budget{}}
}

// now returns the time since the Limiter was made.
func (l *Limiter) now() time.Duration { return l.o.Now().Sub(l.start) }

// A Reservation is a write that was reserved by the count of this process. The caller passes the answer
// of the slots to Settle, or calls Cancel.
type Reservation struct {
	l          *Limiter
	identity   string
	bound      time.Duration
	at         time.Duration
	unreported []time.Duration // writes that Request reports
}

// Reserve reserves a write that can begin within bound, by the count of this process. If that is not
// possible, ok is false, and wait is the time until the next try, which differs for each caller.
func (l *Limiter) Reserve(identity string, bound time.Duration) (r *Reservation, wait time.Duration, ok bool) {
	at, unreported, ok := l.reserve(identity, bound)
	if !ok {
		wait, ok = l.answer(identity, at, ok)
		return nil, wait, ok
	}
	return &Reservation{l: l, identity: identity, bound: bound, at: at, unreported: unreported}, 0, true
}

// Request returns the request for the slot of the write.
func (r *Reservation) Request() queue.SlotRequest {
	out := queue.SlotRequest{Identity: r.identity, PerMinute: r.l.o.PerMinute, PerHour: r.l.o.PerHour, Within: r.bound}
	now := r.l.now()
	for _, t := range r.unreported {
		out.Missed = append(out.Missed, max(now-t, 0))
	}
	return out
}

// Settle takes the answer of the slots, and returns how long to wait for the write. If the write is not
// possible within the bound, ok is false, and wait is the time until the next try.
func (r *Reservation) Settle(ctx context.Context, slot store.Slot) (wait time.Duration, ok bool) {
	l, at := r.l, r.at
	l.logCutOff(ctx, r.identity, slot.Err)
	switch ok = slot.Taken; {
	case slot.Err != nil:
		at, ok = l.reserveAlone(r.identity, at, r.unreported, r.bound)
	// Add the wait to the time of the answer, not of the request: if the answer is late, the write
	// must not be too early.
	case ok:
		at = l.move(r.identity, at, l.now()+slot.Wait)
	default:
		l.refuse(r.identity, at, l.now()+slot.Wait)
	}
	return l.answer(r.identity, at, ok)
}

// Cancel drops the reservation, because it is unknown whether a slot was taken, and nothing is written.
func (r *Reservation) Cancel() {
	r.l.mu.Lock()
	defer r.l.mu.Unlock()
	b := r.l.budget(r.identity)
	b.drop(r.at)
	b.unreported = append(b.unreported, r.unreported...)
}

// Ready reports whether Reserve would succeed, as far as this process knows. If not, wait is the time
// until the next try, as in Reserve.
func (l *Limiter) Ready(identity string, bound time.Duration) (wait time.Duration, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now, b := l.now(), l.budget(identity)
	if l.next(b.writes, now)-now <= bound && b.fullUntil-now <= bound {
		return 0, true
	}
	return l.promise(b, now), false
}

// reserve reserves a write by the count of this process, and returns the unreported writes, which
// it removes.
func (l *Limiter) reserve(identity string, bound time.Duration) (at time.Duration, unreported []time.Duration, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now, b := l.now(), l.budget(identity)
	at = l.next(b.writes, now)
	if at-now > bound || b.fullUntil-now > bound {
		return at, nil, false
	}
	b.writes = append(b.writes, at)
	unreported, b.unreported = b.unreported, nil
	return at, unreported, true
}

// answer returns the results of Reserve and Settle. If ok, at is the time of the write.
func (l *Limiter) answer(identity string, at time.Duration, ok bool) (time.Duration, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !ok {
		return l.promise(l.budget(identity), l.now()), false
	}
	return max(at-l.now(), 0), true
}

// logCutOff logs when the slots become unavailable, and when they are available again.
func (l *Limiter) logCutOff(ctx context.Context, identity string, err error) {
	l.mu.Lock()
	b := l.budget(identity)
	changed := b.cutOff != (err != nil) && ctx.Err() == nil
	b.cutOff = b.cutOff != changed
	l.mu.Unlock()
	switch {
	case !changed:
	case err == nil:
		l.o.Log.InfoContext(ctx, "rate limit of writes is shared with other servers again")
	default:
		l.o.Log.WarnContext(ctx, "counting writes in the database failed; until it succeeds, each server limits only its own writes", "error", err)
	}
}

// reserveAlone replaces a reservation after the slots were unavailable. The new one starts from
// now, because waiting for the slots took time, and is not yet in the slots.
func (l *Limiter) reserveAlone(identity string, old time.Duration, unreported []time.Duration, bound time.Duration) (at time.Duration, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now, b := l.now(), l.budget(identity)
	b.drop(old)
	b.unreported = append(b.unreported, unreported...)
	if at = l.next(b.writes, now); at-now > bound {
		return at, false
	}
	b.writes, b.unreported = append(b.writes, at), append(b.unreported, at)
	return at, true
}

// move postpones a reservation to the time of its slot.
func (l *Limiter) move(identity string, from, to time.Duration) time.Duration {
	if to <= from {
		return from
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.budget(identity)
	b.drop(from)
	i, _ := slices.BinarySearch(b.writes, to)
	b.writes = slices.Insert(b.writes, i, to)
	return to
}

// refuse drops a reservation, because the slots are full until a time.
func (l *Limiter) refuse(identity string, at, until time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.budget(identity)
	b.drop(at)
	b.fullUntil = max(b.fullUntil, until)
}

// drop removes a write that will not happen.
func (b *budget) drop(at time.Duration) {
	if i, found := slices.BinarySearch(b.writes, at); found {
		b.writes = slices.Delete(b.writes, i, i+1)
	}
}

// budget returns the budget of an identity. The caller holds l.mu.
func (l *Limiter) budget(identity string) *budget {
	b := l.budgets[identity]
	if b == nil {
		b = &budget{}
		l.budgets[identity] = b
	}
	old := l.now() - time.Hour
	past := func(t time.Duration) bool { return t <= old }
	b.writes = b.writes[sort.Search(len(b.writes), func(i int) bool { return !past(b.writes[i]) }):]
	b.unreported = slices.DeleteFunc(b.unreported, past)
	return b
}

// next returns when there is room for one more write, behind all others.
func (l *Limiter) next(writes []time.Duration, now time.Duration) time.Duration {
	at := now
	for _, window := range []struct {
		n    int
		size time.Duration
	}{{1, 0}, {l.o.PerMinute, time.Minute}, {l.o.PerHour, time.Hour}} {
		if i := len(writes) - window.n; i >= 0 {
			at = max(at, writes[i]+window.size)
		}
	}
	return at
}

// promise returns how long a refused caller must wait before the next try. The wait is a little
// longer for each caller, and at most maxWait.
func (l *Limiter) promise(b *budget, now time.Duration) time.Duration {
	at := max(l.next(b.writes, now), b.fullUntil)
	if b.promised != 0 {
		at = max(at, b.promised+time.Minute/time.Duration(l.o.PerMinute))
	}
	if at-now > maxWait {
		return maxWait
	}
	b.promised = at
	return at - now
}
