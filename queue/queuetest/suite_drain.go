package queuetest

import (
	"bytes"
	"time"

	"github.com/org/foreman-action/queue"
)

func drainCases() []testCase {
	return []testCase{
		{"drain: what it tells", drainTells},
		{"drain: one of an issue", drainLane},
		{"drain: the oldest first, up to a limit", drainLimit},
		{"drain: a busy issue holds no other", drainOthers},
		{"drain: options", drainOptions},
		{"drain: done", drainDone},
		{"drain: failed", drainFailed},
		{"drain: given back", drainRelease},
		{"drain: given back for free", drainFree},
		{"drain: one that is held back holds no other", drainHeld},
	}
}

func drainTells(r *rig) {
	t := r.task()
	r.put(t)
	enqueued := r.clock.Now()
	r.claim()
	r.clock.Advance(time.Minute)
	completed := r.clock.Now()
	r.complete(queue.Ref{ID: t.ID})
	r.clock.Advance(time.Minute)
	d := r.one(t.ID)
	r.equal("DrainCompleted", d, queue.Decision{
		Hold: queue.Hold{ID: t.ID, Epoch: 1}, Until: r.clock.Now().Add(lease), Agent: agent, Repo: repo, Issue: 1,
		Message: t.Message, Origin: t.Origin, Result: []byte(`{"task_id": "x"}`), Enqueued: enqueued, Completed: completed,
	})
	info := r.look(t.ID).Info
	if info.State != queue.Completed || !info.Draining || info.Owner != "harness" || !info.Until.Equal(d.Until) || info.Tries != 0 {
		r.Errorf("got %+v", info)
	}
	r.leases()
}

func drainLane(r *rig) {
	var ids []string
	for _, repo := range []string{"org/repo", "ORG/Repo", "org/repo", "org/other"} {
		t := r.task()
		t.Repo, t.Issue = repo, 7
		r.put(t)
		r.complete(queue.Ref{ID: t.ID})
		ids = append(ids, t.ID)
	}
	leases := r.leases(ids[0], ids[3])
	got, err := r.b.DrainCompleted(r.Context(), queue.DrainOptions{Lease: lease, Limit: 9})
	if err != nil || len(got) != 0 {
		r.Errorf("the other handle: got %+v, %v, want none", got, err)
	}
	r.works("MarkDone", r.b.MarkDone(r.Context(), leases[0].Hold, nil))
	second := r.one(ids[1])
	r.works("Fail", r.b.Fail(r.Context(), second.Hold, "why", nil))
	r.one(ids[2])
}

func drainLimit(r *rig) {
	var ids []string
	for range 5 {
		t := r.task()
		t.Issue = 0 // about none: all go at once
		r.put(t)
		ids = append(ids, t.ID)
	}
	for _, i := range []int{4, 2, 0, 1, 3} {
		r.complete(queue.Ref{ID: ids[i]})
		r.clock.Advance(time.Second)
	}
	first := r.lease(2)
	if len(first) != 2 || first[0].ID != ids[0] || first[1].ID != ids[1] {
		r.Errorf("got %+v, want the first two", first)
	}
	r.leases(ids[2:]...)
}

func drainOthers(r *rig) {
	first := r.task()
	r.put(first)
	r.complete(queue.Ref{ID: first.ID})
	r.one(first.ID)
	for range 60 {
		t := r.task()
		t.Issue = first.Issue
		r.put(t)
		r.complete(queue.Ref{ID: t.ID})
	}
	other := r.decided()
	if got := r.lease(1); len(got) != 1 || got[0].ID != other {
		r.Errorf("got %+v, want %s", got, other)
	}
}

func drainOptions(r *rig) {
	task := r.decided()
	for _, o := range []queue.DrainOptions{{Lease: lease}, {Limit: 1}, {Lease: -1, Limit: 1}} {
		if got, err := r.a.DrainCompleted(r.Context(), o); err == nil {
			r.Errorf("%+v: got %+v", o, got)
		}
	}
	r.leases(task)
}

func drainDone(r *rig) {
	task := r.decided()
	d := r.one(task)
	r.clock.Advance(time.Second)
	r.works("MarkDone", r.b.MarkDone(r.Context(), d.Hold, []byte("report")))
	got := r.look(task)
	if got.State != queue.Done || string(got.Report) != "report" || !got.Ended.Equal(r.clock.Now()) || got.Draining || !got.Until.IsZero() || got.Tries != 0 {
		r.Errorf("got %+v", got)
	}
	r.fails("again", r.a.MarkDone(r.Context(), d.Hold, nil), queue.ErrLost)
	r.fails("Fail", r.a.Fail(r.Context(), d.Hold, "", nil), queue.ErrLost)
	r.fails("Release", r.a.Release(r.Context(), d.Hold, queue.Postponement{}), queue.ErrLost)
	r.leases()
	r.nothing()
	r.requeue()
	r.is(task, queue.Done)
}

func drainFailed(r *rig) {
	task := r.decided()
	d := r.one(task)
	r.clock.Advance(time.Second)
	r.works("Fail", r.b.Fail(r.Context(), d.Hold, "GitHub said no", []byte("report")))
	got := r.look(task)
	if got.State != queue.Failed || got.Reason != "GitHub said no" || string(got.Report) != "report" || !got.Ended.Equal(r.clock.Now()) || got.Draining {
		r.Errorf("got %+v", got)
	}
	r.fails("MarkDone", r.a.MarkDone(r.Context(), d.Hold, nil), queue.ErrLost)
	r.leases()
}

func drainRelease(r *rig) {
	task := r.decided()
	d := r.one(task)
	r.works("Release", r.b.Release(r.Context(), d.Hold, queue.Postponement{Wait: time.Minute, Reason: "GitHub is away"}))
	info := r.look(task).Info
	if info.State != queue.Completed || !info.Held || !info.Ready.Equal(r.clock.Now().Add(time.Minute)) || info.Reason != "GitHub is away" || info.Tries != 1 || info.Draining {
		r.Errorf("got %+v, want one that is held back", info)
	}
	r.fails("MarkDone", r.a.MarkDone(r.Context(), d.Hold, nil), queue.ErrLost)
	r.clock.Advance(59 * time.Second)
	r.leases()
	r.clock.Advance(2 * time.Second)
	again := r.one(task)
	if again.Tries != 1 || again.Epoch != 2 || !bytes.Equal(again.Result, d.Result) {
		r.Errorf("got %+v, want one try and epoch 2", again)
	}
	r.works("Release", r.b.Release(r.Context(), again.Hold, queue.Postponement{}))
	if third := r.one(task); third.Tries != 2 {
		r.Errorf("got %+v, want two tries, at once", third)
	}
}

func drainFree(r *rig) {
	task := r.decided()
	r.works("Release", r.a.Release(r.Context(), r.one(task).Hold, queue.Postponement{}))
	for range 3 {
		d := r.one(task)
		if d.Tries != 1 {
			r.Errorf("got %d tries, want 1", d.Tries)
		}
		r.works("Release", r.b.Release(r.Context(), d.Hold, queue.Postponement{Wait: time.Second, Free: true}))
		if info := r.look(task).Info; info.Tries != 1 || !info.Held {
			r.Errorf("got %+v, want one try, and held back", info)
		}
		r.clock.Advance(2 * time.Second)
	}
	r.exhaust(queue.Limits{Drains: 2})
	r.exhaust(queue.Limits{Drains: 1}, task)
}

func drainHeld(r *rig) {
	first, second := r.task(), r.task()
	second.Issue = first.Issue
	r.put(first, second)
	r.complete(queue.Ref{ID: first.ID})
	r.complete(queue.Ref{ID: second.ID})
	r.works("Release", r.a.Release(r.Context(), r.one(first.ID).Hold, queue.Postponement{Wait: time.Minute}))
	d := r.one(second.ID)
	r.clock.Advance(time.Minute + time.Second)
	r.leases()
	r.works("MarkDone", r.a.MarkDone(r.Context(), d.Hold, nil))
	r.leases(first.ID)
}
