package postgres_test

import (
	"strings"
	"testing"
	"time"

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store/postgres"
)

// patience is how long tests wait for a change.
const patience = 2 * time.Minute

// await waits for a change.
func await(t *testing.T, changes <-chan queue.Change, want queue.Change) {
	t.Helper()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for {
		select {
		case got := <-changes:
			if got == want {
				return
			}
		case <-timer.C:
			t.Fatalf("change %+v did not arrive", want)
		}
	}
}

// TestWatchOthers makes tasks ready in one process, and receives the changes in another.
func TestWatchOthers(t *testing.T) {
	t.Parallel()
	url := postgres.Server(t).Database(t)
	a, b := open(t, url, postgres.Options{}), open(t, url, postgres.Options{})
	changes, stop := b.Queue().Watch()
	defer stop()
	await(t, changes, queue.Change{}) // the store listens now
	enqueue(t, a, "1")
	await(t, changes, queue.Change{Agent: agent})
	if _, err := a.Queue().Complete(t.Context(), queue.Ref{ID: "1"}, []byte("{}")); err != nil {
		t.Fatal(err)
	}
	await(t, changes, queue.Change{})

	many := map[string]bool{}
	for i := range 30 { // more than fit into one notification
		many["http://"+strings.Repeat(string(rune('a'+i%26)), 1000+i)+"/"] = true
	}
	for agent := range many {
		task := queue.Task{ID: agent, Agent: agent, Message: []byte("{}")}
		if _, err := a.Queue().Enqueue(t.Context(), task); err != nil {
			t.Fatal(err)
		}
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for len(many) > 0 {
		select {
		case c := <-changes:
			delete(many, c.Agent)
		case <-timer.C:
			t.Fatalf("the changes of %d agents did not arrive", len(many))
		}
	}
}

// TestWatchReconnects closes the connections of a watcher: it reconnects, and receives changes
// again.
func TestWatchReconnects(t *testing.T) {
	t.Parallel()
	url := postgres.Server(t).Database(t)
	a, b := open(t, url, postgres.Options{}), open(t, url, postgres.Options{})
	changes, stop := b.Queue().Watch()
	defer stop()
	await(t, changes, queue.Change{})
	admin(t, url, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()")
	await(t, changes, queue.Change{}) // the store listens again
	enqueue(t, a, "1")
	await(t, changes, queue.Change{Agent: agent})
	if c, err := b.Queue().ClaimNext(t.Context(), agent, queue.ClaimOptions{Lease: time.Minute}); err != nil || c.ID != "1" {
		t.Errorf("got %+v, %v", c, err)
	}
}

func receive(t *testing.T, c <-chan string) string {
	t.Helper()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case s := <-c:
		return s
	case <-timer.C:
		t.Fatal("nothing happened")
		return ""
	}
}
