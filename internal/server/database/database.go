// Package database opens the databases of the server: files of SQLite, or PostgreSQL.
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
	"github.com/org/foreman-action/store/postgres"
	"github.com/org/foreman-action/store/sqlite"
)

// A Store is an open database. It keeps tasks, records of issues, or both, and is safe for
// concurrent use.
type Store interface {
	queue.Queue
	queue.Slots
	memory.Store
	memory.Agenda
	memory.Journal
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

// Open opens the database at a location. log receives problems of the connection; nil discards
// them. For an invalid URL or a database of a newer program, Open returns a plain error. Any other
// error is a [command.FailedError].
func Open(ctx context.Context, location string, log *slog.Logger) (Store, error) {
	s, err := open(ctx, location, log)
	switch {
	case err == nil:
		return s, nil
	case errors.Is(err, postgres.ErrURL):
		return nil, err
	case errors.Is(err, queue.ErrNewer): // like a mistake in the configuration: a restart would not help
		return nil, fmt.Errorf("%w: it was upgraded by a newer foremand; run that version, or restore a backup", err)
	}
	return nil, command.Failed(err)
}

func open(ctx context.Context, location string, log *slog.Logger) (Store, error) {
	path, ok := File(location)
	if !ok {
		s, err := postgres.Open(ctx, location, postgres.Options{Log: log})
		if err != nil {
			return nil, err
		}
		return postgresStore{s, parts{s.Queue(), s.Slots(), s.Memory(), s.Journal()}}, nil
	}
	s, err := sqlite.Open(ctx, path, sqlite.Options{})
	if err != nil {
		return nil, err
	}
	return sqliteStore{s, parts{s.Queue(), s.Slots(), s.Memory(), s.Journal()}}, nil
}

// Stores are the databases of a server.
type Stores struct {
	Queue  Store // tasks
	Memory Store // records of issues; may be the same as Queue

	copies []savedCopy // copies that existed beside the databases when they were opened
}

// OpenAll opens the databases of a server, as [Open] does. If both locations are the same, the same
// Store is used for both. log receives problems of the connections, and the names of saved copies
// of lost databases.
func OpenAll(ctx context.Context, at Locations, log *slog.Logger) (Stores, error) {
	copies := keepCopies(ctx, at, log)
	q, err := Open(ctx, at.Queue, log)
	if err != nil {
		return Stores{}, fmt.Errorf("the queue: %w", err)
	}
	if at.Memory == at.Queue {
		return Stores{q, q, copies}, nil
	}
	m, err := Open(ctx, at.Memory, log)
	if err != nil {
		return Stores{}, errors.Join(fmt.Errorf("the memory: %w", err), q.Close())
	}
	return Stores{q, m, copies}, nil
}

// Guard waits until one of the databases can never be written to again, and returns the reason. It
// returns nil if ctx ends first.
func (s Stores) Guard(ctx context.Context, log *slog.Logger) error {
	if s.Memory == s.Queue {
		return s.Queue.Guard(ctx, log)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 2)
	go func() { ended <- wrap("the queue", s.Queue.Guard(ctx, log)) }()
	go func() { ended <- wrap("the memory", s.Memory.Guard(ctx, log)) }()
	first := <-ended
	stop()
	return errors.Join(first, <-ended)
}

// wrap adds the name of the database to an error.
func wrap(which string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", which, err)
}

// Close closes the databases.
func (s Stores) Close() error {
	if s.Memory == s.Queue {
		return s.Queue.Close()
	}
	return errors.Join(s.Memory.Close(), s.Queue.Close())
}
