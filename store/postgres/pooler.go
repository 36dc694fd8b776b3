package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// A pooler, such as PgBouncer, may use another connection of the server for each transaction.
// Behind a pooler, a connection must therefore have no state that outlives a transaction: no
// setting, no prepared statement, no lock, no LISTEN.

// findPooler reports whether a pooler is in front of the database. If so, it changes config for
// the pooler.
func findPooler(ctx context.Context, config *pgxpool.Config) (pooled bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	probe := config.ConnConfig.Copy()
	if probe.DefaultQueryExecMode == pgx.QueryExecModeCacheStatement {
		probe.DefaultQueryExecMode = pgx.QueryExecModeExec
	}
	conn, err := pgx.ConnectConfig(ctx, probe)
	if err != nil {
		return false, err
	}
	defer hangUp(ctx, conn)
	var server uint32
	if err := conn.QueryRow(ctx, "SELECT pg_backend_pid()").Scan(&server); err != nil {
		return false, err
	}
	// A pooler sends process ids of its own, by which it recognises requests to cancel.
	if server == conn.PgConn().PID() {
		return false, nil
	}
	config.ConnConfig.DefaultQueryExecMode = probe.DefaultQueryExecMode
	config.AfterConnect = nil
	return true, durable(ctx, conn)
}

// durable checks the settings of a pooler's connections. Without a pooler, session sets them; the
// store cannot set them behind a pooler.
func durable(ctx context.Context, conn *pgx.Conn) error {
	var user, commit, isolation, readOnly string
	err := conn.QueryRow(ctx, `SELECT quote_ident(current_user), current_setting('synchronous_commit'),
  current_setting('default_transaction_isolation'), current_setting('default_transaction_read_only')`).Scan(&user, &commit, &isolation, &readOnly)
	if err != nil {
		return err
	}
	for _, s := range []struct {
		name, value, want string
		fine              bool
	}{
		{"synchronous_commit", commit, "on", commit != "off"},
		{"default_transaction_isolation", isolation, "read committed", isolation == "read committed"},
		{"default_transaction_read_only", readOnly, "off", readOnly == "off"},
	} {
		if !s.fine {
			return fmt.Errorf("the pooler's connections cannot be configured by the store, and their %s is %q; run ALTER ROLE %s SET %s = '%s', and make the pooler reconnect",
				s.name, s.value, user, s.name, s.want)
		}
	}
	return nil
}
