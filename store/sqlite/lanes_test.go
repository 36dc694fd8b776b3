package sqlite

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/queue/queuetest"
	"github.com/org/foreman-action/store/internal/sqlstore"
)

// behind opens a store with a claimed task and a second task that waits for its end.
func behind(t *testing.T, path string, clock *queuetest.Clock) (*Store, queue.Claim) {
	t.Helper()
	s, err := Open(t.Context(), path, Options{Now: clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	task := queue.Task{ID: "first", Agent: "http://a/", Repo: "o/r", Issue: 7, Message: []byte("{}"), Coalesce: true}
	if _, err := s.Queue().Enqueue(t.Context(), task); err != nil {
		t.Fatal(err)
	}
	c, err := s.Queue().ClaimNext(t.Context(), task.Agent, queue.ClaimOptions{Lease: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	task.ID = "second"
	if got, err := s.Queue().Enqueue(t.Context(), task); err != nil || got.Behind != "first" {
		t.Fatalf("Enqueue: got %+v, %v, want it behind the first one", got, err)
	}
	return s, c
}

// change runs statements directly on the database, without the queue.
func change(tb testing.TB, s *Store, statements ...string) {
	tb.Helper()
	err := s.engine.Write(tb.Context(), func(tx sqlstore.Tx) error {
		for _, text := range statements {
			if _, err := tx.Exec(text); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
}

// TestBehindMissed ends a task whose mark of a waiting successor was lost. The waiting task is
// released later.
func TestBehindMissed(t *testing.T) {
	t.Parallel()
	clock := queuetest.NewClock()
	s, c := behind(t, filepath.Join(t.TempDir(), "foreman.db"), clock)
	change(t, s, "UPDATE task SET followed = 0")
	if err := s.Queue().Cancel(t.Context(), queue.Seen{ID: c.ID}, "person"); err != nil {
		t.Fatal(err)
	}
	claim := func() (queue.Claim, error) {
		return s.Queue().ClaimNext(t.Context(), "http://a/", queue.ClaimOptions{Lease: time.Hour})
	}
	if c, err := claim(); err == nil {
		t.Fatalf("got %+v: the end was not missed", c)
	}
	clock.Advance(11 * time.Minute)
	if c, err := claim(); err != nil || c.ID != "second" || !c.Waited {
		t.Errorf("later: got %+v, %v, want the second one", c, err)
	}
}

// TestBehindUpgrade opens a database of a version in which tasks could not wait for each other.
func TestBehindUpgrade(t *testing.T) {
	t.Parallel()
	path, clock := filepath.Join(t.TempDir(), "foreman.db"), queuetest.NewClock()
	s, err := Open(t.Context(), path, Options{Now: clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	change(t, s, "ALTER TABLE task DROP COLUMN followed", "ALTER TABLE task DROP COLUMN behind", "ALTER TABLE task DROP COLUMN holder", "ALTER TABLE task DROP COLUMN asks",
		"ALTER TABLE task DROP COLUMN asked_attempt", "ALTER TABLE task DROP COLUMN asked_epoch",
		"DROP INDEX task_open_repo", "DROP INDEX task_ended_repo", "DROP INDEX task_ended_agent", "DROP INDEX task_ended_state", "DROP INDEX task_waiting",
		"ALTER TABLE task DROP COLUMN title", "ALTER TABLE task DROP COLUMN delivery", "ALTER TABLE task_also DROP COLUMN delivery",
		"DROP TABLE history", "DROP TABLE history_budget", "DROP TABLE task_count", "DROP TRIGGER task_count_insert", "DROP TRIGGER task_count_update", "DROP TRIGGER task_count_delete",
		"DROP INDEX memory_acted", "ALTER TABLE memory_record DROP COLUMN acted", "ALTER TABLE memory_record DROP COLUMN began", "DROP TABLE pause", "DROP INDEX task_parked", "DROP INDEX task_parked_agent", "DROP INDEX task_parked_lane",
		"UPDATE foreman_schema SET version = 3",
		"INSERT INTO task (task_id, agent, repo, issue, lane, state, priority, joinable, created_at) VALUES ('old', 'http://a/', 'o/r', 8, 'o/r#8', 0, 0, 1, 1)",
		"INSERT INTO task_body (seq, message) VALUES (1, '{}')")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = Open(t.Context(), path, Options{Now: clock.Now}); err != nil {
		t.Fatal(err)
	}
	c, err := s.Queue().ClaimNext(t.Context(), "http://a/", queue.ClaimOptions{Lease: time.Hour})
	if err != nil || c.ID != "old" || c.Waited {
		t.Fatalf("got %+v, %v, want the task that was there", c, err)
	}
	task := queue.Task{ID: "new", Agent: "http://a/", Repo: "o/r", Issue: 8, Message: []byte("{}"), Coalesce: true}
	if got, err := s.Queue().Enqueue(t.Context(), task); err != nil || got.Behind != "old" {
		t.Errorf("Enqueue: got %+v, %v, want it behind the old one", got, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}
