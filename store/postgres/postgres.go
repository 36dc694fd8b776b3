// Package postgres keeps tasks, records, ledgers and cursors in a PostgreSQL database: the store
// of harnesses on several machines.
//
// All times are those of the database, so the clocks of the machines do not matter. Changes by
// other processes arrive by LISTEN and NOTIFY. The store detects a pooler, which does not forward
// notifications, and then polls for changes. Everything else works behind a pooler, too, even if
// it assigns connections by transaction.
package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/queue/history"
	"github.com/org/foreman-action/store"
	"github.com/org/foreman-action/store/internal/batch"
	"github.com/org/foreman-action/store/internal/sqlhistory"
	"github.com/org/foreman-action/store/internal/sqlqueue"
	"github.com/org/foreman-action/store/internal/sqlsteps"
	"github.com/org/foreman-action/store/internal/sqlstore"
)

// Options configure a store. The zero value is usable.
type Options struct {
	// Connections is the size of the pool; 0: pool_max_conns of the URL, or 16 without it. In
	// addition the store uses a connection that listens.
	Connections int
	// Timeout limits calls whose context has no deadline, in case the database does not answer;
	// 0: 30 seconds. A call that exceeds it returns queue.ErrUnavailable.
	Timeout time.Duration
	// Now is the clock, for tests; nil: the database's.
	Now func() time.Time
	// NoMigration makes Open refuse a database whose schema is older than that of this program, with
	// queue.ErrOlder, instead of upgrading it, because running processes of an earlier version could
	// not use the database any more.
	NoMigration bool
	// Log gets the errors of background work; nil discards them.
	Log *slog.Logger
}

// A Store keeps everything in one database, in the first schema of the search path. It is
// safe for concurrent use.
type Store struct {
	engine  *engine
	queue   *sqlqueue.Queue
	records *sqlstore.Records
	ledgers *sqlstore.Ledgers
	cursors *sqlstore.Cursors
	leaders *sqlstore.Leaders
	slots   *sqlstore.Slots
	steps   *sqlsteps.Steps
	history *sqlhistory.Store
	close   func()
}

// Open connects to a database by its URL, and brings it to the newest version of the schema.
// Other processes that open the database wait meanwhile. See Options.NoMigration. The URL is like
// postgres://user:password@host/database?…, with the parameters of libpq and pgxpool. Errors:
// queue.ErrNewer; queue.ErrUnavailable when the database is out of reach. No error contains the
// password.
func Open(ctx context.Context, url string, o Options) (*Store, error) {
	config, err := parse(url, o)
	if err != nil {
		return nil, err
	}
	s, err := open(ctx, config, o)
	if err != nil {
		return nil, fmt.Errorf("open the database %s: %w", nameOf(config.ConnConfig), err)
	}
	return s, nil
}

func open(ctx context.Context, config *pgxpool.Config, o Options) (*Store, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	pooled, err := findPooler(ctx, config)
	if err != nil {
		return nil, medium(ctx, err)
	}
	if pooled {
		o.Log.InfoContext(ctx, "the database is behind a pooler; polling for changes by other processes", "database", nameOf(config.ConnConfig))
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	e := &engine{pool: pool, now: o.Now, timeout: cmp.Or(max(o.Timeout, 0), defaultTimeout)}
	prepare := e.migrate
	if o.NoMigration {
		prepare = e.compare
	}
	if err := prepare(ctx); err != nil {
		pool.Close()
		return nil, err
	}
	e.notifier = newNotifier(config.ConnConfig, e.timeout, o.Log)
	e.notifier.deaf = pooled
	d, all := sqlstore.PostgreSQL(), batch.NewEngine(e)
	s := &Store{
		queue: sqlqueue.New(all, d, holders{e}), records: sqlstore.NewRecords(e, d), ledgers: sqlstore.NewLedgers(e, d),
		cursors: sqlstore.NewCursors(e, d), leaders: sqlstore.NewLeaders(e, d, o.Log), slots: sqlstore.NewSlots(e, d), history: sqlhistory.New(e, d),
		engine: e,
	}
	s.steps = sqlsteps.New(all, d, sqlsteps.Parts{Queue: s.queue, Records: s.records, Ledgers: s.ledgers, Slots: s.slots})
	run, stop := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		e.notifier.run(run, pool, s.queue.Changed)
	}()
	s.close = func() {
		stop()
		<-ended
		pool.Close()
	}
	return s, nil
}

// Queue returns the queue of tasks.
func (s *Store) Queue() queue.Queue { return s.queue }

// Memory returns the records of issues.
func (s *Store) Memory() memory.Agenda { return s.records }

// DeleteRecord deletes the record of an issue, the ledgers of its tasks, and unreadable texts that were kept of
// them. It returns what it deleted, for people; nil if there was nothing. A server must not work on the issue meanwhile.
func (s *Store) DeleteRecord(ctx context.Context, repo string, issue int) ([]string, error) {
	return s.records.Delete(ctx, repo, issue)
}

// Journal returns the ledgers of tasks.
func (s *Store) Journal() memory.Journal { return s.ledgers }

// Pauses returns the pauses of the queue.
func (s *Store) Pauses() queue.Pauses { return s.queue }

// Slots returns the rate limiter of writes.
func (s *Store) Slots() queue.Slots { return s.slots }

// Advance makes a step of a decision in one transaction. After an error nothing of it is stored, except
// that after [queue.ErrUnavailable] it may be. Errors: [queue.ErrLost] if the lease is lost;
// [memory.ErrConflict] and others of [memory.Store] if the record cannot be saved; an error if the ledger
// or the record is invalid.
func (s *Store) Advance(ctx context.Context, step store.Step) (store.Advanced, error) {
	return s.steps.Advance(ctx, step)
}

// History returns the history of the tasks, as charts show it.
func (s *Store) History() history.Store { return s.history }

// Cursor returns the stored cursor of a repository's poller; nil: none. Letter case does not matter.
func (s *Store) Cursor(ctx context.Context, repo string) ([]byte, error) {
	return s.cursors.Cursor(ctx, repo)
}

// SaveCursor stores the cursor of a repository's poller. When it returns nil, the cursor is durable.
func (s *Store) SaveCursor(ctx context.Context, repo string, data []byte) error {
	return s.cursors.SaveCursor(ctx, repo, data)
}

// Lead runs f while this process leads among those that use the database.
func (s *Store) Lead(ctx context.Context, name string, f func(context.Context) error) error {
	return s.leaders.Lead(ctx, name, f)
}

// Close closes the store. It waits for calls in progress.
func (s *Store) Close() error {
	s.close()
	return nil
}

// Healthy returns the reason why the database cannot be written now, or nil.
func (s *Store) Healthy(ctx context.Context) error {
	return s.engine.Write(ctx, func(tx sqlstore.Tx) error {
		n, err := tx.Exec("UPDATE foreman_schema SET version = version WHERE id = $1", int64(1))
		if err == nil && n == 0 {
			err = errors.New("the schema no longer exists")
		}
		return err
	})
}
