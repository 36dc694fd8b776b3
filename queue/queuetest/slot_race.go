package queuetest

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/org/foreman-action/queue"
)

// slotRace takes slots through both handles concurrently, over three hours. No minute and no hour
// may have more slots than its limit.
func slotRace(tb testing.TB, p Pair) {
	tb.Helper()
	const perMinute, perHour, takers = 8, 50, 12
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // a schedule, not a secret
	var taken []time.Time
	for end := p.Clock.Now().Add(3 * time.Hour); p.Clock.Now().Before(end); {
		var mu sync.Mutex
		var all sync.WaitGroup
		now, next := p.Clock.Now(), time.Hour
		for i := range takers {
			r := queue.SlotRequest{Identity: "bot", PerMinute: perMinute, PerHour: perHour, Within: time.Duration(random.IntN(20)) * time.Second}
			s := []queue.Slots{p.SlotsB, p.SlotsA}[i%2]
			all.Go(func() {
				wait, ok, err := s.TakeSlot(tb.Context(), r)
				mu.Lock()
				defer mu.Unlock()
				switch {
				case err != nil:
					tb.Errorf("TakeSlot: %v", err)
				case ok:
					taken = append(taken, now.Add(wait))
				default:
					next = min(next, wait)
				}
			})
		}
		all.Wait()
		p.Clock.Advance(max(next-time.Duration(random.IntN(10))*time.Second, time.Second))
	}
	slices.SortFunc(taken, time.Time.Compare)
	for i, at := range taken {
		if i >= perMinute && at.Sub(taken[i-perMinute]) < time.Minute || i >= perHour && at.Sub(taken[i-perHour]) < time.Hour {
			tb.Fatalf("slot %d, at %s, is too early", i+1, at)
		}
	}
	if len(taken) < 3*perHour {
		tb.Errorf("got %d slots within three hours, want at least %d", len(taken), 3*perHour)
	}
}
