//go:build darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd

package filelock

import (
	"errors"
	"os"
	"syscall"
)

// Try takes an advisory lock on a file, and makes the file when it is missing. The kernel releases
// the lock when the process ends, also after a crash. The error is [ErrLocked] if another process
// has the lock.
func Try(root *os.Root, name string) (unlock func(), err error) {
	file, err := root.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	err = uninterrupted(func() error { return syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) })
	if err == nil {
		return func() {
			// A child process has the file open, too, from fork to exec. If Try only closed the file, the
			// child would keep the lock until then.
			_ = syscall.Flock(int(file.Fd()), syscall.LOCK_UN)
			file.Close()
		}, nil
	}
	file.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, ErrLocked
	}
	return nil, err
}

// uninterrupted repeats a system call until no signal interrupts it.
func uninterrupted(call func() error) error {
	for {
		if err := call(); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}
