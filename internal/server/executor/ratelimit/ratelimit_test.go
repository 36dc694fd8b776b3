package ratelimit_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/org/foreman-action/internal/server/executor/ratelimit"
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
