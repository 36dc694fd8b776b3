package queuetest

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/org/foreman-action/queue"
)

func parallelCompletes(r *rig) {
	task := r.add()
	r.claim()
	var accepted atomic.Int64
	var winner atomic.Value
	r.race(30, func(i int, q queue.Queue) {
		decision := fmt.Sprintf(`{"n": %d}`, i)
		got, err := q.Complete(r.Context(), queue.Ref{ID: task, Attempt: i % 2}, []byte(decision))
		if err != nil {
			r.Errorf("Complete: %v", err)
		}
		if got.Accepted {
			accepted.Add(1)
			winner.Store(decision)
		}
	})
	r.count("accepted", &accepted, 1)
	if d := r.one(task); string(d.Result) != winner.Load() {
		r.Errorf("got %s, want %s", d.Result, winner.Load())
	}
	if n := len(r.look(task).Log); n != 29 {
		r.Errorf("log: got %d entries, want the 29 decisions that were late", n)
	}
}

// parallelRequeue lets heartbeats, claims and completions meet the sweep.
func parallelRequeue(r *rig) {
	task := r.add()
	var accepted atomic.Int64
	for range 5 {
		r.claim()
		r.clock.Advance(lease + time.Second)
		attempt := r.look(task).Attempt
		r.race(20, func(i int, q queue.Queue) {
			var err error
			switch i % 4 {
			case 0, 1:
				_, err = q.RequeueStale(r.Context(), queue.Limits{})
			case 2:
				err = q.Heartbeat(r.Context(), queue.Ref{ID: task, Attempt: attempt}, time.Millisecond)
				if errors.Is(err, queue.ErrLost) {
					err = nil
				}
			default:
				_, err = q.ClaimNext(r.Context(), agent, queue.ClaimOptions{Lease: time.Millisecond})
				if errors.Is(err, queue.ErrEmpty) {
					err = nil
				}
			}
			if err != nil {
				r.Errorf("call %d: %v", i, err)
			}
		})
		r.clock.Advance(time.Second)
		_, err := r.a.RequeueStale(r.Context(), queue.Limits{})
		r.works("RequeueStale", err)
		r.is(task, queue.Pending)
	}
	r.race(20, func(_ int, q queue.Queue) {
		if got, err := q.Complete(r.Context(), queue.Ref{ID: task}, []byte("{}")); err != nil {
			r.Errorf("Complete: %v", err)
		} else if got.Accepted {
			accepted.Add(1)
		}
	})
	r.count("accepted", &accepted, 1)
}

// parallelLane drains from both handles at once, again and again: of an issue there is
// never more than one lease, and each decision is leased once.
func parallelLane(r *rig) {
	const n, issues = 24, 3
	for i := range n {
		t := r.task()
		t.Issue = 1 + i%issues
		r.put(t)
		r.complete(queue.Ref{ID: t.ID})
	}
	var mu sync.Mutex
	busy, seen := map[int]bool{}, map[string]bool{}
	for rounds := 0; len(seen) < n && rounds < 10*n; rounds++ {
		r.race(8, func(_ int, q queue.Queue) {
			list, err := q.DrainCompleted(r.Context(), queue.DrainOptions{Lease: lease, Limit: issues})
			if err != nil {
				r.Errorf("DrainCompleted: %v", err)
			}
			for _, d := range list {
				mu.Lock()
				if busy[d.Issue] || seen[d.ID] {
					r.Errorf("%s of issue %d was leased beside another one, or twice", d.ID, d.Issue)
				}
				busy[d.Issue], seen[d.ID] = true, true
				mu.Unlock()
			}
			for _, d := range list {
				mu.Lock()
				busy[d.Issue] = false // before anybody can have the next one
				mu.Unlock()
				if err := q.MarkDone(r.Context(), d.Hold, nil); err != nil {
					r.Errorf("MarkDone: %v", err)
				}
			}
		})
	}
	if len(seen) != n || r.stats().States[queue.Done] != n {
		r.Errorf("got %d decisions, want %d", len(seen), n)
	}
}

func parallelSweeps(r *rig) {
	const n = 20
	for range n {
		r.add()
		r.claim()
	}
	r.clock.Advance(lease + time.Second)
	var swept atomic.Int64
	r.race(8, func(_ int, q queue.Queue) {
		list, err := q.RequeueStale(r.Context(), queue.Limits{})
		if err != nil {
			r.Errorf("RequeueStale: %v", err)
		}
		swept.Add(int64(len(list)))
	})
	r.count("requeued", &swept, n)
	swept.Store(0)
	r.race(8, func(_ int, q queue.Queue) {
		list, err := q.RequeueStale(r.Context(), queue.Limits{Claims: 1})
		if err != nil {
			r.Errorf("RequeueStale with a limit: %v", err)
		}
		swept.Add(int64(len(list)))
	})
	r.count("failed", &swept, n)
}

// parallelAll runs whole cycles beside sweeps: every task is done, and each once.
func parallelAll(r *rig) {
	const workers, each = 8, 10
	var done atomic.Int64
	r.race(workers, func(w int, q queue.Queue) {
		for i := range each {
			t := queue.Task{ID: fmt.Sprintf("%d-%d", w, i), Agent: agent, Repo: repo, Issue: 1 + i%5, Message: []byte("{}")}
			if _, err := q.Enqueue(r.Context(), t); err != nil {
				r.Errorf("Enqueue: %v", err)
			}
			c, err := q.ClaimNext(r.Context(), agent, queue.ClaimOptions{Lease: lease})
			for n := 0; n < 100_000 && errors.Is(err, queue.ErrEmpty); n++ { // there are as many tasks as claimants
				c, err = q.ClaimNext(r.Context(), agent, queue.ClaimOptions{Lease: lease})
			}
			if err != nil {
				r.Errorf("ClaimNext: %v", err)
			}
			if got, err := q.Complete(r.Context(), queue.Ref{ID: c.ID, Attempt: c.Attempt}, []byte("{}")); err != nil || !got.Accepted {
				r.Errorf("Complete: got %+v, %v", got, err)
			}
			if _, err := q.RequeueStale(r.Context(), queue.Limits{}); err != nil {
				r.Errorf("RequeueStale: %v", err)
			}
			done.Add(r.drainOnce(q))
		}
	})
	for range workers * each {
		done.Add(r.drainOnce(r.b))
	}
	r.count("done", &done, workers*each)
	if s := r.stats(); s.States[queue.Done] != workers*each {
		r.Errorf("got %+v, want all done", s)
	}
}

// drainOnce carries out what is ready, and returns how much.
func (r *rig) drainOnce(q queue.Queue) int64 {
	list, err := q.DrainCompleted(r.Context(), queue.DrainOptions{Lease: lease, Limit: 3})
	if err != nil {
		r.Errorf("DrainCompleted: %v", err)
	}
	for _, d := range list {
		if err := q.MarkDone(r.Context(), d.Hold, nil); err != nil {
			r.Errorf("MarkDone: %v", err)
		}
	}
	return int64(len(list))
}
