//go:build !windows

package sqlite_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store/sqlite"
)

// newTask returns the n-th task of the tests here.
func newTask(n int) queue.Task {
	return queue.Task{ID: fmt.Sprintf("00000000-0000-4000-8000-%012d", n), Agent: "http://agent", Repo: "o/r", Issue: n, Message: []byte(`{}`)}
}

// TestReplaced removes or replaces a file of a store under constant writes. No write is accepted
// afterwards, and the rescued copy contains all accepted writes.
func TestReplaced(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		replace func(path string) error
		inplace bool // the file is overwritten, so there may be no data to rescue
	}{
		{"removed", os.Remove, false},
		{"renamed", func(path string) error { return os.Rename(path, path+".old") }, false},
		{"replaced", func(path string) error {
			return errors.Join(os.WriteFile(path+".new", []byte("another file"), 0o600), os.Rename(path+".new", path))
		}, false},
		{"replaced by an empty one", func(path string) error {
			return errors.Join(os.Remove(path), os.WriteFile(path, nil, 0o600))
		}, false},
		{"its log removed", func(path string) error { return os.Remove(path + "-wal") }, false},
		{"its log's index removed", func(path string) error { return os.Remove(path + "-shm") }, false},
		{"its folder removed", func(path string) error { return os.RemoveAll(filepath.Dir(path)) }, false},
		{"its folder replaced", func(path string) error {
			dir := filepath.Dir(path)
			return errors.Join(os.Rename(dir, dir+".old"), os.Mkdir(dir, 0o700), os.WriteFile(path, []byte("another file"), 0o600))
		}, false},
		{"emptied", func(path string) error { return os.Truncate(path, 0) }, true},
		{"overwritten by itself", func(path string) error {
			data, err := os.ReadFile(path)
			return errors.Join(err, os.WriteFile(path, data, 0o600))
		}, true},
		{"overwritten by a backup", func(path string) error {
			s, err := sqlite.Open(t.Context(), path+".backup", sqlite.Options{})
			if err != nil {
				return err
			}
			err = s.Close()
			data, failed := os.ReadFile(path + ".backup")
			return errors.Join(err, failed, os.WriteFile(path, data, 0o600))
		}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "store", "queue.db")
			s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
			if err != nil {
				t.Fatal(err)
			}
			closed := false
			defer func() {
				if !closed {
					_ = s.Close()
				}
			}()
			opened, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			lost := make(chan error, 1)
			go func() { lost <- s.Lost(t.Context()) }() // as a server does
			// An overwrite during a checkpoint is not detected, so the test excludes it.
			var writing sync.RWMutex
			var accepted sync.Map
			var writers sync.WaitGroup
			written := make(chan struct{}, 1000)
			for w := range 4 {
				writers.Go(func() {
					for n := 1; ; n++ {
						writing.RLock()
						_, err := s.Queue().Enqueue(t.Context(), newTask(w*1_000_000+n))
						writing.RUnlock()
						if err != nil {
							if !errors.Is(err, queue.ErrUnavailable) || !errors.Is(err, sqlite.ErrReplaced) {
								t.Errorf("got %v, want it to be unavailable, and replaced", err)
							}
							return
						}
						accepted.Store(newTask(w*1_000_000+n).ID, true)
						select {
						case written <- struct{}{}:
						default:
						}
					}
				})
			}
			for range 50 {
				<-written
			}
			if tt.inplace {
				writing.Lock()
			}
			if err := tt.replace(path); err != nil {
				t.Fatal(err)
			}
			if tt.inplace {
				writing.Unlock()
			}
			writers.Wait()
			if err := <-lost; !errors.Is(err, sqlite.ErrReplaced) {
				t.Errorf("Lost: got %v", err)
			}
			if err := s.Healthy(); !errors.Is(err, sqlite.ErrReplaced) {
				t.Errorf("Healthy: got %v", err)
			}
			if _, err := s.Queue().Stats(t.Context()); !errors.Is(err, sqlite.ErrReplaced) {
				t.Errorf("a read: got %v", err)
			}
			rescued, err := s.Rescue(t.Context())
			if tt.inplace {
				if err == nil {
					compare(t, rescued, &accepted)
				}
				was, _ := os.ReadFile(path)
				closed = true
				if err := s.Close(); err != nil {
					t.Errorf("close: %v", err)
				}
				overwritten(t, path, was, &accepted)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if info, err := os.Stat(rescued); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("got %v, %v", info.Mode(), err)
			}
			was, _ := os.ReadFile(path)
			closed = true
			if err := s.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
			if is, _ := os.ReadFile(path); string(was) == "another file" && !bytes.Equal(is, was) {
				t.Errorf("what replaced the file was written to: %q", is)
			}
			// Only the log or its index was removed.
			if now, err := os.Stat(path); err == nil && os.SameFile(opened, now) {
				compare(t, path, &accepted)
			}
			for _, suffix := range []string{"-wal", "-shm"} {
				if _, err := os.Stat(path + suffix); err == nil {
					t.Errorf("queue.db%s is still there, for the next database of that name", suffix)
				}
			}
			compare(t, rescued, &accepted)
		})
	}
}

// overwritten checks the files of a closed store whose file was overwritten. A file with the same
// content is still complete together with its log. A file with other content must be unchanged.
func overwritten(t *testing.T, path string, was []byte, accepted *sync.Map) {
	t.Helper()
	is, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(is, was) {
		t.Errorf("the file was written to after it was overwritten: %v", err)
	}
	// The connections to the file stay open until this process ends, so the test opens a copy.
	dir := t.TempDir()
	log, err := os.ReadFile(path + "-wal")
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "queue.db-wal"), log, 0o600)
	}
	copied := filepath.Join(dir, "queue.db")
	if err := errors.Join(err, os.WriteFile(copied, is, 0o600)); err == nil {
		compare(t, copied, accepted)
		return
	}
	if kept, err := filepath.Glob(path + ".log-*"); err != nil || len(kept) != 1 {
		t.Errorf("the log was not kept: %v, %v", kept, err)
	}
	if len(was) == 0 {
		return
	}
	s, err := sqlite.Open(t.Context(), copied, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if list, err := queue.List(t.Context(), s.Queue(), queue.Filter{}); err != nil || len(list) != 0 {
		t.Errorf("the backup has no tasks; got %d, %v", len(list), err)
	}
}

// compare fails the test unless all accepted tasks are in a file.
func compare(t *testing.T, path string, accepted *sync.Map) {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	missing := 0
	accepted.Range(func(id, _ any) bool {
		if _, err := s.Queue().Inspect(t.Context(), id.(string)); err != nil {
			missing++
		}
		return true
	})
	if missing > 0 {
		t.Errorf("%s: %d tasks were accepted, and are lost", filepath.Base(path), missing)
	}
}

// TestReplacedUnwritten removes or replaces the file while nothing is written. A look at the store's
// health detects it, and the file can be rescued.
func TestReplacedUnwritten(t *testing.T) {
	t.Parallel()
	for name, replace := range map[string]func(path string) error{
		"removed": os.Remove,
		"replaced": func(path string) error {
			return errors.Join(os.WriteFile(path+".new", []byte("another file"), 0o600), os.Rename(path+".new", path))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "queue.db")
			s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if _, err := s.Queue().Enqueue(t.Context(), newTask(1)); err != nil {
				t.Fatal(err)
			}
			if err := replace(path); err != nil {
				t.Fatal(err)
			}
			if err := s.Healthy(); !errors.Is(err, queue.ErrUnavailable) || !errors.Is(err, sqlite.ErrReplaced) {
				t.Errorf("got %v, want it to be unavailable, and replaced", err)
			}
			rescued, err := s.Rescue(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var accepted sync.Map
			accepted.Store(newTask(1).ID, true)
			compare(t, rescued, &accepted)
		})
	}
}

// TestReplacedIdle checks that a removed file is detected even if nothing is written.
func TestReplacedIdle(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "queue.db")
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := s.Lost(ctx); err != nil {
		t.Errorf("got %v for a file that is in place", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	ctx, stop = context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	if err := s.Lost(ctx); !errors.Is(err, sqlite.ErrReplaced) {
		t.Errorf("got %v", err)
	}
}

// TestReplacedLog puts another database in place of the store's own: the store does not touch the
// other database's log.
func TestReplacedLog(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "queue.db")
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := errors.Join(os.Remove(path+suffix), os.WriteFile(path+suffix, []byte("another file"), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Queue().Enqueue(t.Context(), newTask(1)); !errors.Is(err, sqlite.ErrReplaced) {
		t.Errorf("got %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if data, err := os.ReadFile(path + suffix); err != nil || string(data) != "another file" {
			t.Errorf("queue.db%s: got %q, %v", suffix, data, err)
		}
	}
}
