//go:build !linux

package sqlite

import "time"

// elapsed returns a clock that counts from now.
func elapsed() func() time.Duration {
	start := time.Now()
	return func() time.Duration { return time.Since(start) }
}
