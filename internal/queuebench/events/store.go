package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/jackc/pgx/v5"
)

// A store is a kind of database, with a number of servers on it.
type store struct {
	name    string // value of the flag -only
	title   string
	url     string // of PostgreSQL; empty: SQLite
	servers int
}

// A database is an empty database. The zero value is SQLite in the default files.
type database struct {
	url  string
	name string
	drop func()
	// postmaster is the process of PostgreSQL whose children serve the connections; 0: none.
	postmaster int
}

// create creates an empty database.
func (s store) create(ctx context.Context) (database, error) {
	if s.url == "" {
		return database{}, nil
	}
	db := database{name: fmt.Sprintf("events_%d", time.Now().UnixNano())}
	u, err := url.Parse(s.url)
	if err != nil {
		return db, errors.New("connect to PostgreSQL: the URL cannot be read")
	}
	u.Path = "/" + db.name
	db.url = u.String()
	err = admin(ctx, s.url, func(conn *pgx.Conn) error {
		var backend int
		if err := conn.QueryRow(ctx, "SELECT pg_backend_pid()").Scan(&backend); err != nil {
			return err
		}
		db.postmaster = parent(backend)
		if _, err := conn.Exec(ctx, "CREATE DATABASE "+db.name+" TEMPLATE template0"); err != nil {
			return err
		}
		_, err := conn.Exec(ctx, "CHECKPOINT") // the next one is as far away for every build
		return err
	})
	db.drop = func() {
		_ = admin(context.WithoutCancel(ctx), s.url, func(conn *pgx.Conn) error {
			_, err := conn.Exec(context.WithoutCancel(ctx), "DROP DATABASE IF EXISTS "+db.name+" WITH (FORCE)")
			return err
		})
	}
	return db, err
}

// admin calls f with a connection to the administrator's database.
func admin(ctx context.Context, url string, f func(*pgx.Conn) error) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return errors.New("connect to PostgreSQL: the URL cannot be used")
	}
	return errors.Join(f(conn), conn.Close(ctx))
}

// commits returns the number of commits in a database, whose servers have ended. A connection reports
// its last commits when it ends.
func (s store) commits(ctx context.Context, db database) (n int, err error) {
	err = admin(ctx, s.url, func(conn *pgx.Conn) error {
		for {
			var connected int
			err := conn.QueryRow(ctx, "SELECT numbackends, xact_commit FROM pg_stat_database WHERE datname = $1", db.name).Scan(&connected, &n)
			if err != nil || connected == 0 {
				return err
			}
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(10 * time.Millisecond):
			}
		}
	})
	return n, err
}

// flushes returns how often PostgreSQL has flushed its log.
func (s store) flushes(ctx context.Context) (n int, err error) {
	err = admin(ctx, s.url, func(conn *pgx.Conn) error {
		return conn.QueryRow(ctx, "SELECT wal_sync FROM pg_stat_wal").Scan(&n)
	})
	return n, err
}
