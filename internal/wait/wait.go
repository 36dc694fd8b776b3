// Package wait lets time pass, but no longer than a context lasts.
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
