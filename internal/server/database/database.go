// Package database opens the database of the server: a file of SQLite, or PostgreSQL.
package database

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/queue/history"
	"github.com/org/foreman-action/store"
	"github.com/org/foreman-action/store/postgres"
	"github.com/org/foreman-action/store/sqlite"
)

// A Store is an open database with the tasks, the records of issues, the journal and the cursors. It
// is safe for concurrent use.
type Store interface {
	queue.Queue
	queue.Slots
	queue.Pauses
	memory.Store
	memory.Agenda
	memory.Journal
	// DeleteRecord deletes the record of an issue and what belongs to it, and returns what it deleted, for people.
	DeleteRecord(ctx context.Context, repo string, issue int) ([]string, error)
	// Advance makes a step of a decision in one transaction.
	Advance(ctx context.Context, s store.Step) (store.Advanced, error)
	Cursor(ctx context.Context, name string) ([]byte, error)
	SaveCursor(ctx context.Context, name string, data []byte) error
	// History returns the history of the tasks, as charts show it.
	History() history.Store
	// Lead runs f while this process is the leader of the processes that use the database.
	Lead(ctx context.Context, name string, f func(context.Context) error) error
	// Healthy returns why the database cannot be written now; nil when it can.
	Healthy(ctx context.Context) error
	// Guard waits until the database can never be written to again. Then it saves as much of the
	// content as possible, and returns the reason. It returns nil if ctx ends first. It logs these
	// steps to log.
	Guard(ctx context.Context, log *slog.Logger) error
	Close() error
}

// A postgresStore is a Store in PostgreSQL. It never counts as lost, because its server may
// recover.
type postgresStore struct {
	*postgres.Store
	parts
}

// parts are the parts of a store.
type parts struct {
	queue.Queue
	queue.Slots
	queue.Pauses
	memory.Agenda
	memory.Journal
}

// Guard implements [Store].
func (postgresStore) Guard(ctx context.Context, _ *slog.Logger) error {
	<-ctx.Done()
	return nil
}

// A sqliteStore is a Store in a file.
type sqliteStore struct {
	*sqlite.Store
	parts
}

// Healthy implements [Store].
func (s sqliteStore) Healthy(context.Context) error { return s.Store.Healthy() }

// Guard implements [Store].
func (s sqliteStore) Guard(ctx context.Context, log *slog.Logger) error {
	err := s.Lost(ctx)
	if err == nil {
		return nil
	}
	log.ErrorContext(ctx, "database lost; refusing requests and stopping the server", "error", err)
	saved, failed := s.Rescue(context.WithoutCancel(ctx)) // a stop must not leave half a copy
	if failed != nil {
		return fmt.Errorf("%w; saving its content failed: %w", err, failed)
	}
	return fmt.Errorf("%w; its content was saved to %s. To restore it, stop the server, move the copy to the name of the database, remove -wal and -shm beside it, and start. Otherwise the next start uses the file in its place, or an empty database", err, saved)
}

// Open opens the database at a location beside a server. It never upgrades the database, because a
// running server of an earlier version could not use it any more. For an invalid URL, and for a
// database of an older or a newer program, Open returns a plain error. Any other error is a
// [command.FailedError].
func Open(ctx context.Context, location string) (Store, error) {
	return openClassified(ctx, location, postgres.Options{NoMigration: true}, sqlite.Options{NoMigration: true})
}

func openClassified(ctx context.Context, location string, p postgres.Options, f sqlite.Options) (Store, error) {
	s, err := open(ctx, location, p, f)
	if err != nil {
		return nil, classify(err)
	}
	return s, nil
}

// classify adds the remedy to an error of opening a database, and makes it a [command.FailedError]
// unless a restart would not help.
func classify(err error) error {
	switch {
	case errors.Is(err, postgres.ErrURL):
		return err
	case errors.Is(err, queue.ErrOlder):
		return fmt.Errorf("%w: the first start of this version of the server upgrades it; start that server, or use the commands of the earlier version", err)
	case errors.Is(err, queue.ErrNewer): // like a mistake in the configuration
		return fmt.Errorf("%w: it was upgraded by a newer foremand; run that version, or restore a backup", err)
	}
	return command.Failed(err)
}

func open(ctx context.Context, location string, p postgres.Options, f sqlite.Options) (Store, error) {
	path, ok := File(location)
	if !ok {
		s, err := postgres.Open(ctx, location, p)
		if err != nil {
			return nil, err
		}
		return postgresStore{s, parts{s.Queue(), s.Slots(), s.Pauses(), s.Memory(), s.Journal()}}, nil
	}
	s, err := sqlite.Open(ctx, path, f)
	if err != nil {
		return nil, err
	}
	return sqliteStore{s, parts{s.Queue(), s.Slots(), s.Pauses(), s.Memory(), s.Journal()}}, nil
}

// OpenServer opens the database of a server, and upgrades it; its errors are those of [Open]. First it
// moves the content of the memory's file, if there is one, into the queue's file. log receives problems
// of the connection, and the names of saved copies of a lost database, which OpenServer returns.
func OpenServer(ctx context.Context, at Locations, log *slog.Logger) (Store, Copies, error) {
	copies := keepCopies(ctx, at.Queue, log)
	if err := takeMemory(ctx, at, log); err != nil {
		return nil, nil, err
	}
	s, err := openClassified(ctx, at.Queue, postgres.Options{Log: log}, sqlite.Options{})
	return s, copies, err
}

// takeMemory moves the content of the memory's file, which earlier versions had beside that of the
// queue, into the queue's file.
func takeMemory(ctx context.Context, at Locations, log *slog.Logger) error {
	into, ok := File(at.Queue)
	if !ok || at.Memory == "" {
		return nil
	}
	from, _ := File(at.Memory)
	m, err := sqlite.Merge(ctx, into, from)
	switch {
	case errors.Is(err, sqlite.ErrTasks):
		return fmt.Errorf("%w: name the file of the memory by memory.db_path or --db, or remove the key", err)
	case errors.Is(err, sqlite.ErrInUse):
		return command.Failed(fmt.Errorf("%w: stop the foremand that still uses it, and start this one again", err))
	case err != nil:
		return classify(err)
	}
	if m.Kept != "" {
		log.InfoContext(ctx, "copied the memory into the database of the queue; the old file is kept: to go back to an earlier version, stop the server, restore its backup of the queue, and rename the old file",
			"database", into, "memory", from, "old_file", m.Kept, "records", m.Records, "ledgers", m.Ledgers, "cursors", m.Cursors)
	}
	return nil
}
