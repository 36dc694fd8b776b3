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
	// Lead runs f while this process leads among those that use the database.
	Lead(ctx context.Context, name string, f func(context.Context) error) error
	// Healthy returns why the database cannot be written now; nil when it can.
	Healthy(ctx context.Context) error
	Close() error
}

var _ Store = (*postgres.Store)(nil)

// A sqliteStore is a Store in a file.
type sqliteStore struct{ *sqlite.Store }

// Healthy implements [Store].
func (s sqliteStore) Healthy(context.Context) error { return s.Store.Healthy() }

// Open opens the database at a location. log receives problems of the connection; nil
// discards. A wrong URL is an error as it is, any other one a [command.FailedError].
func Open(ctx context.Context, location string, log *slog.Logger) (Store, error) {
	s, err := open(ctx, location, log)
	switch {
	case err == nil:
		return s, nil
	case errors.Is(err, postgres.ErrURL):
		return nil, err
	case errors.Is(err, queue.ErrNewer):
		err = fmt.Errorf("%w: it was upgraded by a newer foremand; run that one, or go back to a backup", err)
	}
	return nil, command.Failed(err)
}

func open(ctx context.Context, location string, log *slog.Logger) (Store, error) {
	path, ok := File(location)
	if !ok {
		return postgres.Open(ctx, location, postgres.Options{Log: log})
	}
	s, err := sqlite.Open(ctx, path, sqlite.Options{})
	return sqliteStore{s}, err
}

// Stores are the databases of a server.
type Stores struct {
	Queue  Store // tasks
	Memory Store // records of issues; may be the same as Queue
}

// OpenAll opens the databases of a server, as [Open] does. Where both have the same
// location, they are one. log is nil or receives problems of the connections.
func OpenAll(ctx context.Context, at Locations, log *slog.Logger) (Stores, error) {
	q, err := Open(ctx, at.Queue, log)
	if err != nil {
		return Stores{}, fmt.Errorf("the queue: %w", err)
	}
	if at.Memory == at.Queue {
		return Stores{q, q}, nil
	}
	m, err := Open(ctx, at.Memory, log)
	if err != nil {
		return Stores{}, errors.Join(fmt.Errorf("the memory: %w", err), q.Close())
	}
	return Stores{q, m}, nil
}

// Close closes the databases.
func (s Stores) Close() error {
	if s.Memory == s.Queue {
		return s.Queue.Close()
	}
	return errors.Join(s.Memory.Close(), s.Queue.Close())
}
