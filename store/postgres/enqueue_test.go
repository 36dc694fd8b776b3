package postgres_test

import (
	"testing"
	"time"

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store/postgres"
)

func openStore(t *testing.T) *postgres.Store {
	t.Helper()
	s, err := postgres.Open(t.Context(), postgres.Server(t).Schema(t), postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// TestDuplicatePurged adds a task that duplicates another one. The other task is purged just
// before it is looked up, so the new task is added.
func TestDuplicatePurged(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	task := queue.Task{ID: "1", Agent: "http://a", Repo: "o/r", Issue: 1, Dedup: "key", Message: []byte(`{}`)}
	if _, err := s.Queue().Enqueue(t.Context(), task); err != nil {
		t.Fatal(err)
	}
	if err := s.Queue().Cancel(t.Context(), queue.Seen{ID: "1"}, "test"); err != nil {
		t.Fatal(err)
	}
	other := s.Between(func() {
		if n, err := s.Queue().Purge(t.Context(), time.Now().Add(time.Hour), 10); n != 1 || err != nil {
			t.Errorf("Purge: got %d, %v", n, err)
		}
	})
	task.ID = "2"
	out, err := other.Enqueue(t.Context(), task)
	if err != nil || out.Outcome != queue.Added || out.ID != "2" {
		t.Errorf("got %+v, %v, want it added", out, err)
	}
}
