package supervisor_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/org/foreman-action/internal/server/supervisor"
	"github.com/org/foreman-action/queue"
)

func TestCommit(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		err   error // of each call
		ends  time.Duration
		calls int
		took  time.Duration
	}{
		{"success", nil, time.Hour, 1, 0},
		{"an error", queue.ErrUnavailable, time.Hour, 5, 15 * time.Second},
		{"lost", fmt.Errorf("complete: %w", queue.ErrLost), time.Hour, 1, 0},
		{"not found", queue.ErrNotFound, time.Hour, 1, 0},
		{"in another state", queue.ErrState, time.Hour, 1, 0},
		{"the context ends meanwhile", queue.ErrUnavailable, 2 * time.Second, 2, 2 * time.Second},
		{"the context has ended", queue.ErrUnavailable, 0, 1, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				start, calls := time.Now(), 0
				ctx, cancel := context.WithTimeout(t.Context(), tt.ends)
				defer cancel()
				err := supervisor.Commit(ctx, func(ctx context.Context) error {
					calls++
					if ctx.Err() != nil {
						t.Errorf("call %d has a context that ended", calls)
					}
					return tt.err
				})
				if took := time.Since(start); !errors.Is(err, tt.err) || calls != tt.calls || took != tt.took {
					t.Errorf("got %v after %d calls and %s, want %v after %d calls and %s", err, calls, took, tt.err, tt.calls, tt.took)
				}
			})
		})
	}
}
