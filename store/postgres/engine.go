package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/org/foreman-action/internal/wait"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store/internal/batch"
	"github.com/org/foreman-action/store/internal/sqlstore"
)

// An engine is a sqlstore.Engine over a pool of connections.
type engine struct {
	pool     *pgxpool.Pool
	now      func() time.Time // nil: the database's
	notifier *notifier
	timeout  time.Duration // timeout of a call whose context has no deadline
}

var (
	_ sqlstore.Engine = (*engine)(nil)
	_ batch.Writer    = (*engine)(nil)
)

// fullPause is the pause after the database refused a further connection. The pool's connections
// serve several calls meanwhile, and other clients of the database may end.
const fullPause = 50 * time.Millisecond

// maxAttempts is the most attempts of a transaction that meets conflicts or lost connections.
const maxAttempts = 50

// Announce implements sqlstore.Engine.
func (e *engine) Announce(c queue.Change) { e.notifier.add(c) }

// Write implements sqlstore.Engine.
func (e *engine) Write(ctx context.Context, f func(sqlstore.Tx) error) error {
	return e.retry(ctx, func(ctx context.Context) (bool, error) {
		return e.transact(ctx, pgx.TxOptions{IsoLevel: pgx.ReadCommitted, AccessMode: pgx.ReadWrite}, f)
	})
}

// WriteOne implements sqlstore.Engine. It sends no BEGIN and COMMIT, because one statement is its
// own transaction.
func (e *engine) WriteOne(ctx context.Context, f func(sqlstore.Tx) error) error {
	return e.retry(ctx, func(ctx context.Context) (bool, error) { return true, f(e.tx(ctx, e.pool)) })
}

// WriteBatch implements sqlstore.Engine. Transactions run concurrently in PostgreSQL, so each
// request has its own transaction.
func (e *engine) WriteBatch(ctx context.Context, f func(sqlstore.Tx, []*sqlstore.ClaimRequest) error, w *sqlstore.ClaimRequest) error {
	return e.Write(ctx, func(tx sqlstore.Tx) error { return f(tx, []*sqlstore.ClaimRequest{w}) })
}

// errLocked means that a transaction was rolled back because it waited too long for a lock.
var errLocked = errors.New("another transaction has a lock")

// WriteAll implements batch.Writer. The statements are sent together, so they are one
// transaction.
func (e *engine) WriteAll(ctx context.Context, locked time.Duration, build func(now any) []sqlstore.Statement) error {
	return e.retry(ctx, func(ctx context.Context) (bool, error) {
		t := e.tx(ctx, e.pool)
		list := build(t.Now())
		if len(list) == 1 && locked == 0 {
			return true, t.Query(list[0].Query, uncertain(list[0].Each), list[0].Args...)
		}
		if locked > 0 {
			limit := sqlstore.Statement{Query: "SELECT set_config('lock_timeout', $1, true)", Args: []any{strconv.FormatInt(locked.Milliseconds(), 10)}, Each: sqlstore.Ignore}
			list = append([]sqlstore.Statement{limit}, list...)
		}
		err := e.sendAll(ctx, list)
		if failed, ok := errors.AsType[*pgconn.PgError](err); ok && failed.Code == "55P03" && locked > 0 {
			err = errLocked
		}
		return true, err
	})
}

// uncertain wraps the errors of each in queue.ErrUnavailable. If a row cannot be read, the server
// may nevertheless have committed it, so the outcome is unknown.
func uncertain(each func(sqlstore.Row) error) func(sqlstore.Row) error {
	return func(r sqlstore.Row) error {
		if err := each(r); err != nil {
			return fmt.Errorf("%w: %w", queue.ErrUnavailable, err)
		}
		return nil
	}
}

// sendAll sends all statements in one round trip.
func (e *engine) sendAll(ctx context.Context, list []sqlstore.Statement) error {
	all := &pgx.Batch{}
	for _, s := range list {
		all.Queue(s.Query, s.Args...)
	}
	results := e.pool.SendBatch(ctx, all)
	for _, s := range list {
		rows, err := results.Query()
		if err == nil {
			err = scan(rows, uncertain(s.Each))
		}
		if err != nil {
			_ = results.Close() // Close returns the same error
			return err
		}
	}
	return results.Close() // Close reads the result of the commit
}

// Read implements sqlstore.Engine. All statements of f see the same state.
func (e *engine) Read(ctx context.Context, f func(sqlstore.Tx) error) error {
	return e.retry(ctx, func(ctx context.Context) (bool, error) {
		_, err := e.transact(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, f)
		return false, err
	})
}

// ReadOne implements sqlstore.Engine.
func (e *engine) ReadOne(ctx context.Context, f func(sqlstore.Tx) error) error {
	return e.retry(ctx, func(ctx context.Context) (bool, error) { return false, f(e.tx(ctx, e.pool)) })
}

// transact runs f in a transaction, and reports whether it sent the commit.
func (e *engine) transact(ctx context.Context, o pgx.TxOptions, f func(sqlstore.Tx) error) (committing bool, err error) {
	t, err := e.pool.BeginTx(ctx, o)
	if err != nil {
		return false, err
	}
	// No effect after the commit; if it fails, the connection is closed.
	defer func() { _ = t.Rollback(ctx) }()
	if err := f(e.tx(ctx, t)); err != nil {
		return false, err
	}
	return true, t.Commit(ctx)
}

// defaultTimeout is longer than any statement takes, unless it waits for a lock.
const defaultTimeout = 30 * time.Second

// retry runs a transaction until it succeeds or fails with an error that a retry cannot fix. run
// reports whether it sent a commit. Without a deadline in ctx, retry uses the store's timeout,
// because a database may stop answering silently.
func (e *engine) retry(ctx context.Context, run func(context.Context) (committing bool, err error)) error {
	within := ctx
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		within, cancel = context.WithTimeout(ctx, e.timeout)
		defer cancel()
	}
	err := ctx.Err()
	for n := 0; n < maxAttempts && within.Err() == nil; n++ {
		var committing bool
		committing, err = run(within)
		if full(err) {
			_ = wait.For(within, fullPause) // the loop's condition checks within
			continue
		}
		if err == nil || !undone(committing, err) {
			break
		}
	}
	return medium(ctx, err)
}

func (e *engine) tx(ctx context.Context, on executor) *tx {
	t := &tx{query: func(sql string, args []any) (pgx.Rows, error) { return on.Query(ctx, sql, args...) }}
	if e.now != nil {
		t.now = e.now().UnixMilli()
	}
	return t
}

// schemaLock is the key of the lock for migrations. It is combined with the schema's name, so
// that migrations of other schemas in the same database do not wait.
const schemaLock = 0x666f72656d616e64

// migrate brings the database to the newest version of the schema.
func (e *engine) migrate(ctx context.Context) error {
	return e.Write(ctx, func(tx sqlstore.Tx) error {
		if err := tx.Query("SELECT pg_advisory_xact_lock($1::bigint # hashtext(current_schema()))", sqlstore.Ignore, int64(schemaLock)); err != nil {
			return err
		}
		if _, err := sqlstore.Migrate(tx, sqlstore.PostgreSQL()); err != nil {
			return err
		}
		return tune(tx)
	})
}

// compare checks that the database has the newest version of the schema. It changes nothing.
func (e *engine) compare(ctx context.Context) error {
	return e.Read(ctx, func(tx sqlstore.Tx) error { return sqlstore.Compare(tx, sqlstore.PostgreSQL()) })
}

// tune makes autovacuum run early on the tables that change often. A task is written about four
// times, and each write leaves a dead row at the beginning of an index that every claim reads.
// tune does not change tables whose storage settings were set before.
func tune(tx sqlstore.Tx) error {
	tables, err := sqlstore.All(tx, `SELECT relname::text FROM pg_class
WHERE oid IN ('task'::regclass, 'task_body'::regclass, 'task_result'::regclass, 'task_log'::regclass) AND reloptions IS NULL`, sqlstore.Column[string])
	if err != nil {
		return err
	}
	for _, name := range tables {
		if _, err := tx.Exec("ALTER TABLE " + name + ` SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000,
autovacuum_analyze_scale_factor = 0.05, autovacuum_analyze_threshold = 1000, autovacuum_vacuum_cost_delay = 0, fillfactor = 80)`); err != nil {
			return err
		}
	}
	return nil
}
