package sqlite

import (
	"time"

	"golang.org/x/sys/unix"
)

// elapsed returns a clock that counts from the machine's boot, sleep included.
func elapsed() func() time.Duration {
	return func() time.Duration {
		var t unix.Timespec
		_ = unix.ClockGettime(unix.CLOCK_BOOTTIME, &t) // fails only for unknown clocks
		return time.Duration(t.Nano())
	}
}
