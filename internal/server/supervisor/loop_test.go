package supervisor_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/org/foreman-action/internal/server/supervisor"
	"github.com/org/foreman-action/queue"
)

// TestLoopAfterOutage checks that a loop continues within a second after the database returned,
// however long it was away, and that the log has few lines about it.
func TestLoopAfterOutage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		l := supervisor.NewLoop(supervisor.LoopOptions{Name: "decisions", Interval: time.Minute, Log: slog.New(slog.NewTextHandler(&log, nil))})
		begin, away := time.Now(), 90*time.Second
		ctx, stop := context.WithCancel(t.Context())
		l.Run(ctx, func(context.Context) error {
			if time.Since(begin) < away {
				return fmt.Errorf("lease decisions: %w", queue.ErrUnavailable)
			}
			stop()
			return nil
		})
		if late := time.Since(begin) - away; late > time.Second {
			t.Errorf("the loop continues %s after the database", late)
		}
		if n := strings.Count(log.String(), "loop failed"); n < 1 || n > 10 {
			t.Errorf("got %d lines for %s", n, away)
		}
	})
}

// TestLoopBackoff checks that the pause doubles after other errors.
func TestLoopBackoff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := supervisor.NewLoop(supervisor.LoopOptions{Name: "decisions", Interval: time.Minute, Log: slog.New(slog.DiscardHandler)})
		begin, passes := time.Now(), 0
		ctx, stop := context.WithCancel(t.Context())
		l.Run(ctx, func(context.Context) error {
			if passes++; passes == 4 {
				stop()
			}
			return errors.New("a defect")
		})
		if took := time.Since(begin); took != 7*time.Second { // 1, 2 and 4 seconds
			t.Errorf("got 4 passes in %s, want 7 s", took)
		}
	})
}
