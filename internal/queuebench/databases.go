package main

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	_ "modernc.org/sqlite" // the driver of backlite and River, and of our store

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store/postgres"
	"github.com/org/foreman-action/store/sqlite"
)

// connections is the most connections to PostgreSQL that each queue may open.
const connections = 16

// A database creates an empty database, calls f with a handle to it, and removes the database
// afterwards.
type database[T any] func(ctx context.Context, f func(handle T) error) error

// sqliteQueue is our queue on SQLite.
func sqliteQueue(dir string) database[queue.Queue] {
	return func(ctx context.Context, f func(queue.Queue) error) error {
		return inFolder(dir, func(folder string) error {
			s, err := sqlite.Open(ctx, filepath.Join(folder, "queue.db"), sqlite.Options{})
			if err != nil {
				return err
			}
			return errors.Join(f(s.Queue()), s.Close())
		})
	}
}

// postgresQueue is our queue on PostgreSQL.
func postgresQueue(url string) database[queue.Queue] {
	return func(ctx context.Context, f func(queue.Queue) error) error {
		return inSchema(ctx, url, "queuebench", func(url string) error {
			s, err := postgres.Open(ctx, url, postgres.Options{Connections: connections})
			if err != nil {
				return err
			}
			err = connect(ctx, func(ctx context.Context) error {
				_, err := s.Queue().Duplicate(ctx, "nothing")
				if errors.Is(err, queue.ErrNotFound) {
					return nil
				}
				return err
			})
			if err == nil {
				err = f(s.Queue())
			}
			return errors.Join(err, s.Close())
		})
	}
}

// connect makes calls to PostgreSQL until the pool has opened its connections. Opening one takes longer
// than many calls, so it is not measured.
func connect(ctx context.Context, call func(context.Context) error) error {
	_, err := measure(ctx, load{connections, 4 * connections}, func(ctx context.Context, _ int) error { return call(ctx) })
	return err
}

// sqliteDB is a SQLite database, opened as backlite and River recommend, but safe against power
// cuts.
func sqliteDB(dir string, connections int) database[*sql.DB] {
	return func(_ context.Context, f func(*sql.DB) error) error {
		return inFolder(dir, func(folder string) error {
			db, err := sql.Open("sqlite", "file:"+filepath.Join(folder, "peer.db")+"?_txlock=immediate&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=busy_timeout(10000)")
			if err != nil {
				return err
			}
			db.SetMaxOpenConns(connections)
			return errors.Join(f(db), db.Close())
		})
	}
}

// postgresPool is a PostgreSQL database for River.
func postgresPool(url string) database[*pgxpool.Pool] {
	return func(ctx context.Context, f func(*pgxpool.Pool) error) error {
		return inSchema(ctx, url, "queuebench_peer", func(url string) error {
			config, err := pgxpool.ParseConfig(url)
			if err != nil {
				return errors.New("connect to PostgreSQL: the URL cannot be read")
			}
			config.MaxConns = connections
			pool, err := pgxpool.NewWithConfig(ctx, config)
			if err != nil {
				return errors.New("connect to PostgreSQL: the URL cannot be used")
			}
			defer pool.Close()
			if err := connect(ctx, pool.Ping); err != nil {
				return err
			}
			return f(pool)
		})
	}
}

// inFolder calls f with a new folder, and removes it afterwards.
func inFolder(dir string, f func(folder string) error) error {
	folder, err := os.MkdirTemp(dir, "")
	if err != nil {
		return err
	}
	return errors.Join(f(folder), os.RemoveAll(folder))
}

// inSchema calls f with the URL of a new schema, and drops it afterwards.
func inSchema(ctx context.Context, url, schema string, f func(url string) error) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return errors.New("connect to PostgreSQL: the URL cannot be used")
	}
	defer conn.Close(ctx)
	drop := "DROP SCHEMA IF EXISTS " + schema + " CASCADE"
	if _, err := conn.Exec(ctx, drop+"; CREATE SCHEMA "+schema); err != nil {
		return err
	}
	mark := "?"
	if strings.Contains(url, "?") {
		mark = "&"
	}
	err = f(url + mark + "search_path=" + schema)
	_, dropped := conn.Exec(ctx, drop)
	return errors.Join(err, dropped)
}
