package postgres_test

import (
	"strings"
	"testing"
	"time"

	"github.com/org/foreman-action/internal/wait"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store/postgres"
)

// TestHolderEnded leases a decision for an hour, and ends the session of the process. Another
// process can lease the decision immediately afterwards, but not before.
func TestHolderEnded(t *testing.T) {
	t.Parallel()
	url := postgres.Server(t).Database(t)
	s := open(t, url, postgres.Options{})
	first, err := postgres.Open(t.Context(), url, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Queue().Enqueue(t.Context(), queue.Task{ID: "1", Repo: "o/r", Message: []byte("{}")}); err != nil {
		t.Fatal(err)
	}
	s.AwaitSession(t)
	first.AwaitSession(t)
	if list, err := first.Queue().LeaseDecisions(t.Context(), queue.DrainOptions{Owner: "first", Lease: time.Hour, Limit: 1}); err != nil || len(list) != 1 {
		t.Fatalf("got %+v, %v", list, err)
	}
	got, err := s.Queue().RequeueLeases(t.Context(), 0)
	if err != nil || len(got.Requeued) > 0 || len(got.Others) != 1 || got.Others[0].Owner != "first" || got.Others[0].Left > time.Hour {
		t.Errorf("while it lives: got %+v, %v, want one lease of another process", got, err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	// The server ends a session only some time after the client has closed the connection.
	for s.Run(t, "SELECT FROM pg_locks WHERE locktype = 'advisory' AND mode = 'ShareLock' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())") > 1 {
		if err := wait.For(t.Context(), time.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
	got, err = s.Queue().RequeueLeases(t.Context(), 0)
	if err != nil || len(got.Requeued) != 1 || got.Requeued[0].State != queue.Completed || len(got.Others) > 0 {
		t.Errorf("when it has ended: got %+v, %v, want its decision", got, err)
	}
	d, err := s.Queue().Inspect(t.Context(), "1")
	if err != nil || len(d.Log) != 1 || !strings.Contains(d.Log[0].Text, "has ended") || d.Log[0].Who != "first" {
		t.Errorf("got the log %+v, %v", d.Log, err)
	}
}

// TestPooledHolder leases a decision behind a pooler. No other process can find out whether the process
// with the lease is alive.
func TestPooledHolder(t *testing.T) {
	t.Parallel()
	direct, behind := pooled(t)
	first, err := postgres.Open(t.Context(), behind, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, direct, postgres.Options{})
	if _, err := s.Queue().Enqueue(t.Context(), queue.Task{ID: "1", Repo: "o/r", Message: []byte("{}")}); err != nil {
		t.Fatal(err)
	}
	if list, err := first.Queue().LeaseDecisions(t.Context(), queue.DrainOptions{Owner: "first", Lease: time.Hour, Limit: 1}); err != nil || len(list) != 1 {
		t.Fatalf("got %+v, %v", list, err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Queue().RequeueLeases(t.Context(), 0); err != nil || len(got.Requeued) > 0 || len(got.Others) != 1 {
		t.Errorf("got %+v, %v, want one lease of another process", got, err)
	}
}
