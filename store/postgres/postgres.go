// Package postgres keeps tasks, records, ledgers and cursors in a PostgreSQL database: the
// store of harnesses on several machines.
//
// All times are those of the database, so that it does not matter what the clocks of the
// machines show. Wake-ups come by LISTEN and NOTIFY. Behind a pooler they are missed: who waits
// looks again by itself. All else works there too, also where a connection is lent for one
// transaction; that there is a pooler is found out.
package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store/internal/sqlqueue"
	"github.com/org/foreman-action/store/internal/sqlstore"
)

// Options are those of a store. The zero value is good.
type Options struct {
	// Connections is how many are used at most, beside one or two that listen and lead; 0: as
	// many as pool_max_conns in the URL says, or else 16.
	Connections int
	// Timeout is how long a call waits for a database that does not answer, if its context has no
	// deadline; 0: 30 seconds. The error is queue.ErrUnavailable then.
	Timeout time.Duration
	// Now is the clock, for tests; nil: the database's.
	Now func() time.Time
	// Log gets what goes wrong in the background; nil: nobody does.
	Log *slog.Logger
}

// A Store keeps everything in one database, in the first schema of the search path. It is
// safe for concurrent use.
type Store struct {
	*sqlqueue.Queue
	*sqlstore.Records
	*sqlstore.Ledgers
	*sqlstore.Cursors
	*sqlstore.Slots

	engine *engine
	config *pgx.ConnConfig
	pooled bool // connections are a pooler's
	log    *slog.Logger
	close  func()
}

var _ queue.Queue = (*Store)(nil)

// Open connects to a database by its URL (postgres://user:password@host/database?…, with the parameters
// of libpq, and those of pgxpool), and brings it to the newest version of the schema; other processes that do the
// same wait meanwhile. Errors: queue.ErrNewer; queue.ErrUnavailable when the database is out of
// reach. None of them tells the password.
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
		o.Log.InfoContext(ctx, "the database is behind a pooler: changes of other processes are seen later", "database", nameOf(config.ConnConfig))
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	e := &engine{pool: pool, now: o.Now, timeout: cmp.Or(max(o.Timeout, 0), defaultTimeout)}
	if err := e.migrate(ctx); err != nil {
		pool.Close()
		return nil, err
	}
	e.news = newNews(config.ConnConfig, e.timeout, o.Log)
	e.news.deaf = pooled
	d := sqlstore.PostgreSQL()
	s := &Store{
		Queue: sqlqueue.New(e, d), Records: sqlstore.NewRecords(e, d), Ledgers: sqlstore.NewLedgers(e, d),
		Cursors: sqlstore.NewCursors(e, d), Slots: sqlstore.NewSlots(e, d),
		engine: e, config: config.ConnConfig, pooled: pooled, log: o.Log,
	}
	run, stop := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		e.news.run(run, pool, s.Changed)
	}()
	s.close = func() {
		stop()
		<-ended
		pool.Close()
	}
	return s, nil
}

// Close closes the store. It waits for those who use it.
func (s *Store) Close() error {
	s.close()
	return nil
}

// Healthy tells why the database cannot be written now, or nil.
func (s *Store) Healthy(ctx context.Context) error {
	return s.engine.Write(ctx, func(tx sqlstore.Tx) error {
		n, err := tx.Exec("UPDATE foreman_schema SET version = version WHERE id = $1", int64(1))
		if err == nil && n == 0 {
			err = errors.New("the schema is gone")
		}
		return err
	})
}
