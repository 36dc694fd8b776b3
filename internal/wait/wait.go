// Package wait lets time pass, but no longer than a context lasts, and computes how long
// to wait after failures.
package wait

import (
	"context"
	"time"
)

// For waits until d is over and returns nil, or until ctx ends and returns its error,
// which it does too when d is not positive and ctx has ended before.
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
