// Package wait waits until a time has passed or a context ends, and computes the wait after
// failures. It also has the default of clocks.
package wait

import (
	"context"
	"time"
)

// Clock returns a clock: now, or [time.Now] if now is nil. Other packages do not call time.Now.
func Clock(now func() time.Time) func() time.Time {
	if now == nil {
		return time.Now
	}
	return now
}

// For waits for d and returns nil. If ctx ends first, it returns ctx's error. If d is not positive,
// it returns ctx's error at once, which is nil if ctx has not ended.
func For(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// Backoff returns the exponential pause after a number of earlier failures: base after none,
// doubled by each, and at most limit.
func Backoff(failures int, base, limit time.Duration) time.Duration {
	d := base
	for range failures {
		if d > limit-d { // twice as long could overflow
			return limit
		}
		d *= 2
	}
	return min(d, limit)
}
