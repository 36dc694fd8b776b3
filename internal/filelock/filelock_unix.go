//go:build darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd

package filelock

import (
	"errors"
	"os"
	"syscall"
)

// Try takes an advisory lock on a file, which is made when it is missing. The kernel drops it when
// the process ends, however it ends. The error is [ErrLocked] if another process has the lock.
func Try(root *os.Root, name string) (unlock func(), err error) {
	file, err := root.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		return func() {
			// A process that is being started has the file too, until it runs its program: closing
			// alone would leave it the lock.
			_ = syscall.Flock(int(file.Fd()), syscall.LOCK_UN)
			file.Close()
		}, nil
	}
	file.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, syscall.EINTR) {
		return nil, ErrLocked
	}
	return nil, err
}
