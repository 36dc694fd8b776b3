package sqlite

import (
	"database/sql/driver"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"
)

// TestOpenWritesNothing opens a file a second time while it is in use, as the command that lists
// the queue does. This must work on a full disk, so it must not write.
func TestOpenWritesNothing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "foreman.db")
	openAt(t, path)
	size := func() int64 {
		info, err := os.Stat(path + "-wal")
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	before := size()
	openAt(t, path)
	if after := size(); after != before {
		t.Errorf("the journal has %d bytes, and had %d before", after, before)
	}
}

// A watchedDriver opens connections that call a function before each statement.
type watchedDriver struct {
	driver.Driver
	before func(statement string)
}

func (d watchedDriver) Open(name string) (driver.Conn, error) {
	c, err := d.Driver.Open(name)
	return watchedConn{c, d.before}, err
}

type watchedConn struct {
	driver.Conn
	before func(statement string)
}

func (c watchedConn) Prepare(statement string) (driver.Stmt, error) {
	c.before(statement)
	return c.Conn.Prepare(statement)
}

// TestOpenTogether opens a new file while another process writes its first page. Open waits for
// the lock.
func TestOpenTogether(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "foreman.db")
	first, err := open(registered(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer first.close()
	for _, s := range []string{"CREATE TABLE sample (n)", "BEGIN IMMEDIATE"} {
		if err := first.once(s); err != nil {
			t.Fatal(err)
		}
	}
	tries := 0
	s, err := openFile(t.Context(), watchedDriver{registered(), func(statement string) {
		if statement == "PRAGMA journal_mode = WAL" {
			if tries++; tries == 3 {
				if err := first.once("ROLLBACK"); err != nil {
					t.Error(err)
				}
			}
		}
	}}, path, Options{})
	if err != nil {
		t.Fatalf("after %d tries: %v", tries, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if tries < 3 {
		t.Errorf("got %d tries, want at least 3", tries)
	}
}

// A removingDriver removes the file, if remove is set, before it opens it.
type removingDriver struct {
	driver.Driver

	path   string
	remove atomic.Bool
}

func (d *removingDriver) Open(name string) (driver.Conn, error) {
	if d.remove.Load() {
		if err := os.Remove(d.path); err != nil {
			return nil, err
		}
	}
	return d.Driver.Open(name)
}

// TestRemovedBeforeOpen removes the file after a check has found it, and before a connection opens
// it. The connection must not create an empty file.
func TestRemovedBeforeOpen(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows does not remove an open file")
	}
	path := filepath.Join(t.TempDir(), "q.db")
	by := &removingDriver{Driver: registered(), path: path}
	s, err := openFile(t.Context(), by, path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close() // the file is lost
	by.remove.Store(true)
	if _, err := s.Queue().Stats(t.Context()); !errors.Is(err, ErrReplaced) {
		t.Errorf("got %v, want ErrReplaced", err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file is there again: %v", err)
	}
}
