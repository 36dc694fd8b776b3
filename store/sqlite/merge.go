package sqlite

import (
	"context"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	driver "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"github.com/org/foreman-action/internal/wait"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store/internal/sqlstore"
)

// Merged is a suffix like [Rescued], for a file whose content [Merge] has copied into another one.
const Merged = ".merged-"

// ErrTasks means that a file contains tasks, and cannot be merged into another one.
var ErrTasks = errors.New("the file contains tasks, so it is the queue of another server")

// ErrInUse means that another process has a file open.
var ErrInUse = errors.New("another program has the file open")

// A MergeResult reports what [Merge] did.
type MergeResult struct {
	Kept                      string // the new path of the merged file; empty: there was none
	Records, Ledgers, Cursors int    // how many rows were copied
}

// Merge copies the records, the ledgers and the cursors of the file from into the file into, and
// renames the file from. It reads files of all earlier versions and of the published harness. If
// both files contain a record or a ledger, the one that was written more often or later stays. A
// cursor that exists already stays.
//
// The copy is one transaction. The content of the file from stays as it is, so that an earlier
// program can use it again. If Merge is interrupted, the next call repeats it. If from does not
// exist, or is the same file as into, Merge does nothing.
//
// Errors: ErrInUse, if a process still has the file from open after 10 s; ErrTasks; queue.ErrNewer;
// files that are not databases; and those of the medium.
func Merge(ctx context.Context, into, from string) (MergeResult, error) {
	separate, err := differ(into, from)
	if err != nil || !separate {
		return MergeResult{}, err
	}
	m, err := merge(ctx, registered(), into, from)
	if err == nil {
		m.Kept = saveName(from, Merged)
		if err = os.Rename(from, m.Kept); err == nil {
			return m, nil
		}
		err = fmt.Errorf("its content was copied, but the file cannot be renamed; move it to another folder: %w", err)
	}
	if _, gone := os.Lstat(from); errors.Is(gone, fs.ErrNotExist) { // another process merged it at the same time
		return MergeResult{}, nil
	}
	return MergeResult{}, fmt.Errorf("copy %s into %s: %w", from, into, err)
}

// differ reports whether from exists and is not the same file as into.
func differ(into, from string) (bool, error) {
	old, err := os.Stat(from)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	now, err := os.Stat(into)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	return err == nil && !os.SameFile(old, now), err
}

// merge is Merge without the renaming. Opening a store changes its schema, so merge opens a copy of
// the file from, and it checks this copy before it opens the file into.
func merge(ctx context.Context, by sqldriver.Driver, into, from string) (m MergeResult, err error) {
	if from, err = filepath.Abs(from); err != nil {
		return m, err
	}
	old, err := lockFile(ctx, by, from)
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, old.close()) }() // until then no other process uses the copy
	clone := from + "-merge"
	if err := removeStore(clone); err != nil { // of an interrupted Merge
		return m, err
	}
	defer func() { err = errors.Join(err, removeStore(clone)) }()
	if err := create(clone); err != nil {
		return m, denied(err, clone)
	}
	if _, err := old.exec("VACUUM INTO $1", clone); err != nil {
		return m, unreadable(err, from)
	}
	if err := upgrade(ctx, by, clone); err != nil {
		return m, unreadable(err, from)
	}
	s, err := openFile(ctx, by, into, Options{})
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	m, err = s.engine.merge(clone)
	return m, unreadable(err, from)
}

// lockFile opens a file such that no other process can use it until the connection is closed. It
// waits while another process has the file open, but not longer than lockTime. It moves the content
// of the write-ahead log into the file.
func lockFile(ctx context.Context, by sqldriver.Driver, path string) (*conn, error) {
	ctx, cancel := context.WithTimeout(ctx, lockTime)
	defer cancel()
	for {
		c, err := lockOnce(by, path)
		switch {
		case err == nil:
			return c, nil
		case !errors.Is(err, ErrInUse):
			return nil, unreadable(denied(err, path), path)
		case wait.For(ctx, lockPause) != nil:
			return nil, err
		}
	}
}

// lockOnce is lockFile without waiting.
func lockOnce(by sqldriver.Driver, path string) (c *conn, err error) {
	if c, err = open(by, uri(filepath.ToSlash(path))); err != nil {
		return nil, err
	}
	defer func() {
		if locked(err) {
			err = fmt.Errorf("%w: %w", ErrInUse, err)
		}
		if err != nil {
			c, err = nil, errors.Join(err, c.close())
		}
	}()
	// Only a connection without others can leave the write-ahead mode. Then it keeps the file locked.
	for _, sql := range []string{"PRAGMA journal_mode = DELETE", "PRAGMA locking_mode = EXCLUSIVE", "BEGIN EXCLUSIVE", "COMMIT"} {
		if err := c.once(sql); err != nil {
			return c, err
		}
	}
	mode := ""
	if _, err = c.query("PRAGMA journal_mode", sqlstore.Into(&mode)); err == nil && mode != "delete" {
		err = ErrInUse // another process has changed it already
	}
	return c, err
}

// unreadable adds the remedy to the errors of a file that is damaged, or too large for the disk.
func unreadable(err error, path string) error {
	if !errors.Is(err, queue.ErrUnavailable) {
		err = medium(err)
	}
	e, ok := errors.AsType[*driver.Error](err)
	switch {
	case damage(err):
		return fmt.Errorf("%w; restore a backup of the file, or move it to another folder", err)
	case ok && e.Code()&0xff == lib.SQLITE_FULL:
		size := int64(0)
		if info, err := os.Stat(path); err == nil {
			size = info.Size()
		}
		return fmt.Errorf("%w; free up to %d MB on the disks of both files", err, 2*size>>20+1)
	}
	return err
}

// removeStore removes the files of a store, if there are any.
func removeStore(path string) error {
	var errs []error
	for _, suffix := range suffixes {
		if err := os.Remove(path + suffix); !errors.Is(err, fs.ErrNotExist) { //nolint:gosec // the path is where the user wants it
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// upgrade brings a file to the newest version of the schema, and checks that it contains no tasks.
func upgrade(ctx context.Context, by sqldriver.Driver, path string) error {
	s, err := openFile(ctx, by, path, Options{})
	if err != nil {
		return err
	}
	tasks := 0
	err = s.engine.Read(ctx, func(tx sqlstore.Tx) error {
		return tx.Query("SELECT count(*) FROM task", sqlstore.Into(&tasks))
	})
	if err == nil && tasks > 0 {
		err = ErrTasks
	}
	return errors.Join(err, s.Close())
}

// merge copies rows from a store in another file, which no process uses.
func (e *engine) merge(from string) (m MergeResult, err error) {
	c, err := open(e.driver, e.dsn, busyTimeout, "synchronous = FULL", fmt.Sprintf("wal_autocheckpoint = %d", maxLog))
	if err != nil {
		return m, medium(err)
	}
	defer func() { err = errors.Join(err, c.close()) }()
	if _, err := c.exec("ATTACH $1 AS old", uri(filepath.ToSlash(from))); err != nil {
		return m, medium(err)
	}
	if err := c.once("BEGIN IMMEDIATE"); err != nil {
		return m, medium(err)
	}
	for _, step := range []struct {
		sql  string
		rows *int
	}{
		{`INSERT INTO memory_record (repo, issue, revision, due, data) SELECT repo, issue, revision, due, data FROM old.memory_record WHERE true
ON CONFLICT (repo, issue) DO UPDATE SET revision = excluded.revision, due = excluded.due, data = excluded.data WHERE excluded.revision > memory_record.revision`, &m.Records},
		{`INSERT INTO memory_ledger (path, at, data) SELECT path, at, data FROM old.memory_ledger WHERE true
ON CONFLICT (path) DO UPDATE SET at = excluded.at, data = excluded.data WHERE excluded.at > memory_ledger.at`, &m.Ledgers},
		{"INSERT INTO poll_cursor (repo, at, data) SELECT repo, at, data FROM old.poll_cursor WHERE true ON CONFLICT DO NOTHING", &m.Cursors},
		{`INSERT INTO memory_aside (path, at, data) SELECT path, at, data FROM old.memory_aside o
WHERE NOT EXISTS (SELECT 1 FROM memory_aside a WHERE a.path = o.path AND a.at = o.at AND a.data = o.data) ORDER BY id`, new(int)},
	} {
		n, err := c.exec(step.sql)
		if err != nil {
			return m, errors.Join(medium(err), c.once("ROLLBACK"))
		}
		*step.rows = int(n)
	}
	return m, medium(c.once("COMMIT"))
}
