package queuetest

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/org/foreman-action/queue"
)

func completeCases() []testCase {
	return []testCase{
		{"complete: claimed", completeClaimed},
		{"complete: pending", completePending},
		{"complete: held back", completeHeld},
		{"complete: by the first claimant after a requeue", completeRequeued},
		{"complete: by the first claimant while another has it", completeFirst},
		{"complete: a stale attempt", completeStale},
		{"complete: the first result wins", completeWins},
		{"complete: done, failed and unknown", completeEnded},
		{"complete: by another credential", completeNotYours},
		{"complete: no decision", completeEmpty},
		{"complete: the log is bounded", logBounded},
	}
}

func completeClaimed(r *rig) {
	task := r.add()
	r.claim()
	r.clock.Advance(2 * lease) // it is late, but nobody else has it
	r.complete(queue.Ref{ID: task, Attempt: 1})
	d := r.look(task)
	if d.State != queue.Completed || string(d.Result) != `{"task_id": "x"}` || !d.Completed.Equal(r.clock.Now()) || !d.Until.IsZero() {
		r.Errorf("got %+v", d)
	}
	r.sweep()
	r.nothing()
}

func completePending(r *rig) {
	task := r.add()
	r.complete(queue.Ref{ID: task})
	r.is(task, queue.Completed)
	r.nothing()
	if got := r.one(task); string(got.Result) != `{"task_id": "x"}` {
		r.Errorf("got %s", got.Result)
	}
}

func completeHeld(r *rig) {
	t := r.task()
	t.Wait = time.Hour
	r.put(t)
	r.complete(queue.Ref{ID: t.ID})
	r.leases(t.ID)
}

func completeRequeued(r *rig) {
	task := r.add()
	r.claim()
	r.requeue()
	r.complete(queue.Ref{ID: task, Attempt: 1})
	r.nothing()
	r.leases(task)
}

func completeFirst(r *rig) {
	task := r.add()
	r.claim()
	r.requeue()
	r.claim()
	r.complete(queue.Ref{ID: task}) // it does not say which claim it has
	r.refuse(queue.Ref{ID: task, Attempt: 2}, nil)
	r.refuse(queue.Ref{ID: task, Attempt: 1}, nil)
	r.refuse(queue.Ref{ID: task}, nil)
	r.leases(task)
	r.leases()
}

func completeStale(r *rig) {
	task := r.add()
	r.claim()
	r.refuse(queue.Ref{ID: task, Attempt: 2}, queue.ErrLost)
	r.refuse(queue.Ref{ID: task, Attempt: math.MaxInt64}, queue.ErrLost)
	r.requeue()
	r.claim()
	r.refuse(queue.Ref{ID: task, Attempt: 1}, queue.ErrLost)
	d := r.look(task)
	if d.State != queue.Claimed || d.Result != nil {
		r.Errorf("got %+v, want claimed", d)
	}
	if len(d.Log) == 0 || !strings.Contains(d.Log[len(d.Log)-1].Text, `{"late": true}`) {
		r.Errorf("log: got %+v, want the late decision last", d.Log)
	}
	r.complete(queue.Ref{ID: task, Attempt: 2})
}

func completeWins(r *rig) {
	task := r.add()
	r.claim()
	r.complete(queue.Ref{ID: task, Attempt: 1})
	r.clock.Advance(time.Second)
	got, err := r.b.Complete(r.Context(), queue.Ref{ID: task, Attempt: 1}, []byte(`{"late": true}`))
	if err != nil || got.Accepted || got.Reason == "" {
		r.Errorf("got %+v, %v, want a reason", got, err)
	}
	r.refuse(queue.Ref{ID: task}, nil)
	d := r.look(task)
	if string(d.Result) != `{"task_id": "x"}` || d.Completed.Equal(r.clock.Now()) {
		r.Errorf("got %s, want the first one", d.Result)
	}
	if len(d.Log) < 2 || !d.Log[len(d.Log)-1].At.Equal(r.clock.Now()) || !strings.Contains(d.Log[len(d.Log)-2].Text, `{"late": true}`) {
		r.Errorf("log: got %+v, want both late decisions", d.Log)
	}
	lease := r.one(task)
	r.refuse(queue.Ref{ID: task}, nil) // while it is being carried out
	r.works("MarkDone", r.a.MarkDone(r.Context(), lease.Hold, nil))
}

func completeEnded(r *rig) {
	r.refuse(queue.Ref{ID: id(99)}, nil)
	r.refuse(queue.Ref{ID: "", By: "x"}, nil)
	done, failed := r.decided(), r.add()
	r.works("MarkDone", r.a.MarkDone(r.Context(), r.one(done).Hold, []byte(`{}`)))
	r.works("Cancel", r.a.Cancel(r.Context(), failed, "person"))
	r.refuse(queue.Ref{ID: done}, nil)
	r.refuse(queue.Ref{ID: failed}, nil)
	r.is(done, queue.Done)
	r.is(failed, queue.Failed)
	r.leases()
	if d := r.look(failed); d.Result != nil || len(d.Log) == 0 {
		r.Errorf("got %+v, want no result, and a log", d)
	}
	if d := r.look(done); string(d.Result) != `{"task_id": "x"}` || len(d.Log) == 0 {
		r.Errorf("got %+v, want the first result, and a log", d)
	}
}

func completeNotYours(r *rig) {
	task := r.add()
	r.refuse(queue.Ref{ID: task, By: "one"}, queue.ErrNotYours) // it was not claimed at all
	if _, err := r.a.ClaimNext(r.Context(), agent, queue.ClaimOptions{By: "one", Lease: lease}); err != nil {
		r.Fatalf("ClaimNext: %v", err)
	}
	r.refuse(queue.Ref{ID: task, By: "two"}, queue.ErrNotYours)
	r.refuse(queue.Ref{ID: task, By: "two", Attempt: 1}, queue.ErrNotYours)
	d := r.look(task)
	if d.State != queue.Claimed || len(d.Log) == 0 || d.Log[len(d.Log)-1].Who != "two" {
		r.Errorf("got %+v, want claimed, and two in the log", d)
	}
	r.requeue()
	r.refuse(queue.Ref{ID: task, By: "two"}, queue.ErrNotYours)
	r.complete(queue.Ref{ID: task, By: "one"})
	r.refuse(queue.Ref{ID: task, By: "two"}, queue.ErrNotYours)
	r.refuse(queue.Ref{ID: task, By: "one"}, nil)
}

func completeEmpty(r *rig) {
	task := r.add()
	for _, decision := range [][]byte{nil, {}, make([]byte, queue.MaxMessage+1)} {
		if got, err := r.a.Complete(r.Context(), queue.Ref{ID: task}, decision); err == nil || got.Accepted {
			r.Errorf("%d bytes: got %+v, %v", len(decision), got, err)
		}
	}
	r.is(task, queue.Pending)
}

func logBounded(r *rig) {
	task := r.decided()
	const n = queue.MaxLogs + 50
	for i := range n {
		_, err := r.a.Complete(r.Context(), queue.Ref{ID: task}, fmt.Appendf(nil, `{"n": %d}`, i))
		r.works("Complete", err)
	}
	log := r.look(task).Log
	if len(log) > queue.MaxLogs || len(log) < queue.MaxLogs/2 {
		r.Fatalf("got %d entries, want at most %d", len(log), queue.MaxLogs)
	}
	for i, want := range map[int]int{0: 0, 1: 1, len(log) - 2: n - 2, len(log) - 1: n - 1} {
		if text := fmt.Sprintf(`{"n": %d}`, want); !strings.Contains(log[i].Text, text) {
			r.Errorf("entry %d: got %q, want %s in it", i, log[i].Text, text)
		}
	}
}
