package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"

	"github.com/org/foreman-action/config/serverconfig"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store/postgres"
	"github.com/org/foreman-action/store/sqlite"
)

// A store is where tasks, or records, are kept: a file of SQLite or a database of
// PostgreSQL.
type store interface {
	queue.Queue
	queue.Slots
	memory.Store
	memory.Agenda
	memory.Journal
	Cursor(ctx context.Context, name string) ([]byte, error)
	SaveCursor(ctx context.Context, name string, data []byte) error
	// Lead runs f while this process leads among those that use the database.
	Lead(ctx context.Context, name string, f func(context.Context) error) error
	Close() error
}

var (
	_ store = (*sqlite.Store)(nil)
	_ store = (*postgres.Store)(nil)
)

// Stores are both of them; with PostgreSQL they are one.
type stores struct {
	queue, memory store
}

func (s stores) close() error {
	err := s.queue.Close()
	if s.memory != s.queue && s.memory != nil {
		err = errors.Join(err, s.memory.Close())
	}
	return err
}

// places are where the stores are, by flags and configuration.
type places struct {
	queueDB, db string // flags; empty: not given
}

// queue returns where the queue is kept: --queue-db, then the configuration, then a file
// in the program's own folder. s may be nil.
func (at places) queue(p program, s *serverconfig.Config) string {
	switch {
	case at.queueDB != "":
		return at.queueDB
	case s != nil && s.Queue.URL != "":
		return string(s.Queue.URL)
	case s != nil && s.Queue.DBPath != "":
		return s.Queue.DBPath
	}
	return p.inHome("queue.db")
}

// memory returns where the memory is kept: --db, then the configuration, then with the
// queue when that is on a server, then a file in the program's own folder.
func (at places) memory(p program, s *serverconfig.Config) string {
	place := at.queue(p, s)
	switch {
	case at.db != "":
		return at.db
	case s.Memory.DBPath != "":
		return s.Memory.DBPath
	case serverconfig.Postgres(place):
		return place
	}
	return p.inHome("memory.db")
}

// open opens both stores.
func (at places) open(ctx context.Context, p program, s *serverconfig.Config, log *slog.Logger) (stores, error) {
	q, err := openStore(ctx, at.queue(p, s), log)
	if err != nil {
		return stores{}, fmt.Errorf("the queue: %w", err)
	}
	if at.memory(p, s) == at.queue(p, s) {
		return stores{q, q}, nil
	}
	m, err := openStore(ctx, at.memory(p, s), log)
	if err != nil {
		return stores{}, errors.Join(fmt.Errorf("the memory: %w", err), q.Close())
	}
	return stores{q, m}, nil
}

// openStore opens the database at a place. log gets what goes wrong with it meanwhile; nil:
// nobody does.
func openStore(ctx context.Context, place string, log *slog.Logger) (store, error) {
	if serverconfig.Postgres(place) {
		return postgres.Open(ctx, place, postgres.Options{Log: log})
	}
	return sqlite.Open(ctx, strings.TrimPrefix(place, "file:"), sqlite.Options{})
}

// healthy tells why a store cannot be written now; nil when it can.
func healthy(ctx context.Context, s store) error {
	switch s := s.(type) {
	case *sqlite.Store:
		return s.Healthy()
	case *postgres.Store:
		return s.Healthy(ctx)
	}
	return nil
}

// shownPlace is a place as a log may show it.
func shownPlace(place string) string {
	if !serverconfig.Postgres(place) {
		return place
	}
	u, err := url.Parse(place)
	if err != nil {
		return "PostgreSQL"
	}
	return "PostgreSQL at " + u.Host + u.Path
}
