package filelock

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
)

// errSharing is ERROR_SHARING_VIOLATION.
const errSharing = syscall.Errno(32)

// Try takes a lock by opening a file without sharing, and makes the file when it is missing. The
// kernel releases the lock when the process ends, also after a crash. The error is [ErrLocked] if
// another process has the lock.
func Try(root *os.Root, name string) (unlock func(), err error) {
	p, err := syscall.UTF16PtrFromString(filepath.Join(root.Name(), name))
	if err != nil {
		return nil, err
	}
	const noSharing = 0
	h, err := syscall.CreateFile(p, syscall.GENERIC_READ|syscall.GENERIC_WRITE, noSharing, nil,
		syscall.OPEN_ALWAYS, syscall.FILE_ATTRIBUTE_NORMAL, 0)
	if errors.Is(err, errSharing) {
		return nil, ErrLocked
	}
	if err != nil {
		return nil, err
	}
	return func() { syscall.CloseHandle(h) }, nil
}
