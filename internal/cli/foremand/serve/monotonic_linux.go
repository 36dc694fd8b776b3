package serve

import (
	"time"

	"golang.org/x/sys/unix"
)

// monotonic returns the time of the clock that systemd compares.
func monotonic() time.Duration {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) // fails only for unknown clocks
	return time.Duration(t.Nano())
}
