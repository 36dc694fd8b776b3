//go:build darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd

package file_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/memory/file"
	"github.com/org/foreman-action/memory/memorytest"
)

// TestFilePipe puts a pipe that no process writes to in the place of a record.
func TestFilePipe(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	mkdir(t, filepath.Join(dir, "org/repo"))
	if err := syscall.Mkfifo(filepath.Join(dir, "org/repo/42.json"), 0o644); err != nil {
		t.Skipf("no pipes here: %v", err)
	}
	f := open(t, dir)
	if _, err := f.Load(t.Context(), "org/repo", 42); !errors.Is(err, memory.ErrBroken) {
		t.Errorf("Load: got %v, want ErrBroken", err)
	}
	if err := f.Save(t.Context(), memorytest.Sample("org/repo", 42)); err != nil {
		t.Errorf("Save: %v", err)
	}
	if r, err := f.Load(t.Context(), "org/repo", 42); err != nil || r.Revision != 1 {
		t.Errorf("Load after Save: got revision %d and %v", r.Revision, err)
	}
}

// TestSyncDir syncs a directory of a file system that does not support it, and a missing
// directory.
func TestSyncDir(t *testing.T) {
	t.Parallel()
	root, err := os.OpenRoot("/proc")
	if err != nil {
		t.Skipf("no such file system here: %v", err)
	}
	defer root.Close()
	if err := file.SyncDir(root, "."); err != nil {
		t.Errorf("got %v", err)
	}
	if err := file.SyncDir(root, "missing"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing: got %v", err)
	}
	for err, want := range map[error]bool{nil: false, syscall.EINVAL: true, syscall.ENOTSUP: true, syscall.EIO: false, syscall.ENOSPC: false} {
		if got := file.Unsyncable(&fs.PathError{Op: "sync", Err: err}); got != want {
			t.Errorf("%v: got %v, want %v", err, got, want)
		}
	}
}
