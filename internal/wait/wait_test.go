package wait_test

import (
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/org/foreman-action/internal/wait"
)

func TestBackoff(t *testing.T) {
	t.Parallel()
	tests := []struct {
		failures          int
		base, limit, want time.Duration
	}{
		{-1, time.Second, time.Minute, time.Second},
		{0, time.Second, time.Minute, time.Second},
		{1, time.Second, time.Minute, 2 * time.Second},
		{5, time.Second, time.Minute, 32 * time.Second},
		{6, time.Second, time.Minute, time.Minute},
		{1000, time.Second, time.Minute, time.Minute},
		{1000, time.Second, math.MaxInt64, math.MaxInt64},
		{4, 2 * time.Second, 32 * time.Second, 32 * time.Second},
		{0, time.Hour, time.Minute, time.Minute},
	}
	for _, tt := range tests {
		if got := wait.Backoff(tt.failures, tt.base, tt.limit); got != tt.want {
			t.Errorf("after %d failures, from %s to %s: got %s, want %s", tt.failures, tt.base, tt.limit, got, tt.want)
		}
	}
}

// TestFor runs each case on a clock of its own.
func TestFor(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		d    time.Duration
		ends time.Duration // when the context ends; negative: before the call
		want error
		took time.Duration
	}{
		{"the whole time", time.Hour, 2 * time.Hour, nil, time.Hour},
		{"the context ends first", time.Hour, time.Minute, context.DeadlineExceeded, time.Minute},
		{"the context has ended", time.Hour, -time.Minute, context.DeadlineExceeded, 0},
		{"nothing to wait for", 0, time.Minute, nil, 0},
		{"less than nothing", -time.Second, time.Minute, nil, 0},
		{"nothing to wait for, and the context has ended", 0, -time.Minute, context.DeadlineExceeded, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				ctx, cancel := context.WithDeadline(t.Context(), start.Add(tt.ends))
				defer cancel()
				err := wait.For(ctx, tt.d)
				if took := time.Since(start); !errors.Is(err, tt.want) || took != tt.took {
					t.Errorf("got %v after %v, want %v after %v", err, took, tt.want, tt.took)
				}
			})
		})
	}
}
