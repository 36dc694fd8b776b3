package postgres

import (
	"testing"
	"time"

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/queue/queuetest"
)

// TestBehindMissed ends a task whose mark of a waiting successor was lost. The waiting task is
// released later, when it is checked again.
func TestBehindMissed(t *testing.T) {
	t.Parallel()
	clock := queuetest.NewClock()
	s, err := Open(t.Context(), Server(t).Schema(t), Options{Now: clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	const agent = "http://a/"
	task := queue.Task{ID: "first", Agent: agent, Repo: "o/r", Issue: 7, Coalesce: true}
	if err := enqueue(t.Context(), s, task); err != nil {
		t.Fatal(err)
	}
	claim := func() (queue.Claim, error) {
		return s.Queue().ClaimNext(t.Context(), agent, queue.ClaimOptions{Lease: time.Hour})
	}
	if _, err := claim(); err != nil {
		t.Fatal(err)
	}
	task.ID = "second"
	if err := enqueue(t.Context(), s, task); err != nil {
		t.Fatal(err)
	}
	if _, err := s.engine.pool.Exec(t.Context(), "UPDATE task SET followed = 0"); err != nil {
		t.Fatal(err)
	}
	if err := s.Queue().Cancel(t.Context(), queue.Seen{ID: "first"}, "person"); err != nil {
		t.Fatal(err)
	}
	if c, err := claim(); err == nil {
		t.Fatalf("got %+v: the end was not missed", c)
	}
	clock.Advance(11 * time.Minute)
	if _, err := s.Queue().RequeueStale(t.Context(), queue.Limits{}); err != nil {
		t.Fatal(err)
	}
	if c, err := claim(); err != nil || c.ID != "second" || !c.Waited {
		t.Errorf("later: got %+v, %v, want the second one", c, err)
	}
}
