package postgres_test

import (
	"context"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/org/foreman-action/queue/queuetest/conformance"
	"github.com/org/foreman-action/store/postgres"
)

// The pooler of these tests lends a connection for one transaction at a time.

// TestPooledQueue runs the suite of queues behind a pooler. In short mode, it runs only those cases in
// which several goroutines call the queue.
func TestPooledQueue(t *testing.T) {
	t.Parallel()
	stores := pairs{suite: t, schema: postgres.Server(t).Pooler(t).Schema}
	for _, c := range conformance.Cases() {
		if testing.Short() && !strings.HasPrefix(c.Name, "parallel:") {
			continue // TestQueue runs it without a pooler
		}
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			c.Test(t, stores.lend(t).conformance())
		})
	}
}

// pooled creates a database, and returns its URL and the one behind a pooler.
func pooled(t *testing.T) (direct, behind string) {
	t.Helper()
	c := postgres.Server(t)
	direct = c.Database(t)
	return direct, c.Pooler(t).URL(direct)
}

// TestPooledLead runs two processes behind a pooler and one without a pooler, which all try to lead.
// Only one leads at a time, and each leads once.
func TestPooledLead(t *testing.T) {
	t.Parallel()
	direct, behind := pooled(t)
	stores := map[string]*postgres.Store{
		"direct": open(t, direct, postgres.Options{}),
		"pooled": open(t, behind, postgres.Options{}),
		"second": open(t, behind, postgres.Options{}),
	}
	started := make(chan string, 10)
	ends, results := map[string]context.CancelFunc{}, make(chan error, len(stores))
	for name, s := range stores {
		ctx, end := context.WithCancel(t.Context())
		t.Cleanup(end)
		ends[name] = end
		go func() {
			results <- s.Lead(ctx, "poll", func(ctx context.Context) error {
				started <- name
				<-ctx.Done()
				return ctx.Err()
			})
		}()
	}
	for range stores {
		name := receive(t, started)
		if n := leaders(t, direct); n != 1 {
			t.Errorf("%d connections hold the lock", n)
		}
		select {
		case other := <-started:
			t.Errorf("%s leads beside %s", other, name)
		default:
		}
		ends[name]()
		<-results
	}
	if n := leaders(t, direct); n != 0 {
		t.Errorf("%d connections hold the lock after the leader resigned", n)
	}
}

// TestPooledLost terminates the server's connection of a leader behind a pooler. The leader stops,
// and then leads again.
func TestPooledLost(t *testing.T) {
	t.Parallel()
	direct, behind := pooled(t)
	s := open(t, behind, postgres.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	started, ended, result := make(chan string, 10), make(chan string, 10), make(chan error, 1)
	go func() {
		result <- s.Lead(ctx, "poll", func(ctx context.Context) error {
			started <- ""
			<-ctx.Done()
			ended <- ""
			return ctx.Err()
		})
	}()
	receive(t, started)
	admin(t, direct, "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE "+leading)
	receive(t, ended)
	receive(t, started)
	cancel()
	<-result
}

// TestPooledWeak opens databases whose defaults would lose acknowledged writes, or change which rows
// a statement sees. The store cannot configure connections of a pooler, so Open returns an error
// with the statement that corrects the default.
func TestPooledWeak(t *testing.T) {
	t.Parallel()
	direct, behind := pooled(t)
	for _, s := range []struct{ name, weak, want string }{
		{"synchronous_commit", "off", "on"},
		{"default_transaction_isolation", "serializable", "read committed"},
		{"default_transaction_read_only", "on", "off"},
	} {
		alter := "ALTER DATABASE " + direct[strings.Index(direct, "///")+3:strings.Index(direct, "?")]
		admin(t, direct, alter+" SET "+s.name+" = '"+s.weak+"'")
		store, err := postgres.Open(t.Context(), behind, postgres.Options{})
		if err == nil {
			store.Close()
		}
		if want := "ALTER ROLE postgres SET " + s.name + " = '" + s.want + "'"; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
		admin(t, direct, "BEGIN READ WRITE; "+alter+" RESET ALL; COMMIT")
		admin(t, direct, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()")
	}
}

// leading is the SQL condition that selects the locks of leaders in a database.
const leading = "locktype = 'advisory' AND mode = 'ExclusiveLock' AND granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"

// leaders returns how many connections hold the lock of a leader.
func leaders(t *testing.T, url string) (n int) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	err = conn.QueryRow(t.Context(), "SELECT count(*) FROM pg_locks WHERE "+leading).Scan(&n)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
