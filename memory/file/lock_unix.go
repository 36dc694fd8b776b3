//go:build darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd

package file

import (
	"errors"
	"os"
	"syscall"
)

// tryLock takes an advisory lock on a file, which is made when it is missing. The
// kernel drops it when the process ends, however it ends.
func tryLock(root *os.Root, name string) (unlock func(), err error) {
	file, err := root.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		return func() { file.Close() }, nil
	}
	file.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, syscall.EINTR) {
		return nil, errLocked
	}
	return nil, err
}

// syncDir makes a rename in a directory durable, as far as the medium goes: some
// network mounts and file systems in user space cannot do that with a directory, and
// say so with EINVAL or ENOTSUP. The rename happened there all the same.
func syncDir(root *os.Root, dir string) error {
	d, err := root.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	if unsyncable(err) {
		err = nil
	}
	return errors.Join(err, d.Close())
}

// unsyncable reports whether err says that a directory is nothing to be synced.
func unsyncable(err error) bool {
	return errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP)
}
