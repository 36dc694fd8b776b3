package queue

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/org/foreman-action/internal/wait"
)

// NewSlots returns slots that last as long as the process, and that only this process can take.
func NewSlots(o Options) Slots {
	return &inMemorySlots{now: wait.Clock(o.Now), taken: map[string][]time.Time{}}
}

// inMemorySlots are slots in memory.
type inMemorySlots struct {
	mu    sync.Mutex
	now   func() time.Time
	taken map[string][]time.Time // by account, sorted
}

// TakeSlot implements [Slots].
func (s *inMemorySlots) TakeSlot(ctx context.Context, r SlotRequest) (until time.Duration, ok bool, err error) {
	if err := r.Check(); err != nil {
		return 0, false, fmt.Errorf("take a slot for a write: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return 0, false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now().UTC().Truncate(time.Millisecond)
	taken := slotsTaken(s.taken[r.Identity], now, r.Missed)
	at := nextSlot(taken, now, r)
	if ok = at.Sub(now) <= r.Within; ok {
		taken = append(taken, at)
	}
	s.taken[r.Identity] = taken
	return at.Sub(now), ok, nil
}

// slotsTaken returns the sorted times of an account's slots and of its writes without a slot, as far
// as they still count.
func slotsTaken(taken []time.Time, now time.Time, missed []time.Duration) []time.Time {
	if n := len(taken); n > 0 && taken[n-1].Sub(now) > MaxSlotWait { // the clock was set back
		shift := taken[n-1].Sub(now)
		for i := range taken {
			taken[i] = taken[i].Add(-shift)
		}
	}
	for _, ago := range missed {
		taken = append(taken, now.Add(-ago))
	}
	slices.SortFunc(taken, time.Time.Compare)
	return slices.DeleteFunc(taken, func(at time.Time) bool { return !at.After(now.Add(-time.Hour)) })
}

// nextSlot returns the first time at which a slot exceeds no limit.
func nextSlot(taken []time.Time, now time.Time, r SlotRequest) time.Time {
	at := now
	for _, w := range []struct {
		n      int
		window time.Duration
	}{{1, 0}, {r.PerMinute, time.Minute}, {r.PerHour, time.Hour}} {
		if i := len(taken) - w.n; i >= 0 && taken[i].Add(w.window).After(at) {
			at = taken[i].Add(w.window)
		}
	}
	return at
}
