// Package filelock locks files. The kernel releases a lock when its process ends, also after a
// crash. A file with a process id is less reliable, because ids are reused and differ between
// containers.
package filelock

import "errors"

// ErrLocked means that another process has the lock.
var ErrLocked = errors.New("another process holds the lock")
