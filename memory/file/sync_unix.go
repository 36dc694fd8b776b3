//go:build darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd

package file

import (
	"errors"
	"os"
	"syscall"
)

// syncDir makes a rename in a directory durable, as far as the medium allows. Some network mounts
// and file systems in user space cannot sync a directory, and return EINVAL or ENOTSUP. syncDir
// ignores these errors, because the rename has succeeded.
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

// unsyncable reports whether err means that directories cannot be synced.
func unsyncable(err error) bool {
	return errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP)
}
