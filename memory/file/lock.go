package file

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/org/foreman-action/internal/filelock"
)

// A writer tries to take a lock every lockEvery, for at most lockWait. The limit keeps a process
// that was suspended while it held the lock from blocking all others.
const (
	lockEvery = 2 * time.Millisecond
	lockWait  = 10 * time.Second
)

// lock takes the lock of the whole store. It returns an error when ctx ends or after lockWait.
// Only writers take the lock, for some milliseconds. Its file is not removed, because two
// processes could then lock two different files.
func lock(ctx context.Context, root *os.Root) (unlock func(), err error) {
	late := time.NewTimer(lockWait)
	defer late.Stop()
	t := time.NewTicker(lockEvery)
	defer t.Stop()
	for {
		unlock, err := filelock.Try(root, ".lock")
		if err == nil {
			return unlock, nil
		}
		if !errors.Is(err, filelock.ErrLocked) {
			return nil, fmt.Errorf("lock: %w", err)
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for the lock of another process: %w", ctx.Err())
		case <-late.C:
			return nil, fmt.Errorf("wait for the lock of another process: gave up after %s", lockWait)
		case <-t.C:
		}
	}
}
