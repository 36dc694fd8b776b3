package queuetest

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/org/foreman-action/queue"
)

var _ queue.Slots = (*Queue)(nil)

// TakeSlot implements queue.Slots.
func (q *Queue) TakeSlot(ctx context.Context, r queue.SlotRequest) (wait time.Duration, ok bool, err error) {
	if err := r.Check(); err != nil {
		return 0, false, fmt.Errorf("take a slot for a write: %w", err)
	}
	now, err := q.begin(ctx)
	if err != nil {
		return 0, false, err
	}
	defer q.mu.Unlock()
	if q.slots == nil {
		q.slots = map[string][]time.Time{}
	}
	taken := q.slots[r.Identity] // sorted
	if n := len(taken); n > 0 && taken[n-1].Sub(now) > queue.MaxSlotWait {
		shift := taken[n-1].Sub(now)
		for i := range taken {
			taken[i] = taken[i].Add(-shift)
		}
	}
	for _, ago := range r.Missed {
		taken = append(taken, now.Add(-ago))
	}
	slices.SortFunc(taken, time.Time.Compare)
	at := now
	for _, w := range []struct {
		n    int
		last time.Duration
	}{{1, 0}, {r.PerMinute, time.Minute}, {r.PerHour, time.Hour}} {
		if i := len(taken) - w.n; i >= 0 && taken[i].Add(w.last).After(at) {
			at = taken[i].Add(w.last)
		}
	}
	wait = at.Sub(now)
	if ok = wait <= r.Within; ok {
		taken = append(taken, at)
	}
	q.slots[r.Identity] = taken
	return wait, ok, nil
}
