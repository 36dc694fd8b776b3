package sqlite

import (
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// sinceBoot returns an id of this boot of the machine, and a clock that counts from the boot. The
// id is empty where the kernel does not report one.
func sinceBoot() (boot string, since func() time.Duration) {
	since = func() time.Duration {
		var t unix.Timespec
		_ = unix.ClockGettime(unix.CLOCK_BOOTTIME, &t) // fails only for unknown clocks
		return time.Duration(t.Nano())
	}
	name, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	var t unix.Timespec
	if err != nil || unix.ClockGettime(unix.CLOCK_BOOTTIME, &t) != nil {
		return "", sinceNow()
	}
	return strings.TrimSpace(string(name)), since
}
