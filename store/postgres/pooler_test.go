package postgres_test

import (
	"strings"
	"testing"

	"github.com/org/foreman-action/queue/queuetest"
	"github.com/org/foreman-action/store/postgres"
)

// The pooler of these tests lends a connection for one transaction at a time.

// TestPooledQueue runs the suite of queues behind a pooler. In short mode, it runs only those cases in
// which several goroutines call the queue.
func TestPooledQueue(t *testing.T) {
	t.Parallel()
	stores := pairs{suite: t, schema: postgres.Server(t).Pooler(t).Schema}
	for _, c := range queuetest.Cases() {
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
		admin(t, direct, "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()")
	}
}
