package sqlite_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store/sqlite"
)

// backlogs returns the numbers of waiting tasks in the benchmarks.
func backlogs() []int {
	if testing.Short() {
		return []int{1_000}
	}
	return []int{1_000, 100_000}
}

// BenchmarkCycle runs tasks through all five steps, each of which is durable: enqueue, claim,
// complete, lease, done.
func BenchmarkCycle(b *testing.B) {
	for _, waiting := range backlogs() {
		for _, clients := range []int{1, 8, 64} {
			b.Run(fmt.Sprintf("clients=%d/pending=%d", clients, waiting), func(b *testing.B) { cycle(b, clients, waiting) })
		}
	}
}

const busyAgent = "http://agent:9001"

// fill adds tasks that are not claimed during a benchmark.
func fill(b *testing.B, s *sqlite.Store, n int) {
	b.Helper()
	var wg sync.WaitGroup
	for c := range 64 {
		wg.Go(func() {
			for i := c; i < n; i += 64 {
				if _, err := s.Queue().Enqueue(b.Context(), benchTask(fmt.Sprint("waits-", i), i)); err != nil {
					b.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

// benchTask is a task of 1 KiB.
func benchTask(id string, issue int) queue.Task {
	message := fmt.Appendf(nil, `{"task_id":%q,"payload":%q}`, id, strings.Repeat("x", 900))
	return queue.Task{ID: id, Agent: busyAgent, Repo: "org/repo", Issue: issue + 1, Message: message, Origin: []byte(`{"event":"issues"}`)}
}

// verbs are the steps of a cycle.
func verbs() []string { return []string{"enqueue", "claim", "complete", "lease", "done"} }

func cycle(b *testing.B, clients, waiting int) {
	s := open(b, filepath.Join(b.TempDir(), "foreman.db"), nil)
	fill(b, s, waiting)
	times := make([][5][]time.Duration, clients)
	var next atomic.Int64
	var wg sync.WaitGroup
	b.ResetTimer()
	for c := range clients {
		wg.Go(func() {
			for n := next.Add(1); n <= int64(b.N); n = next.Add(1) {
				if err := oneCycle(b, s, n, &times[c]); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "cycles/s")
	b.ReportMetric(resident(b), "MB")
	for v, name := range verbs() {
		var all []time.Duration
		for c := range times {
			all = append(all, times[c][v]...)
		}
		slices.Sort(all)
		b.ReportMetric(float64(all[len(all)/2].Microseconds()), "p50-"+name+"-us")
		b.ReportMetric(float64(all[len(all)*99/100].Microseconds()), "p99-"+name+"-us")
	}
}

// oneCycle adds a task and runs it through all steps. It records the duration of each step.
func oneCycle(b *testing.B, s *sqlite.Store, n int64, times *[5][]time.Duration) error {
	ctx := b.Context()
	at := time.Now()
	lap := func(v int) {
		now := time.Now()
		times[v] = append(times[v], now.Sub(at))
		at = now
	}
	_, err := s.Queue().Enqueue(ctx, benchTask(fmt.Sprint("task-", n), int(n)))
	lap(0)
	c, err1 := s.Queue().ClaimNext(ctx, busyAgent, queue.ClaimOptions{Lease: time.Minute})
	lap(1)
	_, err2 := s.Queue().Complete(ctx, queue.Ref{ID: c.ID, Attempt: c.Attempt}, []byte(`{"task_id":"x","decision":"skip","rationale":"","actions":[]}`))
	lap(2)
	list, err3 := s.Queue().LeaseDecisions(ctx, queue.DrainOptions{Owner: "bench", Lease: time.Minute, Limit: 1})
	lap(3)
	if err := errors.Join(err, err1, err2, err3); err != nil || len(list) == 0 {
		return err
	}
	err = s.Queue().MarkDone(ctx, list[0].Lease, nil)
	lap(4)
	return err
}

// resident returns the memory of this process in megabytes, including the tasks that are created;
// 0 if the system does not report it.
func resident(b *testing.B) float64 {
	b.Helper()
	data, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	var size, pages int
	if _, err := fmt.Sscan(string(data), &size, &pages); err != nil {
		b.Error(err)
	}
	return float64(pages*os.Getpagesize()) / 1e6
}

// BenchmarkBacklog lists the agents with pending tasks, with few and with many tasks.
func BenchmarkBacklog(b *testing.B) {
	for _, pending := range backlogs() {
		b.Run(fmt.Sprintf("pending=%d", pending), func(b *testing.B) {
			s := open(b, filepath.Join(b.TempDir(), "foreman.db"), nil)
			fill(b, s, pending)
			b.ResetTimer()
			for range b.N {
				if list, err := s.Queue().Backlog(b.Context(), 64); err != nil || len(list) != 1 {
					b.Fatal(len(list), err)
				}
			}
		})
	}
}

// BenchmarkPages runs the queries of a page of the dashboard: tasks by filters, and the counts.
func BenchmarkPages(b *testing.B) {
	for _, waiting := range []int{5, 95} {
		s := open(b, filepath.Join(b.TempDir(), "foreman.db"), nil)
		many(b, s, waiting)
		for name, f := range pages() {
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
				if st, err := s.Queue().Stats(b.Context()); err != nil || len(st.States) != 5 {
					b.Fatal(st, err)
				}
			}
		})
	}
}

// pages returns filters of the dashboard by name. Of the 100,000 tasks that many adds, one
// repository has most, and another one has 20 old tasks.
func pages() map[string]queue.Filter {
	f := func(state queue.State, agent, repo string) queue.Filter {
		return queue.Filter{State: state, Agent: agent, Repo: repo, Limit: 51}
	}
	return map[string]queue.Filter{
		"all": f("", "", ""), "failed": f(queue.Failed, "", ""), "claimed": f(queue.Claimed, "", ""), "pending": f(queue.Pending, "", ""),
		"large repo": f("", "", "Org/Large"), "small repo": f("", "", "org/small"), "no such repo": f("", "", "org/none"),
		"failed of large": f(queue.Failed, "", "org/large"), "failed of small": f(queue.Failed, "", "org/small"),
		"claimed of large": f(queue.Claimed, "", "org/large"), "pending of large": f(queue.Pending, "", "org/large"),
		"agent": f("", "http://a/0", ""), "no such agent": f("", "http://none/", ""), "failed of agent": f(queue.Failed, "http://a/0", ""),
		"agent in large": f("", "http://a/1", "org/large"), "claimed in repo": f(queue.Claimed, "", "org/r7"),
	}
}

// BenchmarkSearch searches 1,000,000 tasks. It reports how many of them one call examines.
func BenchmarkSearch(b *testing.B) {
	s := open(b, filepath.Join(b.TempDir(), "foreman.db"), nil)
	sqlite.Change(b, s, `WITH RECURSIVE k(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM k WHERE n < 1000000)
INSERT INTO task (task_id, agent, repo, issue, lane, state, priority, joinable, created_at, completed_at, ended_at, reason, title, delivery)
SELECT 't' || n, 'http://a/' || (n % 8), 'org/r' || (n % 4), n, 'org/r' || (n % 4) || '#' || n, CASE WHEN n % 1000 = 0 THEN 5 ELSE 4 END, 0, 0, n, n, n,
  CASE WHEN n % 1000 = 0 THEN 'add the label: GitHub says 503' ELSE '' END, 'the editor crashes when file ' || n || ' is saved', 'd0c0ffee-cc78-11e3-81ab-' || n FROM k`)
	for name, f := range map[string]queue.Filter{
		"no match": {Title: "nowhere"}, "a rare title": {Title: "FILE 950000"}, "a frequent title": {Title: "editor crash"},
		"a new delivery": {ID: "d0c0ffee-cc78-11e3-81ab-950000"}, "an old delivery": {ID: "d0c0ffee-cc78-11e3-81ab-7"}, "a task": {ID: "t7"},
		"a reason of failed tasks": {State: queue.Failed, Reason: "says 503"}, "words in a repository": {Repo: "org/r1", Title: "nowhere"},
		"old tasks by time": {To: time.UnixMilli(100)},
	} {
		f.Limit = 50
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				page, err := s.Queue().Search(b.Context(), f)
				if err != nil || page.Examined > queue.MaxExamined {
					b.Fatal(page.Examined, err)
				}
				b.ReportMetric(float64(page.Examined), "examined")
				b.ReportMetric(float64(len(page.Tasks)), "tasks")
			}
		})
		b.Run("count/"+name, func(b *testing.B) {
			for range b.N {
				tally, err := s.Queue().Count(b.Context(), f)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(tally.N), "tasks")
			}
		})
	}
}

// many adds 100,000 tasks. waiting is the percentage of pending ones.
func many(b *testing.B, s *sqlite.Store, waiting int) {
	b.Helper()
	sqlite.Change(b, s, fmt.Sprintf(`WITH RECURSIVE k(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM k WHERE n < 100000),
s(n, state) AS (SELECT n, CASE WHEN n %% 5000 = 7 THEN 5 WHEN n %% 1000 = 1 THEN 1 WHEN n %% 1000 = 2 THEN 2 WHEN n %% 100 < %d THEN 0 ELSE 4 END FROM k),
r(n, state, repo) AS (SELECT n, state, CASE WHEN n %% 50 = 0 AND n <= 1000 THEN 'org/small' WHEN n %% 4 = 3 THEN 'org/r' || (n %% 100) ELSE 'Org/Large' END FROM s)
INSERT INTO task (task_id, agent, repo, issue, lane, state, priority, joinable, created_at, completed_at, claimed_at, lease_until, ended_at)
SELECT 't' || n, 'http://a/' || (n %% 8), repo, n, lower(repo) || '#' || n, state, 0, 0, n, CASE WHEN state IN (2, 4) THEN n ELSE 0 END, CASE WHEN state = 1 THEN n ELSE 0 END,
  CASE WHEN state = 1 THEN 1 << 50 END, CASE WHEN state >= 4 THEN n END FROM r`, waiting))
}
