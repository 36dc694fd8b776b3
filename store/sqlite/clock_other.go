//go:build !linux

package sqlite

import "time"

// sinceBoot returns a clock of this process alone: its start has no name here.
func sinceBoot() (boot string, since func() time.Duration) { return "", sinceNow() }
