// Package sqlite keeps tasks, records, ledgers and cursors in one SQLite file: the store of
// a harness on one machine. Writes that returned without an error are on the disk.
//
// Several processes may use one file, but on one machine: SQLite's write-ahead log needs
// shared memory. Each that leases decisions keeps a lock beside the file for life, so that
// others learn at once when it was killed (holders.go).
//
// Every group of writes is checked to have gone to the file that has the store's name
// (inplace.go).
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

	engine  *engine
	holders *holders
}

// Open opens a file, creates it and the folders above it if there is none, and brings it to the
// newest version of the schema. Errors: queue.ErrNewer; a file system that is not on this
// machine; a file that is not a database; and those of the medium.
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
	// SQLite keeps its other files beside the target of a link.
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return nil, err
	}
	before, err := os.Stat(path) //nolint:gosec // the path is where the user wants it
	if err != nil {
		return nil, err
	}
	c := newClock(o.machine)
	e := &engine{files: newFiles(path), driver: by, dsn: (&url.URL{Scheme: "file", Path: path}).String(), pragmas: durable(), now: c.now, ahead: c.ahead, patient: o.Now == nil}
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
	if err == nil {
		err = e.files.remember(before)
	}
	if err != nil {
		return nil, errors.Join(err, e.close())
	}
	h := newHolders(path)
	return &Store{
		sqlqueue.New(e, d, h), sqlstore.NewRecords(e, d), sqlstore.NewLedgers(e, d), sqlstore.NewCursors(e, d),
		sqlstore.NewLeaders(e, d), sqlstore.NewSlots(e, d), e, h,
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
func (s *Store) Close() error {
	err := s.engine.close()
	s.holders.close()
	return err
}

// Lost waits until the store's file is removed or replaced, and returns an ErrReplaced with
// the way it happened. From then on every call returns that error. If ctx ends before, Lost
// returns nil.
func (s *Store) Lost(ctx context.Context) error {
	ticks := time.NewTicker(time.Second)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-s.engine.files.gone:
			return s.engine.files.err()
		case <-ticks.C:
			_ = s.engine.files.checkEach() // other errors than ErrReplaced may pass
		}
	}
}

// The files that are saved of a lost store have the store's name, one of these suffixes, and the
// time.
const (
	Rescued  = ".rescued-" // copies that [Store.Rescue] makes
	SavedLog = ".log-"     // the log of a store that was overwritten, which Close keeps
)

// saveTime is the layout of the time in the name of a saved file, in UTC. The names are in
// the order of their times.
const saveTime = "20060102T150405.000"

// IsSaveTime reports whether text is the time in the name of a file that was saved of a lost store.
func IsSaveTime(text string) bool {
	_, err := time.Parse(saveTime, text)
	return err == nil
}

// saveName returns the name under which something is saved now.
func saveName(path, kind string) string { return path + kind + time.Now().UTC().Format(saveTime) }

// Rescue copies the data of a lost store into a new file beside it, and returns its path. The
// copy has all writes before the file was removed or replaced that the medium still has.
func (s *Store) Rescue(ctx context.Context) (path string, err error) {
	path = saveName(s.engine.files.path, Rescued)
	if _, err := os.Lstat(path); err == nil {
		return "", fmt.Errorf("save it to %s: the file exists already", path)
	}
	if err := create(path); err != nil {
		return "", fmt.Errorf("save it to %s: %w", path, err)
	}
	if err := s.engine.rescue(ctx, path); err != nil {
		return "", fmt.Errorf("save it to %s: %w", path, errors.Join(err, os.Remove(path)))
	}
	return path, nil
}

// Healthy returns the last error of a write, until a write of the size of a task succeeds
// again; nil: none.
func (s *Store) Healthy() error {
	if err := s.engine.files.checkEach(); err != nil {
		return err
	}
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
		return fmt.Errorf("back up to %s: the file exists already", path)
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
