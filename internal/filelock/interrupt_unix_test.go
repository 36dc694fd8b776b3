//go:build darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd

package filelock

import (
	"errors"
	"syscall"
	"testing"
)

func TestUninterrupted(t *testing.T) {
	t.Parallel()
	for _, want := range []error{nil, syscall.EWOULDBLOCK, syscall.EBADF} {
		results := []error{syscall.EINTR, syscall.EINTR, want, syscall.EIO}
		calls := 0
		err := uninterrupted(func() error {
			calls++
			return results[calls-1]
		})
		if !errors.Is(err, want) || calls != 3 {
			t.Errorf("got %v after %d calls, want %v after 3", err, calls, want)
		}
	}
}
