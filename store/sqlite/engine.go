package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store/internal/sqlstore"
	"github.com/org/foreman-action/store/sqlite/internal/groupcommit"
)

// An engine is a sqlstore.Engine for one file. One connection writes, and up to four read.
type engine struct {
	files   *files
	driver  driver.Driver
	dsn     string
	now     func() int64
	ahead   func() time.Duration // how far now is ahead of the time of day
	patient bool                 // the writer waits a moment for larger groups
	pragmas []string             // pragmas of the connection that writes
	db      *database            // used by the writer alone
	writer  *groupcommit.Writer
	readers chan *reader
}

// A reader contains a connection that reads; nil: it is not open yet.
type reader struct{ conn *conn }

// readerCache is the pragma for the page cache of a connection that reads, in units of 1,024 bytes. It is
// smaller than SQLite's default of 2 MB, because each write to the database empties it.
const readerCache = "cache_size = -500"

// maxReaders is the largest number of connections that read.
const maxReaders = 4

// durable returns the pragmas of the connection that writes. The order matters: the first ones
// have an effect only on an empty file.
func durable() []string {
	return []string{
		busyTimeout, vacuum, "journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON",
		"journal_size_limit = 67108864", fmt.Sprintf("wal_autocheckpoint = %d", maxLog), "temp_store = MEMORY",
	}
}

// start opens the connection that writes.
func (e *engine) start() error {
	if err := e.connect(); err != nil {
		e.files.index.release()
		return err
	}
	return nil
}

func (e *engine) connect() error {
	c, err := open(e.driver, e.dsn, e.pragmas...)
	if err != nil {
		return err
	}
	var version, mode string
	_, err = c.query("SELECT sqlite_version()", func(r sqlstore.Row) error { return r.Scan(&version) })
	if err == nil {
		err = checkVersion(version)
	}
	if err == nil {
		_, err = c.query("PRAGMA journal_mode", func(r sqlstore.Row) error { return r.Scan(&mode) })
	}
	if err == nil && mode != "wal" {
		err = fmt.Errorf("the journal mode is %s, because the file system does not support WAL; use a local disk", mode)
	}
	if err != nil {
		return errors.Join(err, c.close())
	}
	checkpoints := newCheckpointer(c)
	// A killed process may not have recorded how far its checkpoints got. A checkpoint records
	// this in the log's index. If it fails, for example on a full disk, a later checkpoint
	// records it.
	_, _ = checkpoints.checkpoint("PASSIVE")
	e.db = &database{tx: tx{conn: c, now: e.now}, files: e.files, checkpoints: checkpoints, requests: make(chan *rescueRequest, 1)}
	e.writer = groupcommit.Start(e.db, e.patient)
	e.readers = make(chan *reader, maxReaders)
	for range maxReaders {
		e.readers <- &reader{}
	}
	return nil
}

// close waits for the calls in progress, and closes all connections.
func (e *engine) close() error {
	err := e.writer.Close()
	foreign := e.files.foreign()
	for range maxReaders {
		r, ok := <-e.readers
		if !ok {
			return err // the engine is closed already
		}
		if r.conn != nil && !foreign {
			err = errors.Join(err, r.conn.close())
		}
	}
	close(e.readers)
	if !foreign {
		e.files.index.release()
	}
	return errors.Join(err, e.files.clear(e.intact))
}

// intact reports whether the database and its log match.
func (e *engine) intact() bool {
	if info, err := os.Stat(e.files.path); err != nil || info.Size() == 0 {
		return false // SQLite would remove the log of an empty file
	}
	c, err := open(e.driver, e.dsn, busyTimeout, "query_only = ON")
	if err != nil {
		return false
	}
	var result string
	_, err = c.query("PRAGMA integrity_check(1)", func(r sqlstore.Row) error { return r.Scan(&result) })
	return errors.Join(err, c.close()) == nil && result == "ok"
}

// Write implements sqlstore.Engine.
func (e *engine) Write(ctx context.Context, f func(sqlstore.Tx) error) error {
	return e.writer.Write(ctx, f)
}

// WriteOne implements sqlstore.Engine.
func (e *engine) WriteOne(ctx context.Context, f func(sqlstore.Tx) error) error {
	return e.writer.Write(ctx, f)
}

// WriteBatch implements sqlstore.Engine.
func (e *engine) WriteBatch(ctx context.Context, f func(sqlstore.Tx, []*sqlstore.ClaimRequest) error, w *sqlstore.ClaimRequest) error {
	return e.writer.WriteBatch(ctx, f, w)
}

// Announce implements sqlstore.Engine. It does nothing, because other processes poll the file.
func (e *engine) Announce(queue.Change) {}

// Read implements sqlstore.Engine.
func (e *engine) Read(ctx context.Context, f func(sqlstore.Tx) error) error {
	if err := errors.Join(ctx.Err(), e.files.err()); err != nil {
		return err
	}
	select {
	case r, ok := <-e.readers:
		if !ok {
			return groupcommit.ErrClosed
		}
		defer func() { e.readers <- r }()
		return medium(e.read(r, f))
	case <-ctx.Done():
		return ctx.Err()
	}
}

// ReadOne implements sqlstore.Engine.
func (e *engine) ReadOne(ctx context.Context, f func(sqlstore.Tx) error) error { return e.Read(ctx, f) }

// read runs f with a reader's connection in one transaction, so that all its statements see the
// same state.
func (e *engine) read(r *reader, f func(sqlstore.Tx) error) (err error) {
	if r.conn == nil {
		if err := e.files.check(); err != nil {
			return err
		}
		r.conn, err = open(e.driver, e.dsn, busyTimeout, "query_only = ON", "temp_store = MEMORY", readerCache)
		if lost := e.files.check(); lost != nil { // open may have found no file, or another one
			if r.conn != nil {
				_ = r.conn.close()
				r.conn = nil
			}
			return lost
		}
		if err != nil {
			return err
		}
	}
	ended := false
	defer func() {
		if !ended { // the connection may still be in the transaction
			_ = r.conn.close()
			r.conn = nil
		}
	}()
	if _, err := r.conn.exec("BEGIN"); err != nil {
		return err
	}
	err = f(&tx{conn: r.conn, now: e.now})
	_, failed := r.conn.exec("COMMIT")
	ended = failed == nil
	return errors.Join(err, failed)
}

// rescue writes a copy of a lost database to an empty file. It uses the connection that still has
// the database open.
func (e *engine) rescue(ctx context.Context, path string) error {
	if e.files.overwritten.Load() && !e.intact() {
		return fmt.Errorf("the file was partly overwritten and cannot be copied; its write-ahead log is kept as %s%sTIME", e.files.path, SavedLog)
	}
	request := &rescueRequest{path: path, done: make(chan error, 1)}
	select {
	case e.db.requests <- request:
	case <-ctx.Done():
		return ctx.Err()
	}
	// The write wakes the writer. It fails because the file is lost, but Maintain runs afterwards
	// and makes the copy.
	if err := e.writer.Write(ctx, func(sqlstore.Tx) error { return nil }); errors.Is(err, groupcommit.ErrClosed) {
		return err
	}
	select {
	case err := <-request.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}
