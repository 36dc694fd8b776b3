package postgres

import (
	"context"
	"testing"
	"time"

	"github.com/org/foreman-action/internal/wait"
	"github.com/org/foreman-action/store/internal/batch"
	"github.com/org/foreman-action/store/internal/sqlqueue"
	"github.com/org/foreman-action/store/internal/sqlstore"
)

// Settings returns the settings of the store's transactions.
func (s *Store) Settings(t *testing.T) map[string]string {
	t.Helper()
	got := map[string]string{}
	for _, name := range []string{"synchronous_commit", "transaction_isolation", "transaction_read_only", "idle_in_transaction_session_timeout"} {
		var value string
		if err := s.engine.pool.QueryRow(t.Context(), "SELECT current_setting($1)", name).Scan(&value); err != nil {
			t.Fatal(err)
		}
		got[name] = value
	}
	return got
}

// Clock returns the time of the database's clock.
func (s *Store) Clock(t *testing.T) time.Time {
	t.Helper()
	var now time.Time
	if err := s.engine.pool.QueryRow(t.Context(), "SELECT clock_timestamp()").Scan(&now); err != nil {
		t.Fatal(err)
	}
	return now
}

// AwaitSession waits until this process has the lock that shows other processes that it is alive.
func (s *Store) AwaitSession(t *testing.T) {
	t.Helper()
	for !s.engine.notifier.alive.Load() {
		if err := wait.For(t.Context(), time.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
}

// Between returns a store on the same database. Before it first looks up the task that a new task
// duplicates, it calls f once.
func (s *Store) Between(f func()) *sqlqueue.Queue {
	return sqlqueue.New(batch.NewEngine(&between{engine: s.engine, f: f}), sqlstore.PostgreSQL(), sqlqueue.NewUnprovable())
}

type between struct {
	*engine

	f func()
}

func (b *between) Read(ctx context.Context, f func(sqlstore.Tx) error) error {
	if between := b.f; between != nil {
		b.f = nil
		between()
	}
	return b.engine.Read(ctx, f)
}

// Run runs a statement.
func (s *Store) Run(t *testing.T, query string, args ...any) int64 {
	t.Helper()
	tag, err := s.engine.pool.Exec(t.Context(), query, args...)
	if err != nil {
		t.Fatal(err)
	}
	return tag.RowsAffected()
}

// Empty deletes all rows except the version of the schema, and starts the sequences again. The test's
// context may have ended.
func (s *Store) Empty(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
	defer cancel()
	_, err := s.engine.pool.Exec(ctx, `DO $$
DECLARE object record;
BEGIN
  PERFORM set_config('session_replication_role', 'replica', true); -- no triggers
  FOR object IN SELECT relname AS name, relkind AS kind FROM pg_class WHERE relnamespace = current_schema()::regnamespace LOOP
    IF object.kind = 'r' AND object.name <> 'foreman_schema' THEN
      EXECUTE format('DELETE FROM %I', object.name);
    ELSIF object.kind = 'S' THEN
      PERFORM setval(object.name::regclass, 1, false);
    END IF;
  END LOOP;
END $$`)
	if err != nil {
		t.Fatal(err)
	}
}
