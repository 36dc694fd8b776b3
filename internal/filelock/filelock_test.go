package filelock_test

import (
	"errors"
	"os"
	"testing"

	"github.com/org/foreman-action/internal/filelock"
)

func TestTry(t *testing.T) {
	t.Parallel()
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	unlock, err := filelock.Try(root, "lock")
	if err != nil {
		t.Fatal(err)
	}
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
