package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/org/foreman-action/internal/postgrestest"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store/postgres"
)

// TestTerminated completes tasks while their connections are terminated again and again.
func TestTerminated(t *testing.T) {
	t.Parallel()
	url := postgres.Server(t).Database(t)
	runStorm(t, url, func(ctx context.Context) {
		conn, err := pgx.Connect(ctx, url)
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close(t.Context())
		tick := time.NewTicker(30 * time.Millisecond)
		defer tick.Stop()
		for range 40 {
			<-tick.C
			_, err := conn.Exec(ctx, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() ORDER BY random() LIMIT 3`)
			if err != nil {
				t.Errorf("terminate: %v", err)
			}
		}
	})
}

// TestRestart completes tasks while the server crashes and restarts.
func TestRestart(t *testing.T) {
	t.Parallel()
	postgres.Server(t)
	own := postgrestest.Start(t, "fsync=off")
	runStorm(t, own.URL("postgres"), func(ctx context.Context) {
		for _, mode := range []string{"immediate", "fast", "immediate"} {
			if err := errors.Join(own.Stop(ctx, mode), own.Start(ctx)); err != nil {
				t.Error(err)
			}
		}
	})
}

// TestHeldSnapshot completes tasks while an open transaction keeps dead rows from being removed.
func TestHeldSnapshot(t *testing.T) {
	t.Parallel()
	url := postgres.Server(t).Database(t)
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if _, err := conn.Exec(t.Context(), "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM pg_class"); err != nil {
		t.Fatal(err)
	}
	runStorm(t, url, func(context.Context) {})
}

// A storm completes tasks while faults are injected.
type storm struct {
	*testing.T

	stores  [2]*postgres.Store
	mu      sync.Mutex
	kept    map[string]bool // tasks whose Enqueue was acknowledged
	decided map[string]int  // accepted decisions, by task
	done    map[string]int  // acknowledged calls of MarkDone, by task
	refused atomic.Int64    // calls that returned ErrUnavailable
}

// runStorm completes tasks on two stores while disturb runs. At the end every acknowledged task
// is done, and none was decided on twice or marked as done twice.
func runStorm(t *testing.T, url string, disturb func(context.Context)) {
	t.Helper()
	o := postgres.Options{Connections: 4}
	s := &storm{
		T: t, stores: [2]*postgres.Store{open(t, url, o), open(t, url, o)},
		kept: map[string]bool{}, decided: map[string]int{}, done: map[string]int{},
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	calm := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		defer close(calm)
		disturb(ctx)
	})
	for worker := range 4 {
		wg.Go(func() {
			for i := 0; i < 40 || !closed(calm); i++ {
				s.enqueue(ctx, fmt.Sprintf("%d-%d", worker, i), i%7)
				s.work(ctx, s.stores[worker%2])
			}
		})
	}
	wg.Wait()
	for ctx.Err() == nil && !s.over(ctx) {
		s.work(ctx, s.stores[0])
		s.work(ctx, s.stores[1])
	}
	s.judge(ctx)
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// ok records an error, and reports whether err is nil.
func (s *storm) ok(what string, err error) bool {
	switch {
	case err == nil:
		return true
	case errors.Is(err, queue.ErrUnavailable):
		s.refused.Add(1)
	case !errors.Is(err, queue.ErrLost) && !errors.Is(err, queue.ErrEmpty):
		s.Errorf("%s: %v", what, err)
	}
	return false
}

func (s *storm) enqueue(ctx context.Context, id string, issue int) {
	for n := 0; ctx.Err() == nil; n++ {
		_, err := s.stores[n%2].Queue().Enqueue(ctx, queue.Task{ID: id, Agent: agent, Repo: "o/r", Issue: 1 + issue, Message: []byte("{}")})
		if s.ok("Enqueue", err) {
			s.mu.Lock()
			s.kept[id] = true
			s.mu.Unlock()
			return
		}
	}
}

// work claims and completes a task like an agent, and leases and finishes decisions like a
// harness.
func (s *storm) work(ctx context.Context, store *postgres.Store) {
	c, err := store.Queue().ClaimNext(ctx, agent, queue.ClaimOptions{Lease: time.Second})
	if s.ok("ClaimNext", err) {
		got, err := store.Queue().Complete(ctx, queue.Ref{ID: c.ID, Attempt: c.Attempt}, []byte("{}"))
		if s.ok("Complete", err) && got.Accepted {
			s.count(s.decided, c.ID)
		}
	}
	list, err := store.Queue().LeaseDecisions(ctx, queue.DrainOptions{Owner: "o", Lease: time.Second, Limit: 3})
	s.ok("LeaseDecisions", err)
	for _, d := range list {
		if s.ok("MarkDone", store.Queue().MarkDone(ctx, d.Lease, []byte("{}"))) {
			s.count(s.done, d.ID)
		}
	}
	_, err = store.Queue().RequeueStale(ctx, queue.Limits{})
	s.ok("RequeueStale", err)
}

func (s *storm) count(in map[string]int, id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	in[id]++
}

// over reports whether all tasks are done.
func (s *storm) over(ctx context.Context) bool {
	stats, err := s.stores[0].Queue().Stats(ctx)
	return s.ok("Stats", err) && stats.States[queue.Done] == len(s.kept)
}

func (s *storm) judge(ctx context.Context) {
	stats, err := s.stores[1].Queue().Stats(ctx)
	if err != nil || stats.States[queue.Done] != len(s.kept) || len(s.kept) < 160 {
		s.Errorf("got %+v, %v, want %d tasks done", stats, err, len(s.kept))
	}
	for id := range s.kept {
		if s.decided[id] > 1 || s.done[id] > 1 {
			s.Errorf("%s: decided on %d times, done %d times", id, s.decided[id], s.done[id])
		}
	}
	s.Logf("%d tasks, %d calls were refused", len(s.kept), s.refused.Load())
}

// TestNoStatements uses no prepared statements, as is necessary behind a pooler that lends a
// connection for one transaction only.
func TestNoStatements(t *testing.T) {
	t.Parallel()
	runStorm(t, postgres.Server(t).Schema(t)+"&default_query_exec_mode=exec", func(context.Context) {})
}
