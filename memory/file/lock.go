package file

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/org/foreman-action/internal/filelock"
)

// A lock that another writer holds is tried again every lockEvery, for lockWait at
// most: a process that was stopped while it held the lock must not stop the others.
const (
	lockEvery = 2 * time.Millisecond
	lockWait  = 10 * time.Second
)

// lock takes the lock of the whole store, or gives up when ctx ends. Only writers
// take it, and for milliseconds. Its file stays: removing it would let two
// processes lock two different files.
func lock(ctx context.Context, root *os.Root) (unlock func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
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
			return nil, fmt.Errorf("wait for another process: %w", ctx.Err())
		case <-t.C:
		}
	}
}
