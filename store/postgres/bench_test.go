package postgres_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/org/foreman-action/internal/postgrestest"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store/postgres"
)

// durable opens a store on a server that flushes each commit to the disk.
func durable(b *testing.B) *postgres.Store {
	b.Helper()
	return open(b, postgrestest.Start(b).URL("postgres"), postgres.Options{})
}

func add(b *testing.B, s *postgres.Store, id string) {
	b.Helper()
	if _, err := s.Queue().Enqueue(b.Context(), queue.Task{ID: id, Agent: agent, Message: []byte(`{"title": "a task"}`)}); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkClaim measures how long one client needs to claim one of 1,000 tasks.
func BenchmarkClaim(b *testing.B) {
	s := durable(b)
	for i := range 1000 + b.N {
		add(b, s, fmt.Sprint(i))
	}
	b.ResetTimer()
	for range b.N {
		if _, err := s.Queue().ClaimNext(b.Context(), agent, queue.ClaimOptions{Lease: time.Hour}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCycle takes a task through all its states, by one client.
func BenchmarkCycle(b *testing.B) {
	s := durable(b)
	b.ResetTimer()
	for i := range b.N {
		add(b, s, fmt.Sprint(i))
		if err := cycle(b.Context(), s); err != nil {
			b.Fatal(err)
		}
	}
}

func cycle(ctx context.Context, s *postgres.Store) error {
	c, err := s.Queue().ClaimNext(ctx, agent, queue.ClaimOptions{Lease: time.Hour})
	if err != nil {
		return err
	}
	if _, err := s.Queue().Complete(ctx, queue.Ref{ID: c.ID, Attempt: c.Attempt}, []byte("{}")); err != nil {
		return err
	}
	list, err := s.Queue().LeaseDecisions(ctx, queue.DrainOptions{Lease: time.Hour, Limit: 1})
	if err != nil || len(list) != 1 {
		return fmt.Errorf("got %d decisions: %w", len(list), err)
	}
	return s.Queue().MarkDone(ctx, list[0].Lease, nil)
}

// BenchmarkBacklog lists the agents with pending tasks, with few and with many tasks.
func BenchmarkBacklog(b *testing.B) {
	for _, pending := range []int{1_000, 100_000} {
		if testing.Short() && pending > 1_000 {
			continue
		}
		b.Run(fmt.Sprintf("pending=%d", pending), func(b *testing.B) {
			url := postgrestest.Start(b).URL("postgres")
			s := open(b, url, postgres.Options{})
			admin(b, url, `INSERT INTO task (task_id, agent, repo, issue, lane, state, priority, joinable, created_at)
SELECT 't' || n, 'http://' || n % 8 || '/', 'o/r', n, 'o/r#' || n, 0, 0, 0, n FROM generate_series(1, $1) n`, pending)
			admin(b, url, "VACUUM ANALYZE task")
			b.ResetTimer()
			for range b.N {
				if list, err := s.Queue().Backlog(b.Context(), 64); err != nil || len(list) != 8 {
					b.Fatal(list, err)
				}
			}
		})
	}
}

// BenchmarkPages runs the queries of a dashboard page on 100,000 tasks: the tasks of a
// repository, the failed tasks, and the counts.
func BenchmarkPages(b *testing.B) {
	for _, waiting := range []int{5, 95} {
		url := postgrestest.Start(b).URL("postgres")
		s := open(b, url, postgres.Options{})
		admin(b, url, "ALTER TABLE task DISABLE TRIGGER USER")
		admin(b, url, `INSERT INTO task (task_id, agent, repo, issue, lane, state, priority, joinable, created_at, ended_at)
SELECT 't' || n, 'http://' || n % 8 || '/', r, n, lower(r) || '#' || n, CASE WHEN n % 5000 = 7 THEN 5 WHEN n % 100 < $1::int THEN 0 ELSE 4 END, 0, 0, n,
  CASE WHEN n % 5000 = 7 OR n % 100 >= $1 THEN n END
FROM (SELECT n, CASE WHEN n % 50 = 0 AND n <= 1000 THEN 'org/small' WHEN n % 4 = 3 THEN 'org/r' || n % 100 ELSE 'Org/Large' END AS r FROM generate_series(1, 100000) n) x`, waiting)
		admin(b, url, "ALTER TABLE task ENABLE TRIGGER USER")
		admin(b, url, "INSERT INTO task_count (state, agent, shard, n) SELECT state, '', 0, count(*) FROM task WHERE ended_at IS NOT NULL GROUP BY state")
		admin(b, url, "VACUUM ANALYZE task")
		for name, f := range map[string]queue.Filter{
			"all": {}, "large repo": {Repo: "org/large"}, "small repo": {Repo: "org/small"}, "failed": {State: queue.Failed},
			"failed of large": {State: queue.Failed, Repo: "org/large"}, "agent": {Agent: "http://1/"},
		} {
			f.Limit = 51
			b.Run(fmt.Sprintf("pending=%d000/%s", waiting, name), func(b *testing.B) {
				for range b.N {
					if _, err := queue.List(b.Context(), s.Queue(), f); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		b.Run(fmt.Sprintf("pending=%d000/counts", waiting), func(b *testing.B) {
			for range b.N {
				if st, err := s.Queue().Stats(b.Context()); err != nil || len(st.States) != 3 {
					b.Fatal(st, err)
				}
			}
		})
	}
}
