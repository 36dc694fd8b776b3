package ratelimit_test

import (
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/org/foreman-action/internal/server/executor/ratelimit"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store"
)

// TestTurned checks that the next tries of refused callers are spread over an hour.
func TestTurned(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := ratelimit.New(ratelimit.Options{PerMinute: 80, PerHour: 500})
		for range 80 {
			if _, _, ok := l.Reserve("bot", time.Hour); !ok {
				t.Fatal("no room for 80 writes")
			}
		}
		var list []time.Duration
		for range 20000 {
			if wait, ok := l.Ready("bot", 0); !ok {
				list = append(list, wait)
			}
		}
		if len(list) != 20000 || list[0] != time.Minute || list[80] != 2*time.Minute {
			t.Fatalf("got %d, the first %s, %s", len(list), list[0], list[80])
		}
		for i, wait := range list {
			if wait > time.Hour || i > 0 && wait < list[i-1] {
				t.Fatalf("number %d is to wait for %s, the one before for %s", i, wait, list[i-1])
			}
		}
	})
}

// TestCancel checks that a cancelled reservation leaves room, and that writes without a slot are reported
// until a slot was taken.
func TestCancel(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := ratelimit.New(ratelimit.Options{PerMinute: 2, PerHour: 500, Log: slog.New(slog.DiscardHandler)})
		reserve := func(missed ...time.Duration) *ratelimit.Reservation {
			t.Helper()
			r, _, ok := l.Reserve("bot", 0)
			if !ok {
				t.Fatal("there is no room")
			}
			if got := r.Request().Missed; !slices.Equal(got, missed) {
				t.Errorf("got missed writes %v, want %v", got, missed)
			}
			return r
		}
		if wait, ok := reserve().Settle(t.Context(), store.Slot{Err: queue.ErrUnavailable}); wait != 0 || !ok {
			t.Errorf("without slots: got %s, %v", wait, ok)
		}
		time.Sleep(time.Second)
		for range 3 {
			reserve(time.Second).Cancel()
		}
		if wait, ok := reserve(time.Second).Settle(t.Context(), store.Slot{Taken: true}); wait != 0 || !ok {
			t.Errorf("with a slot: got %s, %v", wait, ok)
		}
		if _, wait, ok := l.Reserve("bot", 0); ok || wait != 59*time.Second {
			t.Errorf("the third write: got %s, %v", wait, ok)
		}
		time.Sleep(time.Minute)
		if wait, ok := reserve().Settle(t.Context(), store.Slot{Wait: 30 * time.Second}); wait != 30*time.Second || ok {
			t.Errorf("refused by the slots: got %s, %v", wait, ok)
		}
	})
}
