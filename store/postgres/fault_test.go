package postgres_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/org/foreman-action/internal/postgrestest"
	"github.com/org/foreman-action/internal/wait"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store/postgres"
)

// TestTerminated completes tasks while their connections are terminated again and again.
func TestTerminated(t *testing.T) {
	t.Parallel()
	url := postgres.Server(t).Database(t)
	newStorm(t, url).run(func(ctx context.Context) error {
		conn, err := pgx.Connect(ctx, url)
		if err != nil {
			return err
		}
		defer conn.Close(t.Context())
		tick := time.NewTicker(30 * time.Millisecond)
		defer tick.Stop()
		for range 40 {
			<-tick.C
			_, err := conn.Exec(ctx, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() ORDER BY random() LIMIT 3`)
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// TestRestart completes tasks while the server restarts.
func TestRestart(t *testing.T) {
	t.Parallel()
	postgres.Server(t)
	own := postgrestest.Start(t, "fsync=off")
	newStorm(t, own.URL("postgres")).run(func(ctx context.Context) error {
		for _, mode := range []string{"immediate", "fast", "immediate"} {
			if err := errors.Join(own.Stop(ctx, mode), own.Start(ctx)); err != nil {
				return err
			}
		}
		return nil
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
	newStorm(t, url).run(calmWeather)
}

// calmWeather injects no fault.
func calmWeather(context.Context) error { return nil }

var kills = flag.Int("kill.rounds", 3, "how often the database server is killed")

// TestKill completes tasks while the server is killed again and again. In every second round the
// server's main process alone is killed, and the others end when they notice it.
func TestKill(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Cluster.Kill is not implemented")
	}
	postgres.Server(t)
	own := postgrestest.Start(t, "fsync=off")
	random := rand.New(rand.NewPCG(1, 2))
	s := newStorm(t, own.URL("postgres"))
	s.run(func(ctx context.Context) error {
		for round := range *kills {
			s.await(ctx, 20+random.IntN(200))
			if err := errors.Join(own.Kill(ctx, round%2 == 0), own.Start(ctx)); err != nil {
				return fmt.Errorf("round %d: %w", round, err)
			}
		}
		return nil
	})
	t.Logf("the server was killed %d times", *kills)
}

// A storm completes tasks while faults are injected.
type storm struct {
	*testing.T

	stores  [2]*postgres.Store
	mu      sync.Mutex
	kept    map[string]bool     // tasks whose Enqueue was acknowledged
	decided map[string][]string // accepted decisions, by task
	done    map[string][]string // reports of acknowledged calls of MarkDone, by task
	served  atomic.Int64        // calls that succeeded
	refused atomic.Int64        // calls that returned ErrUnavailable
}

func newStorm(t *testing.T, url string) *storm {
	t.Helper()
	o := postgres.Options{Connections: 4}
	return &storm{
		T: t, stores: [2]*postgres.Store{open(t, url, o), open(t, url, o)},
		kept: map[string]bool{}, decided: map[string][]string{}, done: map[string][]string{},
	}
}

// run completes tasks while disturb runs. At the end every acknowledged task is done with its
// accepted decision, and none was decided on twice or marked as done twice.
func (s *storm) run(disturb func(context.Context) error) {
	ctx, cancel := context.WithTimeout(s.Context(), max(5*time.Minute, time.Duration(*kills)*20*time.Second))
	defer cancel()
	calm := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		defer close(calm)
		if err := disturb(ctx); err != nil {
			s.Errorf("inject faults: %v", err)
			cancel()
		}
	})
	for worker := range 8 {
		wg.Go(func() {
			for i := 0; i < 20 || !closed(calm); i++ {
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
	s.judge(s.Context())
}

// await waits until n more calls have succeeded.
func (s *storm) await(ctx context.Context, n int) {
	for until := s.served.Load() + int64(n); s.served.Load() < until && ctx.Err() == nil; {
		_ = wait.For(ctx, time.Millisecond) // the loop's condition checks ctx
	}
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
		s.served.Add(1)
		return true
	case errors.Is(err, queue.ErrUnavailable):
		s.refused.Add(1)
		_ = wait.For(s.Context(), time.Millisecond) // the call is made again, and the server may be down
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
		ref := queue.Ref{ID: c.ID, Attempt: c.Attempt}
		s.ok("Heartbeat", store.Queue().Heartbeat(ctx, ref, time.Second))
		decision := fmt.Sprintf(`{"attempt": %d}`, c.Attempt)
		got, err := store.Queue().Complete(ctx, ref, []byte(decision))
		if s.ok("Complete", err) && got.Accepted {
			s.add(s.decided, c.ID, decision)
		}
	}
	list, err := store.Queue().LeaseDecisions(ctx, queue.DrainOptions{Owner: "o", Lease: time.Second, Limit: 3})
	s.ok("LeaseDecisions", err)
	for _, d := range list {
		report := fmt.Sprintf(`{"lease": %d}`, d.Epoch)
		if s.ok("MarkDone", store.Queue().MarkDone(ctx, d.Lease, []byte(report))) {
			s.add(s.done, d.ID, report)
		}
	}
	_, err = store.Queue().RequeueStale(ctx, queue.Limits{})
	s.ok("RequeueStale", err)
}

func (s *storm) add(to map[string][]string, id, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	to[id] = append(to[id], text)
}

// over reports whether all tasks are done. If tasks were lost, the others are.
func (s *storm) over(ctx context.Context) bool {
	stats, err := s.stores[0].Queue().Stats(ctx)
	all := 0
	for _, n := range stats.States {
		all += n
	}
	return s.ok("Stats", err) && stats.States[queue.Done] == all
}

func (s *storm) judge(ctx context.Context) {
	stats, err := s.stores[1].Queue().Stats(ctx)
	if err != nil || stats.States[queue.Done] != len(s.kept) || len(s.kept) < 160 {
		s.Errorf("got %+v, %v, want %d tasks done", stats, err, len(s.kept))
	}
	for id := range s.kept {
		d, err := s.stores[1].Queue().Inspect(ctx, id)
		if err != nil {
			s.Error(err)
		}
		s.judgeTexts(id, "decisions", s.decided[id], d.Result)
		s.judgeTexts(id, "reports", s.done[id], d.Report)
	}
	s.Logf("%d tasks, %d calls succeeded, the outcome of %d is unknown", len(s.kept), s.served.Load(), s.refused.Load())
}

// judgeTexts compares the acknowledged texts of a task with the stored one. None is acknowledged
// if the connection was lost before the answer arrived.
func (s *storm) judgeTexts(id, what string, acknowledged []string, stored []byte) {
	if len(acknowledged) > 1 || len(acknowledged) == 1 && acknowledged[0] != string(stored) || len(stored) == 0 {
		s.Errorf("task %s: the %s %q were acknowledged, and %q is stored", id, what, acknowledged, stored)
	}
}

// TestNoStatements uses no prepared statements, as is necessary behind a pooler that lends a
// connection for one transaction only.
func TestNoStatements(t *testing.T) {
	t.Parallel()
	newStorm(t, postgres.Server(t).Schema(t)+"&default_query_exec_mode=exec").run(calmWeather)
}
