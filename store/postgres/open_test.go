package postgres_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store/postgres"
)

const agent = "http://a:9001/"

func enqueue(t *testing.T, s *postgres.Store, id string) {
	t.Helper()
	got, err := s.Queue().Enqueue(t.Context(), queue.Task{ID: id, Agent: agent, Repo: "o/r", Message: []byte("{}")})
	if err != nil || got.Outcome != queue.Added {
		t.Fatalf("Enqueue: got %+v, %v", got, err)
	}
}

// admin runs a statement on a connection of its own.
func admin(t testing.TB, url, sql string, args ...any) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if _, err := conn.Exec(t.Context(), sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

func TestOpenAtOnce(t *testing.T) {
	t.Parallel()
	url := postgres.Server(t).Database(t)
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			s, err := postgres.Open(t.Context(), url, postgres.Options{Connections: 2})
			if err != nil {
				t.Errorf("Open: %v", err)
				return
			}
			defer s.Close()
			if err := s.Healthy(t.Context()); err != nil {
				t.Errorf("Healthy: %v", err)
			}
		})
	}
	wg.Wait()
}

func TestOpenAgain(t *testing.T) {
	t.Parallel()
	url := postgres.Server(t).Schema(t)
	first, err := postgres.Open(t.Context(), url, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	enqueue(t, first, "1")
	first.Close()
	second := open(t, url, postgres.Options{})
	if c, err := second.Queue().ClaimNext(t.Context(), agent, queue.ClaimOptions{Lease: time.Minute}); err != nil || c.ID != "1" {
		t.Errorf("got %+v, %v", c, err)
	}
	if _, err := first.Queue().Stats(t.Context()); err == nil {
		t.Error("the closed one: got no error")
	}
}

func TestOpenNewer(t *testing.T) {
	t.Parallel()
	url := postgres.Server(t).Schema(t)
	open(t, url, postgres.Options{})
	admin(t, url, "UPDATE foreman_schema SET version = 1000")
	_, err := postgres.Open(t.Context(), url, postgres.Options{})
	if !errors.Is(err, queue.ErrNewer) || !strings.Contains(err.Error(), "1000") {
		t.Errorf("got %v, want ErrNewer, and the version", err)
	}
}

// TestOpenOlder opens databases without migration: one without a schema, one of an earlier version,
// and one of this version.
func TestOpenOlder(t *testing.T) {
	t.Parallel()
	url := postgres.Server(t).Schema(t)
	refused := func(want string) {
		t.Helper()
		_, err := postgres.Open(t.Context(), url, postgres.Options{NoMigration: true})
		if !errors.Is(err, queue.ErrOlder) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want ErrOlder, and %q", err, want)
		}
	}
	refused("it has no schema")
	refused("it has no schema") // the first call made none
	open(t, url, postgres.Options{})
	open(t, url, postgres.Options{NoMigration: true})
	admin(t, url, "UPDATE foreman_schema SET version = version - 1")
	refused("its schema has version")
	refused("its schema has version")
}

// TestOpenSecrets opens databases that cannot be opened: no error contains the password.
func TestOpenSecrets(t *testing.T) {
	t.Parallel()
	for _, url := range []string{
		"postgres://user:hunter2@127.0.0.1:1/db?connect_timeout=2",
		"postgres://user:hunter2@127.0.0.1:99999/db",
		"postgres://user:hunter2@127.0.0.1:port/db",
		"postgres://user:hunter2@[::1/db",
		"postgres://user:hunter2%zz@127.0.0.1/db",
		"postgres://user:hunter2@127.0.0.1:1/db?sslmode=hunter2",
		"postgres://user:hunter2@127.0.0.1:1/db?pool_max_conns=hunter2",
		"postgres://user@127.0.0.1:1/db?password=hunter2&connect_timeout=2",
		"postgres://user:hunter2@127.0.0.1:1/db?sslrootcert=/hunter2&sslmode=verify-full",
		"user=user password=hunter2 host=127.0.0.1 port=1 sslmode=nonsense",
		"user=user password='hunter2 host=127.0.0.1",
		"postgres://user:12/hunter2@127.0.0.1:1/db", "postgres://user:12/hunter2@127.0.0.1", "postgres://user:a@hunter2@127.0.0.1:1/db",
		"hunter2", "mysql://user:hunter2@127.0.0.1/db", "postgres://hunter2@127.0.0.1:hunter2/db",
	} {
		_, err := postgres.Open(t.Context(), url, postgres.Options{})
		if err == nil {
			t.Errorf("%s: got no error", url)
			continue
		}
		if strings.Contains(err.Error(), "hunter2") && !strings.HasPrefix(url, "postgres://hunter2") {
			t.Errorf("%s: the error tells the password: %v", url, err)
		}
		t.Log(err)
	}
}

func TestOpenUnreachable(t *testing.T) {
	t.Parallel()
	_, err := postgres.Open(t.Context(), "postgres://user@127.0.0.1:1/db?connect_timeout=2", postgres.Options{})
	if !errors.Is(err, queue.ErrUnavailable) {
		t.Errorf("got %v, want ErrUnavailable", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := postgres.Open(ctx, "postgres://user@127.0.0.1:1/db", postgres.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
}

// TestWeakDefaults opens a database whose defaults would lose acknowledged writes.
func TestWeakDefaults(t *testing.T) {
	t.Parallel()
	url := postgres.Server(t).Database(t)
	name := url[strings.Index(url, "///")+3 : strings.Index(url, "?")]
	for _, setting := range []string{
		"synchronous_commit = off", "default_transaction_isolation = serializable", "idle_in_transaction_session_timeout = 0",
		"default_transaction_read_only = on",
	} {
		admin(t, url, "ALTER DATABASE "+name+" SET "+setting)
	}
	s := open(t, url, postgres.Options{})
	got := s.Settings(t)
	for name, want := range map[string]string{
		"synchronous_commit": "on", "transaction_isolation": "read committed", "transaction_read_only": "off",
		"idle_in_transaction_session_timeout": "1min",
	} {
		if got[name] != want {
			t.Errorf("%s: got %s, want %s", name, got[name], want)
		}
	}
	enqueue(t, s, "1")
}

func TestTuned(t *testing.T) {
	t.Parallel()
	url := postgres.Server(t).Schema(t)
	open(t, url, postgres.Options{})
	admin(t, url, "DO $$ BEGIN ASSERT (SELECT count(*) FROM pg_class WHERE oid = 'task'::regclass AND reloptions::text LIKE '%autovacuum_vacuum_scale_factor%') = 1; END $$")
	admin(t, url, "ALTER TABLE task SET (autovacuum_vacuum_scale_factor = 0.5)")
	open(t, url, postgres.Options{})
	admin(t, url, "DO $$ BEGIN ASSERT (SELECT reloptions::text FROM pg_class WHERE oid = 'task'::regclass) LIKE '%autovacuum_vacuum_scale_factor=0.5%'; END $$")
}

// TestDatabaseClock checks that stored times come from the database's clock, not from this
// machine's.
func TestDatabaseClock(t *testing.T) {
	t.Parallel()
	s := open(t, postgres.Server(t).Schema(t), postgres.Options{})
	before := s.Clock(t)
	enqueue(t, s, "1")
	c, err := s.Queue().ClaimNext(t.Context(), agent, queue.ClaimOptions{Lease: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	after := s.Clock(t).Add(time.Millisecond) // times are kept in milliseconds, rounded
	if c.Enqueued.Before(before.Truncate(time.Millisecond)) || c.Enqueued.After(after) ||
		c.Until.Before(before.Truncate(time.Millisecond).Add(time.Hour)) || c.Until.After(after.Add(time.Hour)) {
		t.Errorf("got %+v, want times between %s and %s", c, before, after)
	}
}

// TestOtherSchema blocks a transaction of one queue. A queue in another schema of the same
// database continues, also with work that a queue serializes.
func TestOtherSchema(t *testing.T) {
	t.Parallel()
	url := postgres.Server(t).Database(t)
	var stores [2]*postgres.Store
	for i, name := range []string{"one", "two"} {
		admin(t, url, "CREATE SCHEMA "+name)
		stores[i] = open(t, url+"&search_path="+name, postgres.Options{})
	}
	task := queue.Task{ID: "1", Agent: agent, Repo: "o/r", HourlyLimit: 1, Message: []byte("{}")}
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if _, err := conn.Exec(t.Context(), "BEGIN; LOCK TABLE one.task IN ACCESS EXCLUSIVE MODE"); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := stores[0].Queue().Enqueue(t.Context(), task)
		done <- err
	}()
	// Until the first queue has locked the repository.
	for end := time.Now().Add(patience); locks(t, url) == 0; {
		if time.Now().After(end) {
			t.Fatal("the first one takes no lock")
		}
	}
	if _, err := stores[1].Queue().Enqueue(t.Context(), task); err != nil {
		t.Errorf("the other one: %v", err)
	}
	if _, err := conn.Exec(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// locks returns how many exclusive advisory locks sessions of a database have.
func locks(t *testing.T, url string) (n int) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	err = conn.QueryRow(t.Context(), "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND mode = 'ExclusiveLock' AND granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())").Scan(&n)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
