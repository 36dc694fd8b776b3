//go:build !linux

package sqlite

import "time"

// sinceBoot returns a clock for this process only, because this platform does not identify the
// boot.
func sinceBoot() (boot string, since func() time.Duration) { return "", sinceNow() }
