// Package sqlite keeps tasks, records, ledgers and cursors in one SQLite file: the store of a
// harness on one machine. A write that returned without an error is on the disk.
//
// Several processes may use one file if they run on one machine, because SQLite's write-ahead log
// needs shared memory. Each process that leases decisions keeps a lock file beside the database
// locked, so that other processes detect at once when it was killed (holders.go).
//
// After every group of writes the store checks that its file was not removed or replaced (inplace.go).
// Windows itself prevents that.
//
// One connection writes, with package groupcommit, and four read (engine.go). A file of the
// published harness is converted when it is opened (published.go).
package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/queue/history"
	"github.com/org/foreman-action/store"
	"github.com/org/foreman-action/store/internal/batch"
	"github.com/org/foreman-action/store/internal/sqlhistory"
	"github.com/org/foreman-action/store/internal/sqlqueue"
	"github.com/org/foreman-action/store/internal/sqlsteps"
	"github.com/org/foreman-action/store/internal/sqlstore"
)

// Options configure a store. The zero value is usable.
type Options struct {
	// Now is the clock; nil: a monotonic clock that starts with the time of day, so that setting
	// the time of day changes no lease. Each process has its own. If the caller sets Now, the
	// writer never waits for real time to pass.
	Now func() time.Time
	// NoMigration makes Open refuse a file whose schema is older than that of this program, with
	// queue.ErrOlder, instead of upgrading it, because a running process of an earlier version could
	// not use the file any more. Open also creates no file then.
	NoMigration bool

	machine machine // for tests; the zero value is the real one
}

// A Store keeps everything in one file. It is safe for concurrent use.
type Store struct {
	engine  *engine
	holders *holders
	queue   *tasks
	records *sqlstore.Records
	ledgers *sqlstore.Ledgers
	cursors *sqlstore.Cursors
	leaders *sqlstore.Leaders
	slots   *sqlstore.Slots
	steps   *sqlsteps.Steps
	history *sqlhistory.Store
}

// Open opens a file, and brings it to the newest version of the schema. It creates the file and
// its folders if necessary. See Options.NoMigration. Errors: queue.ErrNewer; a network file system; a file that is not a
// database; and those of the medium.
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
	find := create
	if o.NoMigration {
		find = existing
	}
	path, err := resolve(path, find)
	if err != nil {
		return nil, err
	}
	if o.NoMigration { // before the first connection that writes, which may change the journal mode
		if err := compare(by, path); err != nil {
			return nil, err
		}
	}
	before, err := os.Stat(path) //nolint:gosec // the path is where the user wants it
	if err != nil {
		return nil, err
	}
	c := newClock(o.machine)
	e := &engine{files: newFiles(path), driver: by, dsn: uri(filepath.ToSlash(path)), pragmas: durable(), now: c.now, ahead: c.ahead, patient: o.Now == nil}
	if o.Now != nil {
		e.now = func() int64 { return o.Now().UnixMilli() }
		e.ahead = func() time.Duration { return 0 }
	}
	if err := e.start(); err != nil {
		return nil, denied(medium(err), path)
	}
	d, h := sqlstore.SQLite(), newHolders(path)
	correct := o.Now == nil && h.alone()
	err = e.Write(ctx, func(tx sqlstore.Tx) error {
		if !o.NoMigration {
			if err := migrate(tx, d); err != nil {
				return err
			}
		}
		if !correct {
			return nil
		}
		return setBack(tx, c.now())
	})
	if err == nil {
		err = e.files.remember(before)
	}
	if err != nil {
		return nil, errors.Join(denied(err, path), e.close())
	}
	all := batch.NewEngine(e)
	q := sqlqueue.New(all, d, h)
	s := &Store{
		engine: e, holders: h, queue: &tasks{q, e}, records: sqlstore.NewRecords(e, d), ledgers: sqlstore.NewLedgers(e, d),
		cursors: sqlstore.NewCursors(e, d), leaders: sqlstore.NewLeaders(e, d, slog.New(slog.DiscardHandler)), slots: sqlstore.NewSlots(e, d), history: sqlhistory.New(e, d),
	}
	s.steps = sqlsteps.New(all, d, sqlsteps.Parts{Queue: q, Records: s.records, Ledgers: s.ledgers, Slots: s.slots})
	return s, nil
}

// resolve returns the absolute path of a file without symbolic links, because SQLite keeps its
// other files beside the target of a link. find makes sure that the file is there.
func resolve(path string, find func(path string) error) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if err := find(path); err != nil {
		return "", denied(err, path)
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return "", err
	}
	return path, local(filepath.Dir(path))
}

// compare checks that a file has the newest version of the schema. It does not change the file.
func compare(by driver.Driver, path string) error {
	c, err := open(by, uri(filepath.ToSlash(path)), busyTimeout, "query_only = ON")
	if err != nil {
		return denied(medium(err), path)
	}
	err = sqlstore.Compare(&tx{conn: c}, sqlstore.SQLite())
	return denied(medium(errors.Join(err, c.close())), path)
}

// uri returns the URI of an existing file, as https://www.sqlite.org/uri.html defines it: before
// the letter of a Windows drive there is another slash. With mode=rw SQLite never creates the file, so
// that a removed one stays removed.
func uri(path string) string {
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	u := url.URL{Scheme: "file", Path: path, RawQuery: "mode=rw"}
	return u.String()
}

// create makes sure that the file exists, that only its owner can read it, and that SQLite can
// use its file system.
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

// existing makes sure that the file exists and can be written, and that SQLite can use its file
// system.
func existing(path string) error {
	if err := local(filepath.Dir(path)); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0) //nolint:gosec // the path is where the user wants it
	if err != nil {
		return err
	}
	return f.Close()
}

// Queue returns the queue of tasks.
func (s *Store) Queue() queue.Queue { return s.queue }

// Memory returns the records of issues.
func (s *Store) Memory() memory.Agenda { return s.records }

// DeleteRecord deletes the record of an issue, the ledgers of its tasks, and unreadable texts that were kept of
// them. It returns what it deleted, for people; nil if there was nothing. A server must not work on the issue meanwhile.
func (s *Store) DeleteRecord(ctx context.Context, repo string, issue int) ([]string, error) {
	return s.records.Delete(ctx, repo, issue)
}

// Journal returns the ledgers of tasks.
func (s *Store) Journal() memory.Journal { return s.ledgers }

// Pauses returns the pauses of the queue.
func (s *Store) Pauses() queue.Pauses { return s.queue }

// Slots returns the rate limiter of writes.
func (s *Store) Slots() queue.Slots { return s.slots }

// Advance makes a step of a decision in one transaction. After an error nothing of it is stored, except
// that after [queue.ErrUnavailable] it may be. Errors: [queue.ErrLost] if the lease is lost;
// [memory.ErrConflict] and others of [memory.Store] if the record cannot be saved; an error if the ledger
// or the record is invalid.
func (s *Store) Advance(ctx context.Context, step store.Step) (store.Advanced, error) {
	return s.steps.Advance(ctx, step)
}

// History returns the history of the tasks, as charts show it.
func (s *Store) History() history.Store { return s.history }

// Cursor returns the stored cursor of a repository's poller; nil: none. Letter case does not matter.
func (s *Store) Cursor(ctx context.Context, repo string) ([]byte, error) {
	return s.cursors.Cursor(ctx, repo)
}

// SaveCursor stores the cursor of a repository's poller. When it returns nil, the cursor is durable.
func (s *Store) SaveCursor(ctx context.Context, repo string, data []byte) error {
	return s.cursors.SaveCursor(ctx, repo, data)
}

// Lead runs f while this process leads among those that use the database.
func (s *Store) Lead(ctx context.Context, name string, f func(context.Context) error) error {
	return s.leaders.Lead(ctx, name, f)
}

// Close waits until all calls are answered, and closes the store.
func (s *Store) Close() error {
	err := s.engine.close()
	s.holders.close()
	return err
}

// Lost waits until the store's file is removed or replaced. Then it returns an ErrReplaced that
// describes what happened, and every later call of the store returns the same error. If ctx ends
// first, as always on Windows, Lost returns nil.
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
			_ = s.engine.files.check() // an error other than ErrReplaced may be temporary
		}
	}
}

// The suffixes of the files that are saved when a store is lost. The name of such a file is the
// store's name, the suffix, and the time.
const (
	Rescued  = ".rescued-" // copies that [Store.Rescue] makes
	SavedLog = ".log-"     // the log of an overwritten store, saved by Close
)

// saveTime is the format of the time in the name of a saved file, in UTC. Sorting the names sorts
// the files by time.
const saveTime = "20060102T150405.000"

// IsSaveTime reports whether text has the format of the time in the name of a saved file.
func IsSaveTime(text string) bool {
	_, err := time.Parse(saveTime, text)
	return err == nil
}

// saveName returns the name of a file that is saved now.
func saveName(path, kind string) string { return path + kind + time.Now().UTC().Format(saveTime) }

// Rescue copies the data of a lost store into a new file beside it, and returns the file's path.
// The copy contains all writes before the loss, as far as the medium still has them.
func (s *Store) Rescue(ctx context.Context) (path string, err error) {
	path = saveName(s.engine.files.path, Rescued)
	if _, err := os.Lstat(path); err == nil {
		return "", fmt.Errorf("rescue the database to %s: the file exists already", path)
	}
	if err := create(path); err != nil {
		return "", fmt.Errorf("rescue the database to %s: %w", path, err)
	}
	if err := s.engine.rescue(ctx, path); err != nil {
		return "", fmt.Errorf("rescue the database to %s: %w", path, errors.Join(err, os.Remove(path)))
	}
	return path, nil
}

// Healthy returns the last error of a write; nil: none. After an error it tries a write of the
// size of a task, and returns nil once such a write succeeds.
func (s *Store) Healthy() error {
	if err := s.engine.files.check(); err != nil {
		return err
	}
	failing := s.engine.writer.Failure.Load()
	if failing == nil {
		return nil
	}
	// A full disk may have room for small writes only, so this write has the size of a task.
	for _, sql := range []string{
		fmt.Sprintf("INSERT INTO poll_cursor (repo, at, data) VALUES ($1, 0, zeroblob(%d)) ON CONFLICT (repo) DO UPDATE SET data = excluded.data", roomOfTask),
		"DELETE FROM poll_cursor WHERE repo = $1",
	} {
		err := s.engine.Write(context.Background(), func(tx sqlstore.Tx) error {
			_, err := tx.Exec(sql, "?probe") // no repository has this name
			return err
		})
		if err != nil {
			return err
		}
	}
	s.engine.writer.Failure.CompareAndSwap(failing, nil)
	return nil
}

// roomOfTask is the number of bytes that Healthy tries to write.
const roomOfTask = 128 << 10

// Backup writes a copy of the file from to the new file to, while stores may use the file from. It
// copies a file of an earlier version as it is, so that the earlier program can use the copy.
// Errors: a file to that exists; queue.ErrNewer; a file that is not a database; and those of the
// medium.
func Backup(ctx context.Context, from, to string) error {
	if err := backup(ctx, registered(), from, to); err != nil {
		return fmt.Errorf("back up %s to %s: %w", from, to, err)
	}
	return nil
}

func backup(ctx context.Context, by driver.Driver, from, to string) error {
	if _, err := os.Lstat(to); err == nil {
		return errors.New("the file exists already")
	}
	from, err := resolve(from, existing)
	if err != nil {
		return err
	}
	if err := compare(by, from); err != nil && !errors.Is(err, queue.ErrOlder) {
		return err
	}
	if err := errors.Join(ctx.Err(), create(to)); err != nil {
		return err
	}
	c, err := open(by, uri(filepath.ToSlash(from)), busyTimeout)
	if err == nil {
		_, err = c.exec("VACUUM INTO $1", to)
		err = errors.Join(err, c.close())
	}
	if err != nil {
		return errors.Join(medium(err), os.Remove(to))
	}
	return nil
}
