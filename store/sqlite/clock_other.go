//go:build !linux

package sqlite

import "time"

// sinceBoot returns a clock of this process alone: this platform does not identify the boot.
func sinceBoot() (boot string, since func() time.Duration) { return "", sinceNow() }
