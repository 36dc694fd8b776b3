package sqlite

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// TestDenied checks that an error names what a user may not write, and each path once.
func TestDenied(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, folder := range []string{dir, filepath.Dir(dir)} { // only their owner may use them
		if err := os.Chmod(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	file := func(name string, folder, mode os.FileMode) string {
		path := filepath.Join(dir, name, "queue.db")
		if err := os.Mkdir(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if mode != 0 {
			if err := os.WriteFile(path, nil, mode); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(path, mode); err != nil { // in spite of the umask
				t.Fatal(err)
			}
		}
		if err := os.Chmod(filepath.Dir(path), folder); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.Chmod(filepath.Dir(path), 0o755) })
		return path
	}
	for _, tt := range []struct{ name, path, want string }{
		{"no file in a folder of another user", file("none", 0o555, 0), "permission denied"},
		{"a file of another user", file("other", 0o777, 0o444), "permission denied"},
		{"a file in a folder of another user", file("folder", 0o555, 0o666), "readonly"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			errs := make(chan error)
			go func() {
				runtime.LockOSThread() // and never unlock it, so that no other goroutine gets the thread
				if os.Geteuid() == 0 {
					if err := syscall.Setfsuid(65534); err != nil {
						errs <- err
						return
					}
				}
				s, err := Open(t.Context(), tt.path, Options{})
				if err == nil {
					_ = s.Close()
				}
				errs <- err
			}()
			got := fmt.Sprint(<-errs)
			want := fmt.Sprintf("must be able to write the file and its folder %s: ", filepath.Dir(tt.path))
			if !strings.Contains(got, tt.want) || !strings.Contains(got, want) || strings.Count(got, tt.path) != 1 {
				t.Errorf("got %s", got)
			}
		})
	}
}
