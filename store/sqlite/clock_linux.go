package sqlite

import (
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// sinceBoot returns the name of this start of the machine, and a clock that counts from then; the
// name is empty where the kernel does not report one.
func sinceBoot() (boot string, since func() time.Duration) {
	since = func() time.Duration {
		var t unix.Timespec
		_ = unix.ClockGettime(unix.CLOCK_BOOTTIME, &t) // it fails for unknown clocks only
		return time.Duration(t.Nano())
	}
	name, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	var t unix.Timespec
	if err != nil || unix.ClockGettime(unix.CLOCK_BOOTTIME, &t) != nil {
		return "", sinceNow()
	}
	return strings.TrimSpace(string(name)), since
}
