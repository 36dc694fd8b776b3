package main

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/org/foreman-action/internal/server/api"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store/postgres"
	"github.com/org/foreman-action/store/sqlite"
)

// connections is how many PostgreSQL gets from each that is measured.
const connections = 16

// onSQLite opens a file of its own for f.
func onSQLite(ctx context.Context, path string, f func(queue.Queue) error) error {
	s, err := sqlite.Open(ctx, path, sqlite.Options{})
	if err != nil {
		return err
	}
	return errors.Join(f(s), s.Close())
}

// onDatabase makes a schema of its own for f in a PostgreSQL database.
func onDatabase(ctx context.Context, url string, f func(queue.Queue) error) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return errors.New("connect to PostgreSQL: the URL cannot be used")
	}
	defer conn.Close(ctx)
	const schema = "queuebench"
	drop := "DROP SCHEMA IF EXISTS " + schema + " CASCADE"
	if _, err := conn.Exec(ctx, drop+"; CREATE SCHEMA "+schema); err != nil {
		return err
	}
	mark := "?"
	if strings.Contains(url, "?") {
		mark = "&"
	}
	s, err := postgres.Open(ctx, url+mark+"search_path="+schema, postgres.Options{Connections: connections})
	if err != nil {
		return err
	}
	err = errors.Join(f(s), s.Close())
	_, dropped := conn.Exec(ctx, drop)
	return errors.Join(err, dropped)
}

// handler is the server's, over a queue.
func handler(q queue.Queue) (http.Handler, error) {
	return api.New(api.Options{Queue: q, Lease: lease})
}
