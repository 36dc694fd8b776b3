//go:build unix

package git_test

import (
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestLimit has a named pipe in place of a file that git reads. No process writes to the pipe.
func TestLimit(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	if err := syscall.Mkfifo(filepath.Join(r.Dir, ".gitignore"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.Limit = 300 * time.Millisecond
	_, err := r.Run(t.Context(), "ls-files", "--others", "--exclude-standard")
	if err == nil || err.Error() != "git ls-files: it took longer than 300ms, perhaps because of a named pipe among the files" {
		t.Errorf("got %v", err)
	}
}
