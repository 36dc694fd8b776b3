package filelock

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
)

// errSharing is ERROR_SHARING_VIOLATION.
const errSharing = syscall.Errno(32)

// Try takes a lock by opening a file without sharing it for writing, and makes the file when it is
// missing. As on other systems, a locked file can be read and removed. The kernel releases the lock
// when the process ends, also after a crash. The error is [ErrLocked] if another process has the lock.
func Try(root *os.Root, name string) (unlock func(), err error) {
	p, err := syscall.UTF16PtrFromString(filepath.Join(root.Name(), name))
	if err != nil {
		return nil, err
	}
	const share = syscall.FILE_SHARE_READ | syscall.FILE_SHARE_DELETE
	h, err := syscall.CreateFile(p, syscall.GENERIC_READ|syscall.GENERIC_WRITE, share, nil,
		syscall.OPEN_ALWAYS, syscall.FILE_ATTRIBUTE_NORMAL, 0)
	if errors.Is(err, errSharing) {
		return nil, ErrLocked
	}
	if err != nil {
		return nil, err
	}
	return func() { syscall.CloseHandle(h) }, nil
}
