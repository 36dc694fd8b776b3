// Package filelock holds a lock that the kernel gives up when its holder ends, however it
// ends. A process id in a file proves less: ids are used again, and differ between
// containers.
package filelock

import "errors"

// ErrLocked means that another holder has the lock.
var ErrLocked = errors.New("another process holds the lock")
