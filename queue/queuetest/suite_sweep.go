package queuetest

import (
	"time"

	"github.com/org/foreman-action/queue"
)

func sweepCases() []testCase {
	return []testCase{
		{"requeue: claims that ran out", requeueStale},
		{"requeue: once, by whichever process", requeueOnce},
		{"exhausted: claims", exhaustedClaims},
		{"exhausted: claims, before a requeue", exhaustedAtOnce},
		{"exhausted: tries", exhaustedDrains},
		{"exhausted: a lease that ran out", exhaustedLease},
		{"exhausted: others are left alone", exhaustedNot},
		{"grace: claims are made longer", grace},
	}
}

func requeueStale(r *rig) {
	t := r.task()
	r.put(t)
	if _, err := r.a.ClaimNext(r.Context(), agent, queue.ClaimOptions{By: "bot", Lease: lease}); err != nil {
		r.Fatalf("ClaimNext: %v", err)
	}
	fresh, pending, decided := r.add(), r.task(), r.decided()
	r.clock.Advance(lease - time.Second)
	r.sweep()
	r.claim()
	pending.Agent = "http://b/"
	r.put(pending)
	r.clock.Advance(2 * time.Second)
	r.sweep(queue.Swept{ID: t.ID, Agent: agent, State: queue.Pending})
	d := r.look(t.ID)
	if d.State != queue.Pending || !d.Until.IsZero() || d.Attempt != 1 || d.Held || len(d.Log) == 0 {
		r.Errorf("got %+v, want pending, after one claim, and a log", d)
	}
	r.is(fresh, queue.Claimed)
	r.is(pending.ID, queue.Pending)
	r.is(decided, queue.Completed)
	r.claims(t.ID)
}

func requeueOnce(r *rig) {
	task := r.add()
	r.claim()
	r.clock.Advance(lease + time.Second)
	r.sweep(queue.Swept{ID: task, Agent: agent, State: queue.Pending})
	r.sweep()
	if got, err := r.a.RequeueStale(r.Context(), queue.Limits{}); err != nil || len(got) != 0 {
		r.Errorf("got %+v, %v, want none", got, err)
	}
}

func exhaustedClaims(r *rig) {
	task, limits := r.add(), queue.Limits{Claims: 3}
	for range 3 {
		r.exhaust(limits)
		r.claims(task)
		r.exhaust(limits) // it has its time
		r.requeue()
	}
	r.exhaust(queue.Limits{})
	r.exhaust(queue.Limits{Claims: 4, Drains: 1})
	r.exhaust(limits, task)
	d := r.look(task)
	if d.State != queue.Failed || d.Reason == "" || !d.Ended.Equal(r.clock.Now()) || d.Attempt != 3 {
		r.Errorf("got %+v, want failed, after three claims", d.Info)
	}
	r.exhaust(limits)
	r.nothing()
}

func exhaustedAtOnce(r *rig) {
	task := r.add()
	r.claim()
	r.clock.Advance(lease + time.Second)
	r.exhaust(queue.Limits{Claims: 1}, task) // it was never pending meanwhile
	r.sweep()
	r.fails("Heartbeat", r.a.Heartbeat(r.Context(), queue.Ref{ID: task, Attempt: 1}, lease), queue.ErrLost)
	r.refuse(queue.Ref{ID: task, Attempt: 1}, nil)
}

func exhaustedDrains(r *rig) {
	task, limits := r.decided(), queue.Limits{Drains: 2}
	for range 2 {
		r.exhaust(limits)
		d := r.one(task)
		r.exhaust(limits)
		r.works("Release", r.a.Release(r.Context(), d.Hold, queue.Postponement{Wait: time.Minute, Reason: "GitHub is away"}))
		if d.Tries == 0 {
			r.clock.Advance(time.Minute + time.Second)
		}
	}
	r.exhaust(queue.Limits{Drains: 3, Claims: 1})
	r.exhaust(limits, task) // while it is held back, too
	d := r.look(task)
	if d.State != queue.Failed || d.Reason == "" || string(d.Result) != `{"task_id": "x"}` {
		r.Errorf("got %+v, want failed, with a reason and its decision", d)
	}
	r.clock.Advance(time.Hour)
	r.leases()
}

func exhaustedLease(r *rig) {
	task := r.decided()
	d := r.one(task)
	r.clock.Advance(lease + time.Second)
	r.exhaust(queue.Limits{Drains: 1}, task)
	r.stale(d.Hold)
	r.sweep()
}

func exhaustedNot(r *rig) {
	fresh, claimed := r.add(), r.task()
	r.claim()
	claimed.Agent = "http://b/"
	r.put(claimed)
	decided := r.decided()
	done := r.decided()
	for _, d := range r.leases(decided, done) {
		if d.ID == done {
			r.works("MarkDone", r.a.MarkDone(r.Context(), d.Hold, nil))
		}
	}
	r.exhaust(queue.Limits{Claims: 1, Drains: 1})
	r.is(fresh, queue.Claimed)
	r.is(claimed.ID, queue.Pending)
	r.is(decided, queue.Completed)
	r.is(done, queue.Done)
}

func grace(r *rig) {
	short, long := r.add(), r.add()
	r.claim()
	if _, err := r.a.ClaimNext(r.Context(), agent, queue.ClaimOptions{Lease: time.Hour}); err != nil {
		r.Fatalf("ClaimNext: %v", err)
	}
	d := r.one(r.decided())
	r.clock.Advance(lease + time.Second) // the harness was down
	until := r.look(long).Until
	n, err := r.b.Grace(r.Context(), lease)
	if err != nil || n != 1 {
		r.Errorf("got %d, %v, want 1", n, err)
	}
	if got := r.look(short).Until; !got.Equal(r.clock.Now().Add(lease)) {
		r.Errorf("the short one lasts until %s", got)
	}
	if got := r.look(long).Until; !got.Equal(until) {
		r.Errorf("the long one lasts until %s, want %s", got, until)
	}
	if n, err := r.b.Grace(r.Context(), lease); err != nil || n != 0 {
		r.Errorf("again: got %d, %v, want 0", n, err)
	}
	r.sweep(queue.Swept{ID: d.ID, Agent: agent, State: queue.Completed}) // leases get none
}
