package queuetest

import (
	"bytes"
	"errors"
	"strings"
	"sync/atomic"
	"time"

	"github.com/org/foreman-action/queue"
)

// joinRounds is how often a task is joined to another one while that is claimed.
const joinRounds = 60

// parallelJoin lets claims meet a task that is joined to the one they take: what Enqueue
// said of it is so.
func parallelJoin(r *rig) {
	for round := range joinRounds {
		first, second := r.task(), r.task()
		second.Issue = first.Issue
		first.Coalesce, second.Coalesce = true, true
		second.Message = []byte(`{"new": "` + strings.Repeat("x", 1+round%8*20_000) + `"}`)
		r.put(first)
		var joined, over atomic.Bool
		var got atomic.Value
		r.race(4, func(i int, q queue.Queue) {
			if i == 0 {
				e, err := q.Enqueue(r.Context(), second)
				if err != nil {
					r.Errorf("Enqueue: %v", err)
				}
				joined.Store(e.How == queue.Coalesced)
				over.Store(true)
				return
			}
			for range round % 5 { // it takes a while
				r.look(first.ID)
			}
			for last := false; !last && got.Load() == nil; {
				last = over.Load()
				r.claimInto(&got, q, first.ID)
			}
		})
		message, _ := got.Load().([]byte)
		if joined.Load() && !bytes.Equal(message, second.Message) {
			r.Fatalf("round %d: what was joined to the task is not in what was claimed: %.80q", round, message)
		}
		for err := error(nil); err == nil; { // the second one, if it was added
			_, err = r.a.ClaimNext(r.Context(), agent, queue.ClaimOptions{Lease: lease})
		}
	}
}

// claimInto claims a task, if there is one, and keeps the message of the one with that id.
func (r *rig) claimInto(got *atomic.Value, q queue.Queue, id string) {
	c, err := q.ClaimNext(r.Context(), agent, queue.ClaimOptions{Lease: lease})
	switch {
	case err == nil && c.ID == id:
		got.Store(c.Message)
	case err != nil && !errors.Is(err, queue.ErrEmpty):
		r.Errorf("ClaimNext: %v", err)
	}
}

// parallelLastClaim lets claims wait for a task that was handed out as often as it may be,
// while it is swept.
func parallelLastClaim(r *rig) {
	for range 20 {
		task := r.add()
		r.claim()
		r.clock.Advance(lease + time.Second)
		var over atomic.Bool
		r.race(4, func(i int, q queue.Queue) {
			if i == 0 {
				_, err := q.RequeueStale(r.Context(), queue.Limits{Claims: 1})
				if err != nil {
					r.Errorf("RequeueStale: %v", err)
				}
				over.Store(true)
				return
			}
			for last := false; !last; {
				last = over.Load()
				if c, err := q.ClaimNext(r.Context(), agent, queue.ClaimOptions{Lease: lease}); !errors.Is(err, queue.ErrEmpty) {
					r.Errorf("ClaimNext: got %+v, %v, want ErrEmpty", c.ID, err)
				}
			}
		})
		r.is(task, queue.Failed)
	}
}
