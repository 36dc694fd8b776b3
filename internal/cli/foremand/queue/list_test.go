package queue

import (
	"testing"
	"time"

	"github.com/org/foreman-action/queue"
)

// TestStateText checks that the text names the server that executes a decision, and until when.
func TestStateText(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	for want, info := range map[string]queue.Info{
		"completed, applying on server web/7, lease ends in 1h0m0s": {
			State: queue.Completed, Draining: true, Owner: "web/7", Until: now.Add(time.Hour),
		},
		"completed, applying on server a b, lease ends in 0s": {State: queue.Completed, Draining: true, Owner: "a\nb", Until: now.Add(-time.Hour)},
		"pending, delayed": {State: queue.Pending, Held: true},
		"done":             {State: queue.Done},
	} {
		if got := stateText(info, now); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
