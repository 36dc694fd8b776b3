package queuetest

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/org/foreman-action/queue"
)

func behindHeld(r *rig) {
	first := r.follower(7)
	r.put(first)
	r.claims(first.ID)
	next := r.follower(7)
	next.Wait = time.Hour
	r.waits(next, first.ID)
	ready := r.clock.Now().Add(time.Hour)
	r.works("Cancel", r.a.Cancel(r.Context(), first.ID, "person"))
	if d := r.look(next.ID); !d.Held || d.Behind != "" || !d.Ready.Equal(ready) {
		r.Errorf("got %+v, want one that is held back until %s", d.Info, ready)
	}
	r.nothing()
	r.clock.Advance(time.Hour + time.Second)
	r.gone(next.ID)

	second := r.follower(8)
	r.put(second)
	r.claims(second.ID)
	next = r.follower(8)
	next.Wait = time.Minute
	r.waits(next, second.ID)
	r.clock.Advance(time.Minute + time.Second)
	r.nothing()
	r.works("Cancel", r.a.Cancel(r.Context(), second.ID, "person"))
	r.gone(next.ID)
}

// behindEnded ends a task that waits.
func behindEnded(r *rig) {
	first := r.follower(7)
	r.put(first)
	r.claims(first.ID)
	second, third := r.follower(7), r.follower(7)
	third.Join = refuse
	r.waits(second, first.ID)
	r.waits(third, first.ID)
	r.works("Cancel", r.a.Cancel(r.Context(), second.ID, "person"))
	if d := r.look(second.ID); d.Held || d.Behind != "" || d.State != queue.Failed {
		r.Errorf("got %+v, want one that failed", d.Info)
	}
	r.behind(third.ID, first.ID)
	r.nothing()
	r.complete(queue.Ref{ID: third.ID}) // by somebody who did not wait for it
	if d := r.look(third.ID); d.Held || d.Behind != "" || d.State != queue.Completed {
		r.Errorf("got %+v, want one that was decided on", d.Info)
	}
	fourth := r.follower(7)
	r.waits(fourth, first.ID)
	r.works("Cancel", r.a.Cancel(r.Context(), first.ID, "person"))
	r.behind(fourth.ID, third.ID)
	r.nothing()
	r.works("MarkDone", r.a.MarkDone(r.Context(), r.one(third.ID).Hold, nil))
	r.gone(fourth.ID)
}

// behindRetry lets a task go that waits.
func behindRetry(r *rig) {
	first := r.follower(7)
	r.put(first)
	r.claims(first.ID)
	next, last := r.follower(7), r.follower(7)
	last.Join = refuse
	r.waits(next, first.ID)
	r.waits(last, first.ID)
	r.retry(next.ID, queue.Pending)
	r.gone(next.ID)
	r.works("Cancel", r.a.Cancel(r.Context(), first.ID, "person"))
	r.behind(last.ID, next.ID)
	r.nothing()
	r.works("Cancel", r.a.Cancel(r.Context(), next.ID, "person"))
	r.gone(last.ID)
}

// behindRetryAhead takes a task up again after whose end another one went.
func behindRetryAhead(r *rig) {
	first, comment := r.follower(7), r.task()
	comment.Issue = 7
	r.put(first)
	r.claims(first.ID)
	r.put(comment)
	r.works("Cancel", r.a.Cancel(r.Context(), comment.ID, "person"))
	next := r.follower(7)
	r.waits(next, first.ID)
	r.works("Cancel", r.a.Cancel(r.Context(), first.ID, "person"))
	r.gone(next.ID)
	if state, err := r.b.Retry(r.Context(), first.ID, "person"); err != nil || state != queue.Pending {
		r.Fatalf("Retry: got %s, %v", state, err)
	}
	r.behind(first.ID, next.ID)
	r.nothing()
	r.retry(comment.ID, queue.Pending) // it does not coalesce
	r.claims(comment.ID)
	r.works("Cancel", r.a.Cancel(r.Context(), next.ID, "person"))
	r.behind(first.ID, comment.ID)
	r.nothing()
	r.works("Cancel", r.a.Cancel(r.Context(), comment.ID, "person"))
	r.gone(first.ID)
	r.complete(queue.Ref{ID: first.ID})
	r.works("Fail", r.a.Fail(r.Context(), r.one(first.ID).Hold, "why", nil))
	last := r.follower(7)
	r.put(last)
	r.claims(last.ID)
	r.retry(first.ID, queue.Completed) // it is decided on: nobody is asked
	r.one(first.ID)
}

// behindSlots has a task wait that has a place in the hourly limit.
func behindSlots(r *rig) {
	first := r.follower(7)
	r.put(first)
	r.claims(first.ID)
	next, other := r.follower(7), r.follower(8)
	next.HourlyLimit, other.HourlyLimit = 1, 1
	r.waits(next, first.ID)
	got, err := r.a.Enqueue(r.Context(), other)
	if want := r.clock.Now().Add(time.Hour); err != nil || !got.Ready.Equal(want) || got.Behind != "" {
		r.Fatalf("got %+v, %v, want it ready at %s", got, err, want)
	}
	last := r.follower(7)
	last.HourlyLimit, last.Join = 1, refuse
	r.waits(last, first.ID)
	r.works("Cancel", r.a.Cancel(r.Context(), first.ID, "person"))
	r.gone(next.ID)
	r.works("Cancel", r.a.Cancel(r.Context(), next.ID, "person"))
	r.nothing()
	if d := r.look(last.ID); !d.Held || d.Reason == "" || !d.Ready.Equal(r.clock.Now().Add(2*time.Hour)) {
		r.Errorf("got %+v, want it held back until it is its turn, and why", d.Info)
	}
}

// behindRounds is how often a task is enqueued while another one of its issue ends.
const behindRounds = 40

// parallelBehind enqueues tasks at the moment at which the one in flight ends: none of them
// is lost, without a clock that moves.
func parallelBehind(r *rig) {
	ends := []func(q queue.Queue, d queue.Decision) error{
		func(q queue.Queue, d queue.Decision) error { return q.MarkDone(r.Context(), d.Hold, []byte("{}")) },
		func(q queue.Queue, d queue.Decision) error { return q.Fail(r.Context(), d.Hold, "why", nil) },
		func(q queue.Queue, d queue.Decision) error {
			return errors.Join(q.Release(r.Context(), d.Hold, queue.Postponement{}), q.Cancel(r.Context(), d.ID, "person"))
		},
		func(q queue.Queue, _ queue.Decision) error {
			for { // it passes over what somebody is changing
				swept, err := q.RequeueStale(r.Context(), queue.Limits{Drains: 1})
				if err != nil || len(swept) > 0 {
					return err
				}
			}
		},
	}
	for round := range behindRounds {
		first := r.follower(7)
		r.put(first)
		r.claims(first.ID)
		r.complete(queue.Ref{ID: first.ID})
		d := r.one(first.ID)
		if round%len(ends) == 3 {
			r.clock.Advance(lease + time.Second)
		}
		tasks := []queue.Task{r.follower(7), r.follower(7), r.follower(7)}
		tasks[round%3].Join = refuse
		var added atomic.Int64
		r.race(4, func(i int, q queue.Queue) {
			if i == 3 {
				if err := ends[round%len(ends)](q, d); err != nil {
					r.Errorf("the end: %v", err)
				}
				return
			}
			got, err := q.Enqueue(r.Context(), tasks[i])
			if err != nil {
				r.Errorf("Enqueue: %v", err)
			}
			if got.How == queue.Added {
				added.Add(1)
			}
		})
		for range added.Load() {
			c := r.claim()
			r.nothing()
			r.works("Cancel", r.a.Cancel(r.Context(), c.ID, "person"))
		}
		r.nothing()
	}
}

// parallelBehindTwo ends two tasks at the same time, of which another one waits for both.
func parallelBehindTwo(r *rig) {
	for range behindRounds {
		a, b := r.task(), r.task()
		b.Issue = a.Issue
		r.put(a, b)
		r.claims(a.ID, b.ID)
		next := r.follower(a.Issue)
		r.waits(next, a.ID)
		r.complete(queue.Ref{ID: a.ID})
		d := r.one(a.ID)
		r.race(2, func(i int, q queue.Queue) {
			var err error
			if i == 0 {
				err = q.MarkDone(r.Context(), d.Hold, []byte("{}"))
			} else {
				err = q.Cancel(r.Context(), b.ID, "person")
			}
			if err != nil {
				r.Errorf("the end: %v", err)
			}
		})
		r.gone(next.ID)
		r.works("Cancel", r.a.Cancel(r.Context(), next.ID, "person"))
	}
}

// An inFlight counts the tasks of each issue that are in flight.
type inFlight struct {
	*rig

	mu          sync.Mutex
	busy        map[int]string
	done, added atomic.Int64
}

// parallelOneInFlight takes tasks of a few issues in and through, from both handles at once:
// of an issue there is never more than one in flight, and in the end each one is done.
func parallelOneInFlight(r *rig) {
	const workers, each, issues = 6, 12, 3
	f := &inFlight{rig: r, busy: map[int]string{}}
	r.race(workers, func(w int, q queue.Queue) {
		for i := range each {
			t := queue.Task{
				ID: fmt.Sprintf("%d-%d", w, i), Agent: agent, Repo: repo, Issue: 1 + i%issues,
				Message: []byte("{}"), Coalesce: true,
			}
			if i%2 == 0 {
				t.Join = refuse
			}
			got, err := q.Enqueue(r.Context(), t)
			if err != nil {
				r.Errorf("Enqueue: %v", err)
			}
			if got.How == queue.Added {
				f.added.Add(1)
			}
			f.decide(q)
			f.finish(q)
		}
	})
	for range workers * each {
		f.decide(r.a)
		f.finish(r.b)
	}
	r.count("done", &f.done, f.added.Load())
}

// decide claims a task, if there is one, and completes it.
func (f *inFlight) decide(q queue.Queue) {
	c, err := q.ClaimNext(f.Context(), agent, queue.ClaimOptions{Lease: lease})
	if errors.Is(err, queue.ErrEmpty) {
		return
	}
	if err != nil {
		f.Errorf("ClaimNext: %v", err)
		return
	}
	issue := f.look(c.ID).Issue
	f.mu.Lock()
	if f.busy[issue] != "" {
		f.Errorf("%s was handed out while %s of the same issue was in flight", c.ID, f.busy[issue])
	}
	f.busy[issue] = c.ID
	f.mu.Unlock()
	if got, err := q.Complete(f.Context(), queue.Ref{ID: c.ID, Attempt: c.Attempt}, []byte("{}")); err != nil || !got.Accepted {
		f.Errorf("Complete: got %+v, %v", got, err)
	}
}

// finish carries out what is decided.
func (f *inFlight) finish(q queue.Queue) {
	list, err := q.DrainCompleted(f.Context(), queue.DrainOptions{Lease: lease, Limit: 3})
	if err != nil {
		f.Errorf("DrainCompleted: %v", err)
	}
	for _, d := range list {
		f.mu.Lock()
		f.busy[d.Issue] = "" // before anybody can have the next one
		f.mu.Unlock()
		if err := q.MarkDone(f.Context(), d.Hold, []byte("{}")); err != nil {
			f.Errorf("MarkDone: %v", err)
		}
		f.done.Add(1)
	}
}
