package queuetest

import (
	"math"
	"time"

	"github.com/org/foreman-action/queue"
)

func heartbeatCases() []testCase {
	return []testCase{
		{"heartbeat: extends the claim", heartbeatExtends},
		{"heartbeat: after the claim ran out", heartbeatLate},
		{"heartbeat: lost", heartbeatLost},
		{"heartbeat: unknown and not yours", heartbeatNot},
		{"give back: pending again, and not counted", giveBackFree},
		{"give back: not before the wait is over", giveBackWaits},
		{"give back: lost, unknown and not yours", giveBackNot},
		{"give up: fails, and can be retried", giveUp},
		{"give up: lost, unknown and not yours", giveUpNot},
	}
}

func heartbeatExtends(r *rig) {
	task := r.add()
	r.claim()
	for i := range 6 {
		r.clock.Advance(lease - time.Second)
		r.works("Heartbeat", r.b.Heartbeat(r.Context(), queue.Ref{ID: task, Attempt: i % 2}, lease))
		if d := r.look(task); !d.Until.Equal(r.clock.Now().Add(lease)) {
			r.Errorf("got %s, want %s", d.Until, r.clock.Now().Add(lease))
		}
		r.sweep()
	}
	r.works("Heartbeat", r.b.Heartbeat(r.Context(), queue.Ref{ID: task}, time.Second)) // may make it shorter
	r.clock.Advance(2 * time.Second)
	r.sweep(queue.Swept{ID: task, Agent: agent, State: queue.Pending})
	if err := r.a.Heartbeat(r.Context(), queue.Ref{ID: task}, 0); err == nil {
		r.Error("a lease of nothing: got no error")
	}
}

func heartbeatLate(r *rig) {
	task := r.add()
	r.claim()
	r.clock.Advance(2 * lease)
	r.works("Heartbeat", r.b.Heartbeat(r.Context(), queue.Ref{ID: task, Attempt: 1}, lease))
	r.sweep()
	r.is(task, queue.Claimed)
}

func heartbeatLost(r *rig) {
	task := r.add()
	beat := func(attempt int) error {
		return r.b.Heartbeat(r.Context(), queue.Ref{ID: task, Attempt: attempt}, lease)
	}
	r.fails("pending", beat(0), queue.ErrLost)
	r.claim()
	r.fails("an attempt that is to come", beat(2), queue.ErrLost)
	r.fails("an attempt that never comes", beat(math.MaxInt64), queue.ErrLost)
	r.requeue()
	r.fails("requeued", beat(1), queue.ErrLost)
	r.fails("requeued, without attempt", beat(0), queue.ErrLost)
	r.claim()
	r.fails("claimed again", beat(1), queue.ErrLost)
	r.works("the new claim", beat(2))
	r.works("whichever claim", beat(0))
	r.complete(queue.Ref{ID: task, Attempt: 2})
	r.fails("completed", beat(2), queue.ErrLost)
	r.works("MarkDone", r.a.MarkDone(r.Context(), r.one(task).Hold, nil))
	r.fails("done", beat(0), queue.ErrLost)
}

func heartbeatNot(r *rig) {
	r.fails("unknown", r.a.Heartbeat(r.Context(), queue.Ref{ID: id(99), By: "x"}, lease), queue.ErrNotFound)
	task := r.add()
	if _, err := r.a.ClaimNext(r.Context(), agent, queue.ClaimOptions{By: "one", Lease: lease}); err != nil {
		r.Fatalf("ClaimNext: %v", err)
	}
	until := r.look(task).Until
	r.clock.Advance(time.Second)
	r.fails("not yours", r.b.Heartbeat(r.Context(), queue.Ref{ID: task, By: "two"}, lease), queue.ErrNotYours)
	r.fails("not yours, with the attempt", r.b.Heartbeat(r.Context(), queue.Ref{ID: task, By: "two", Attempt: 1}, lease), queue.ErrNotYours)
	if got := r.look(task).Until; !got.Equal(until) {
		r.Errorf("the claim lasts until %s, want %s", got, until)
	}
	r.works("yours", r.b.Heartbeat(r.Context(), queue.Ref{ID: task, By: "one"}, lease))
}

func giveBackFree(r *rig) {
	task := r.add()
	limits := queue.Limits{Claims: 2}
	for i := range 5 {
		if c := r.claim(); c.Attempt != i+1 {
			r.Fatalf("got attempt %d, want %d", c.Attempt, i+1)
		}
		r.works("GiveBack", r.b.GiveBack(r.Context(), queue.Ref{ID: task, Attempt: (i + 1) * (i % 2)}, 0))
		r.exhaust(limits)
		if d := r.look(task); d.State != queue.Pending || d.Held || !d.Until.IsZero() || len(d.Log) != i+1 || d.Log[i].What != "given back" {
			r.Fatalf("got %+v", d)
		}
	}
	for range limits.Claims {
		r.claim()
		r.requeue()
	}
	r.exhaust(limits, task)
}

func giveBackWaits(r *rig) {
	task := r.add()
	r.claim()
	r.works("GiveBack", r.a.GiveBack(r.Context(), queue.Ref{ID: task, Attempt: 1}, time.Minute))
	if d := r.look(task); d.State != queue.Pending || !d.Held || !d.Ready.Equal(r.clock.Now().Add(time.Minute)) {
		r.Errorf("got %+v", d.Info)
	}
	r.nothing()
	r.clock.Advance(time.Minute - time.Millisecond)
	r.nothing()
	r.clock.Advance(time.Millisecond)
	if c := r.claim(); c.ID != task || c.Attempt != 2 {
		r.Errorf("got %+v", c)
	}
}

func giveBackNot(r *rig) {
	r.claimantOnly(func(ref queue.Ref) error { return r.b.GiveBack(r.Context(), ref, 0) })
}

func giveUpNot(r *rig) {
	r.claimantOnly(func(ref queue.Ref) error { return r.b.GiveUp(r.Context(), ref, "why") })
}

func giveUp(r *rig) {
	task := r.add()
	c := r.claim()
	r.works("GiveUp", r.b.GiveUp(r.Context(), queue.Ref{ID: task, Attempt: c.Attempt}, "no \x00 answer"))
	d := r.look(task)
	if d.State != queue.Failed || d.Reason != "no \ufffd answer" || !d.Ended.Equal(r.clock.Now()) || !d.Until.IsZero() {
		r.Errorf("got %+v", d.Info)
	}
	if n := len(d.Log); n != 1 || d.Log[0].What != "given up" || d.Log[0].Text != d.Reason {
		r.Errorf("got log %+v", d.Log)
	}
	r.nothing()
	r.clock.Advance(2 * lease)
	r.sweep()
	r.refuse(queue.Ref{ID: task, Attempt: c.Attempt}, nil)
	if state, err := r.a.Retry(r.Context(), task, "ada"); err != nil || state != queue.Pending {
		r.Fatalf("Retry: got %s, %v", state, err)
	}
	r.claims(task)
}

// claimantOnly has a verb refuse all but the one who has the claim.
func (r *rig) claimantOnly(give func(queue.Ref) error) {
	r.Helper()
	r.fails("unknown", give(queue.Ref{ID: id(99), By: "x"}), queue.ErrNotFound)
	r.fails("no text", give(queue.Ref{ID: "\x00"}), queue.ErrNotFound)
	task := r.add()
	r.fails("pending", give(queue.Ref{ID: task}), queue.ErrLost)
	if _, err := r.a.ClaimNext(r.Context(), agent, queue.ClaimOptions{By: "one", Lease: lease}); err != nil {
		r.Fatalf("ClaimNext: %v", err)
	}
	r.fails("not yours", give(queue.Ref{ID: task, By: "two", Attempt: 1}), queue.ErrNotYours)
	r.fails("another attempt", give(queue.Ref{ID: task, Attempt: 2}), queue.ErrLost)
	r.fails("an attempt that never comes", give(queue.Ref{ID: task, Attempt: math.MaxInt64}), queue.ErrLost)
	r.is(task, queue.Claimed)
	r.complete(queue.Ref{ID: task, By: "one"})
	r.fails("completed", give(queue.Ref{ID: task, By: "one", Attempt: 1}), queue.ErrLost)
}
