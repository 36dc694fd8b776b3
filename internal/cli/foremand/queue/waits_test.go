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
	hold := []queue.Pause{{Scope: queue.Scope{Kind: queue.ScopeRepo, Name: "o/r"}, By: "mona", At: at}}
	const paused = "paused (the repository o/r, by mona since 2026-07-01 12:00:00): foremand resume"
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
		{"paused", queue.Info{State: queue.Pending, Repo: "o/r"}, "", paused},
		{"decided and paused", queue.Info{State: queue.Completed, Repo: "o/r"}, "", paused},
		{"claimed in a pause", queue.Info{State: queue.Claimed, Repo: "o/r"}, "", ""},
		{"done in a pause", queue.Info{State: queue.Done, Repo: "o/r"}, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got, err := waits(t.Context(), tt.failed, hold, tt.task); got != tt.want || err != nil {
				t.Errorf("got %q, %v, want %q", got, err, tt.want)
			}
		})
	}
}
