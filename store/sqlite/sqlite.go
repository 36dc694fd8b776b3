// Package sqlite keeps tasks, records, ledgers and cursors in one SQLite file: the store of
// a harness on one machine. Writes that returned without an error are on the disk.
//
// Several processes may use one file, but on one machine: SQLite's write-ahead log needs
// shared memory.
//
// One connection writes, by way of package groupcommit, and four read (engine.go). A file of
// the published harness is converted when it is opened (published.go).
package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store/internal/sqlqueue"
	"github.com/org/foreman-action/store/internal/sqlstore"
)

// Options configure a store. The zero value is usable.
type Options struct {
	// Now is the clock; nil: a monotonic clock that starts with the time of day, so that
	// setting the time moves no lease. On Linux all processes of the machine that use the
	// file share it; elsewhere each has its own. With a clock from the caller, the writer
	// never waits for real time to pass.
	Now func() time.Time

	machine machine // for tests; the zero value is the real one
}

// A Store keeps everything in one file. It is safe for concurrent use.
type Store struct {
	*sqlqueue.Queue
	*sqlstore.Records
	*sqlstore.Ledgers
	*sqlstore.Cursors
	*sqlstore.Leaders
	*sqlstore.Slots

	engine *engine
}

// Open opens a file, creates it and the folders above it if there is none, and brings it
// to the newest version of the schema. Errors: queue.ErrNewer; a file system that is not
// on this machine; a file that is no database; and those of the medium.
func Open(ctx context.Context, path string, o Options) (*Store, error) {
	s, err := openFile(ctx, registered(), path, o)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	return s, nil
}

// registered returns the driver that modernc.org/sqlite registers.
func registered() driver.Driver {
	db, err := sql.Open("sqlite", "")
	if err != nil {
		panic(err) // the driver is linked in
	}
	defer db.Close()
	return db.Driver()
}

func openFile(ctx context.Context, by driver.Driver, path string, o Options) (*Store, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if err := create(path); err != nil {
		return nil, err
	}
	c := newClock(o.machine)
	e := &engine{driver: by, dsn: (&url.URL{Scheme: "file", Path: path}).String(), pragmas: durable(), now: c.now, ahead: c.ahead, patient: o.Now == nil}
	if o.Now != nil {
		c.boot = ""
		e.now = func() int64 { return o.Now().UnixMilli() }
		e.ahead = func() time.Duration { return 0 }
	}
	if err := e.start(); err != nil {
		return nil, medium(err)
	}
	d := sqlstore.SQLite()
	err = e.Write(ctx, func(tx sqlstore.Tx) error { return migrate(tx, d, c) })
	if err != nil {
		return nil, errors.Join(err, e.close())
	}
	return &Store{
		sqlqueue.New(e, d), sqlstore.NewRecords(e, d), sqlstore.NewLedgers(e, d), sqlstore.NewCursors(e, d),
		sqlstore.NewLeaders(e, d), sqlstore.NewSlots(e, d), e,
	}, nil
}

// create makes sure that the file exists, is readable by its owner only, and is on a file
// system that SQLite can use.
func create(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil { //nolint:gosec // the path is where the user wants it
		return err
	}
	if err := local(filepath.Dir(path)); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600) //nolint:gosec // as above
	if err != nil {
		return err
	}
	return f.Close()
}

// Close closes the store after all waiting calls were answered.
func (s *Store) Close() error { return s.engine.close() }

// Healthy returns the last error of a write, until a write of the size of a task succeeds
// again; nil: none.
func (s *Store) Healthy() error {
	failing := s.engine.writer.Failure.Load()
	if failing == nil {
		return nil
	}
	// A full disk may have room for small writes, and there may have been none since.
	for _, sql := range []string{
		fmt.Sprintf("INSERT INTO poll_cursor (repo, at, data) VALUES ($1, 0, zeroblob(%d)) ON CONFLICT (repo) DO UPDATE SET data = excluded.data", roomOfTask),
		"DELETE FROM poll_cursor WHERE repo = $1",
	} {
		err := s.engine.Write(context.Background(), func(tx sqlstore.Tx) error {
			_, err := tx.Exec(sql, "?probe") // no repository's name
			return err
		})
		if err != nil {
			return err
		}
	}
	s.engine.writer.Failure.CompareAndSwap(failing, nil)
	return nil
}

// roomOfTask is the number of bytes that a healthy disk must have room for.
const roomOfTask = 128 << 10

// Backup writes a copy of the store to a new file, while the store is in use. Errors: the
// file exists; and those of the medium.
func (s *Store) Backup(ctx context.Context, path string) error {
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("back up to %s: there is such a file already", path)
	}
	if err := create(path); err != nil {
		return fmt.Errorf("back up to %s: %w", path, err)
	}
	err := s.engine.copyTo(ctx, path)
	if err != nil {
		return fmt.Errorf("back up to %s: %w", path, errors.Join(medium(err), os.Remove(path)))
	}
	return nil
}

var _ queue.Queue = (*Store)(nil)
