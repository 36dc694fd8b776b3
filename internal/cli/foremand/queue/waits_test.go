package queue

import (
	"context"
	"testing"
	"time"

	"github.com/org/foreman-action/queue"
)

// cursors holds one cursor for all agents.
type cursors string

func (c cursors) Cursor(context.Context, string) ([]byte, error) { return []byte(c), nil }

func (c cursors) SaveCursor(context.Context, string, []byte) error { return nil }

func TestWaits(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	tests := []struct {
		name   string
		task   queue.Info
		failed cursors // how the agent failed; empty: it works
		want   string
	}{
		{"pending", queue.Info{State: queue.Pending}, "", "for its agent"},
		{"delayed by a failure", queue.Info{State: queue.Pending, Held: true, Ready: at}, "2026-07-01T11:00:00Z status 503", "until 2026-07-01 12:00:00, then for its agent, which has failed since 2026-07-01 11:00:00: status 503"},
		{"delayed for a reason", queue.Info{State: queue.Pending, Held: true, Ready: at, Reason: "commented recently"}, "", ""},
		{"behind another task", queue.Info{State: queue.Pending, Held: true, Behind: "1"}, "", ""},
		{"claimed", queue.Info{State: queue.Claimed}, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got, err := waits(t.Context(), tt.failed, tt.task); got != tt.want || err != nil {
				t.Errorf("got %q, %v, want %q", got, err, tt.want)
			}
		})
	}
}
