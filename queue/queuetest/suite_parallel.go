package queuetest

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/org/foreman-action/queue"
)

func parallelCases() []testCase {
	return []testCase{
		{"parallel: 50 claims of one task", parallelClaims},
		{"parallel: claims of many tasks", parallelMany},
		{"parallel: enqueue of one id", parallelEnqueue},
		{"parallel: enqueue of one dedup key", parallelDedup},
		{"parallel: coalesce", parallelCoalesce},
		{"parallel: coalesce with claims", parallelJoin},
		{"parallel: a last claim that ran out", parallelLastClaim},
		{"parallel: hourly limit", parallelHourly},
		{"parallel: completes of one task", parallelCompletes},
		{"parallel: completes and requeues", parallelRequeue},
		{"parallel: one decision of an issue", parallelLane},
		{"parallel: sweeps", parallelSweeps},
		{"parallel: everything", parallelAll},
		{"parallel: all calls at once", parallelChaos},
	}
}

// race calls f n times at once, by turns on either handle.
func (r *rig) race(n int, f func(i int, q queue.Queue)) {
	r.Helper()
	var wg sync.WaitGroup
	gate := make(chan struct{})
	for i := range n {
		q := r.a
		if i%2 == 1 {
			q = r.b
		}
		wg.Go(func() {
			<-gate
			f(i, q)
		})
	}
	close(gate)
	wg.Wait()
}

// count makes sure that something happened n times.
func (r *rig) count(what string, got *atomic.Int64, want int64) {
	r.Helper()
	if got.Load() != want {
		r.Fatalf("%s: got %d, want %d", what, got.Load(), want)
	}
}

func parallelClaims(r *rig) {
	for range 3 {
		task := r.add()
		var claimed atomic.Int64
		r.race(50, func(_ int, q queue.Queue) {
			c, err := q.ClaimNext(r.Context(), agent, queue.ClaimOptions{Lease: lease})
			switch {
			case errors.Is(err, queue.ErrEmpty):
			case err != nil || c.ID != task || c.Attempt != 1:
				r.Errorf("got %+v, %v", c, err)
			default:
				claimed.Add(1)
			}
		})
		r.count("claims", &claimed, 1)
	}
}

func parallelMany(r *rig) {
	const n = 60
	for range n {
		r.add()
	}
	var mu sync.Mutex
	seen := map[string]int{}
	r.race(n, func(_ int, q queue.Queue) {
		c, err := q.ClaimNext(r.Context(), agent, queue.ClaimOptions{Lease: lease})
		if err != nil {
			r.Errorf("ClaimNext, with as many tasks as claimants: %v", err)
		}
		mu.Lock()
		defer mu.Unlock()
		seen[c.ID]++
	})
	if len(seen) != n {
		r.Errorf("got %d different tasks, want %d", len(seen), n)
	}
	r.nothing()
}

// enqueued counts how the tasks were taken in.
func (r *rig) enqueued(tasks []queue.Task) map[queue.How]int {
	r.Helper()
	var mu sync.Mutex
	count := map[queue.How]int{}
	r.race(len(tasks), func(i int, q queue.Queue) {
		got, err := q.Enqueue(r.Context(), tasks[i])
		if err != nil {
			r.Errorf("Enqueue: %v", err)
		}
		mu.Lock()
		defer mu.Unlock()
		count[got.How]++
	})
	return count
}

func parallelEnqueue(r *rig) {
	tasks := make([]queue.Task, 20)
	t := r.task()
	for i := range tasks {
		tasks[i] = t
	}
	if got := r.enqueued(tasks); got[queue.Added] != 1 || got[queue.Duplicate] != 19 {
		r.Errorf("got %v, want one added", got)
	}
	r.claims(t.ID)
}

func parallelDedup(r *rig) {
	tasks := make([]queue.Task, 20)
	for i := range tasks {
		tasks[i] = r.task()
		tasks[i].Dedup = "delivery"
	}
	if got := r.enqueued(tasks); got[queue.Added] != 1 || got[queue.Duplicate] != 19 {
		r.Errorf("got %v, want one added", got)
	}
	r.claim()
	r.nothing()
}

func parallelCoalesce(r *rig) {
	tasks := make([]queue.Task, 20)
	for i := range tasks {
		tasks[i] = r.task()
		tasks[i].Issue, tasks[i].Coalesce = 7, true
	}
	if got := r.enqueued(tasks); got[queue.Added] != 1 || got[queue.Coalesced] != 19 {
		r.Errorf("got %v, want one added", got)
	}
	r.claim()
	r.nothing()
}

func parallelHourly(r *rig) {
	tasks := make([]queue.Task, 20)
	for i := range tasks {
		tasks[i] = r.task()
		tasks[i].HourlyLimit = 5
	}
	r.enqueued(tasks)
	for hour := range 4 {
		for range 5 {
			r.claim()
		}
		if hour < 3 {
			r.nothing()
		}
		r.clock.Advance(time.Hour + time.Second)
	}
	r.nothing()
}
