//go:build !linux

package serve

import "time"

// monotonic returns 0, because there is no systemd.
func monotonic() time.Duration { return 0 }
