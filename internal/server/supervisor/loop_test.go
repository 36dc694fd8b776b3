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

// TestLoopGap checks the pauses before requested passes: some long passes, as after a restart of the
// database, do not make the next one late. Four long passes in a row do.
func TestLoopGap(t *testing.T) {
	t.Parallel()
	const gap, long, failed = 50 * time.Millisecond, 300 * time.Millisecond, -1
	tests := []struct {
		name   string
		passes []time.Duration // how long each pass takes; failed: the database is away
		want   time.Duration   // pause after the last one
	}{
		{"short passes", []time.Duration{0, 0, 0, 0}, gap},
		{"the first pass is long", []time.Duration{long}, gap},
		{"one long pass", []time.Duration{0, 0, 0, long}, gap},
		{"three long passes", []time.Duration{0, long, long, long}, gap},
		{"long after the database returned", []time.Duration{long, failed, long, long, long}, gap},
		{"a short pass between", []time.Duration{long, 0, long, long, long}, gap},
		{"four long passes", []time.Duration{0, long, long, long, long}, time.Second},
		{"the shortest of four passes counts", []time.Duration{0, long, long, 8 * time.Millisecond, long}, 80 * time.Millisecond},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				l := supervisor.NewLoop(supervisor.LoopOptions{Name: "nudges", Interval: time.Hour, Gap: gap, Log: slog.New(slog.DiscardHandler)})
				ctx, stop := context.WithCancel(t.Context())
				var ended time.Time
				n := 0
				l.Run(ctx, func(context.Context) error {
					if n == len(tt.passes) {
						if got := time.Since(ended); got != tt.want {
							t.Errorf("got a pause of %s, want %s", got, tt.want)
						}
						stop()
						return nil
					}
					l.Wake()
					took := tt.passes[n]
					n++
					if took == failed {
						return queue.ErrUnavailable
					}
					time.Sleep(took)
					ended = time.Now()
					return nil
				})
			})
		})
	}
}
