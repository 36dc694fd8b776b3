package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/org/foreman-action/internal/wait"
)

// leadTry is how often a process tries to become the leader. leadCheck is how often a leader
// checks its connection, and leadGrace is the timeout of this check.
const (
	leadTry   = 2 * time.Second
	leadCheck = 2 * time.Second
	leadGrace = 5 * time.Second
)

// leadSilence is the idle time after which the server closes a leader's connection. Without it,
// the server would keep the lock for hours after the leader's machine vanished. It is longer than
// a leader needs to detect that the server does not answer.
const leadSilence = "15s"

// leadLock is the SQL expression for the key of a leader's lock; $1 is the name.
const leadLock = "hashtextextended('foreman lead ' || current_schema() || ' ' || $1, 0)"

// Lead does the same as sqlstore.Leaders.Lead, but uses an advisory lock of a separate
// connection. The server releases the lock when the connection or the process ends, so another
// process leads a moment after this one is killed. Behind a pooler, which shares connections, the
// lock belongs to an open transaction.
func (s *Store) Lead(ctx context.Context, name string, f func(context.Context) error) error {
	for {
		conn, err := s.seize(ctx, name)
		if err == nil && conn != nil {
			lost, err := reign(ctx, conn, f)
			if !lost {
				return err
			}
		} else if err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, "leader lock check failed; retrying", "lead", name, "error", err)
		}
		if err := wait.For(ctx, leadTry); err != nil {
			return err
		}
	}
}

// seize returns a connection that has the leader's lock; nil: another process leads.
func (s *Store) seize(ctx context.Context, name string) (*pgx.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, s.engine.timeout)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, s.config)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	query := "SELECT pg_try_advisory_lock(" + leadLock + ")"
	// Servers before PostgreSQL 14 do not know the setting.
	begin := "SELECT set_config(name, '" + leadSilence + "', false) FROM pg_settings WHERE name = 'idle_session_timeout'"
	if s.pooled {
		query = "SELECT pg_try_advisory_xact_lock(" + leadLock + ")"
		begin = "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL idle_in_transaction_session_timeout = '" + leadSilence + "'"
	}
	_, err = conn.Exec(ctx, begin)
	var first bool
	if err == nil {
		err = conn.QueryRow(ctx, query, name).Scan(&first)
	}
	if err != nil || !first {
		hangUp(ctx, conn)
		return nil, err
	}
	return conn, nil
}

// reign runs f while a connection has the lock. lost is true if f was cancelled because the
// connection was lost.
func reign(ctx context.Context, conn *pgx.Conn, f func(context.Context) error) (lost bool, err error) {
	defer hangUp(ctx, conn)
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- f(inner) }()
	tick := time.NewTicker(leadCheck)
	defer tick.Stop()
	for {
		select {
		case err := <-done:
			return lost, err
		case <-tick.C:
		}
		if !lost && !answers(inner, conn) {
			lost = ctx.Err() == nil
			cancel()
		}
	}
}

// answers reports whether the server answers on a connection.
func answers(ctx context.Context, conn *pgx.Conn) bool {
	ctx, cancel := context.WithTimeout(ctx, leadGrace)
	defer cancel()
	return conn.Ping(ctx) == nil
}
