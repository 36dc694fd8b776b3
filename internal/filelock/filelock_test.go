package filelock_test

import (
	"errors"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/org/foreman-action/internal/filelock"
)

// locked returns a folder with the locked file lock.
func locked(t *testing.T) (root *os.Root, unlock func()) {
	t.Helper()
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	if unlock, err = filelock.Try(root, "lock"); err != nil {
		t.Fatal(err)
	}
	return root, unlock
}

func TestTry(t *testing.T) {
	t.Parallel()
	root, unlock := locked(t)
	if _, err := filelock.Try(root, "lock"); !errors.Is(err, filelock.ErrLocked) {
		t.Errorf("second holder: got %v, want %v", err, filelock.ErrLocked)
	}
	if other, err := filelock.Try(root, "other"); err != nil {
		t.Errorf("another lock: %v", err)
	} else {
		other()
	}
	unlock()
	again, err := filelock.Try(root, "lock")
	if err != nil {
		t.Fatalf("after it was given up: %v", err)
	}
	again()
}

// TestRemoveLocked checks that a locked file can be inspected and removed.
func TestRemoveLocked(t *testing.T) {
	t.Parallel()
	root, unlock := locked(t)
	if _, err := root.Lstat("lock"); err != nil {
		t.Errorf("look at it: %v", err)
	}
	if err := root.Remove("lock"); err != nil {
		t.Errorf("remove: %v", err)
	}
	unlock()
	if _, err := root.Lstat("lock"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("afterwards: got %v, want no file", err)
	}
}

// TestForks locks and unlocks a file while processes are started, each of which inherits the file
// for a moment.
func TestForks(t *testing.T) {
	t.Parallel()
	program, err := exec.LookPath("true")
	if err != nil {
		t.Skip("there is no program that does nothing")
	}
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	var all sync.WaitGroup
	var running atomic.Int64
	for range 4 {
		running.Add(1)
		all.Go(func() {
			defer running.Add(-1)
			for range 25 {
				if err := exec.CommandContext(t.Context(), program).Run(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for running.Load() > 0 {
		unlock, err := filelock.Try(root, "lock")
		if err != nil {
			t.Errorf("after it was unlocked: %v", err)
			break
		}
		unlock()
	}
	all.Wait()
}
