package loglimit_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/org/foreman-action/internal/server/loglimit"
)

// TestFull checks that a flood of keys does not fill the log, and that new keys are allowed a
// minute later.
func TestFull(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	l := loglimit.New(func() time.Time { return now })
	lines := 0
	for range 2 {
		for i := range 10_000 {
			if l.Allow(fmt.Sprint(i)) {
				lines++
			}
		}
	}
	if lines > 5000 {
		t.Errorf("got %d lines in the log", lines)
	}
	now = now.Add(time.Minute)
	if !l.Allow("1") || l.Allow("1") {
		t.Error("the table is full still")
	}
}
