package queuetest

import (
	"time"

	"github.com/org/foreman-action/queue"
)

func peopleCases() []testCase {
	return []testCase{
		{"retry: without a decision", retryPending},
		{"retry: with a decision", retryCompleted},
		{"retry: nobody to ask", retryNobody},
		{"retry: held back", retryHeld},
		{"retry: other states", retryNot},
		{"retry: does not bring a lost claim back", retryFences},
		{"cancel: every state", cancelStates},
		{"cancel: not while it is carried out", cancelNot},
	}
}

// retry takes a task up again.
func (r *rig) retry(id string, want queue.State) {
	r.Helper()
	if got, err := r.b.Retry(r.Context(), id, "person"); err != nil || got != want {
		r.Fatalf("Retry: got %s, %v, want %s", got, err, want)
	}
	d := r.look(id)
	if d.State != want || d.Held || !d.Ended.IsZero() || len(d.Log) == 0 || d.Log[len(d.Log)-1].Who != "person" {
		r.Errorf("got %+v, want %s, and who did it in the log", d, want)
	}
}

func retryPending(r *rig) {
	task, limits := r.add(), queue.Limits{Claims: 1}
	r.claim()
	r.requeue()
	r.exhaust(limits, task)
	r.retry(task, queue.Pending)
	r.exhaust(limits) // it counts from anew
	if c := r.claim(); c.ID != task || c.Attempt != 2 {
		r.Errorf("got %+v, want attempt 2", c)
	}
	r.requeue()
	r.exhaust(limits, task)
}

func retryCompleted(r *rig) {
	task, limits := r.decided(), queue.Limits{Drains: 1}
	first := r.one(task)
	r.works("Release", r.a.Release(r.Context(), first.Hold, queue.Postponement{Wait: time.Hour, Reason: "away"}))
	r.exhaust(limits, task)
	r.retry(task, queue.Completed)
	r.exhaust(limits)
	d := r.one(task)
	if string(d.Result) != `{"task_id": "x"}` || d.Tries != 0 || d.Epoch != 2 {
		r.Errorf("got %+v, want epoch 2, no tries, and the decision", d)
	}
	r.stale(first.Hold)
	r.works("MarkDone", r.a.MarkDone(r.Context(), d.Hold, nil))
}

func retryNobody(r *rig) {
	t := r.task()
	t.Agent = ""
	r.put(t)
	r.works("Fail", r.a.Fail(r.Context(), r.one(t.ID).Hold, "why", []byte("report")))
	r.retry(t.ID, queue.Completed)
	if d := r.one(t.ID); d.Result != nil {
		r.Errorf("got %+v, want no result", d)
	}
}

func retryHeld(r *rig) {
	t := r.task()
	t.Wait = time.Hour
	r.put(t)
	r.retry(t.ID, queue.Pending)
	r.claims(t.ID)
	task := r.decided()
	r.works("Release", r.a.Release(r.Context(), r.one(task).Hold, queue.Postponement{Wait: time.Hour}))
	r.retry(task, queue.Completed)
	r.leases(task)
}

func retryNot(r *rig) {
	_, err := r.a.Retry(r.Context(), id(99), "person")
	r.fails("unknown", err, queue.ErrNotFound)
	task := r.add()
	not := func(what string) {
		_, err := r.a.Retry(r.Context(), task, "person")
		r.fails(what, err, queue.ErrState)
	}
	not("pending")
	r.claim()
	not("claimed")
	r.complete(queue.Ref{ID: task})
	not("completed")
	d := r.one(task)
	not("being carried out")
	r.works("MarkDone", r.a.MarkDone(r.Context(), d.Hold, nil))
	not("done")
	r.is(task, queue.Done)
}

func retryFences(r *rig) {
	task := r.add()
	r.claim()
	r.works("Cancel", r.b.Cancel(r.Context(), task, "person"))
	r.retry(task, queue.Pending)
	r.claim()
	r.fails("Heartbeat", r.a.Heartbeat(r.Context(), queue.Ref{ID: task, Attempt: 1}, lease), queue.ErrLost)
	r.refuse(queue.Ref{ID: task, Attempt: 1}, queue.ErrLost)
	r.complete(queue.Ref{ID: task, Attempt: 2})
}

func cancelStates(r *rig) {
	r.fails("unknown", r.a.Cancel(r.Context(), id(99), "person"), queue.ErrNotFound)
	claimed := r.add()
	r.claim()
	pending, decided := r.add(), r.decided()
	held := r.task()
	held.Wait = time.Hour
	r.put(held)
	for _, id := range []string{claimed, pending, decided, held.ID} {
		r.works("Cancel", r.b.Cancel(r.Context(), id, "person"))
		d := r.look(id)
		if d.State != queue.Failed || d.Reason == "" || d.Held || !d.Ended.Equal(r.clock.Now()) || len(d.Log) == 0 || d.Log[len(d.Log)-1].Who != "person" {
			r.Errorf("got %+v, want failed, and who did it in the log", d)
		}
		r.fails("Cancel again", r.a.Cancel(r.Context(), id, "person"), queue.ErrState)
	}
	r.fails("Heartbeat", r.a.Heartbeat(r.Context(), queue.Ref{ID: claimed}, lease), queue.ErrLost)
	r.refuse(queue.Ref{ID: claimed, Attempt: 1}, nil)
	r.requeue()
	r.nothing()
	r.leases()
}

func cancelNot(r *rig) {
	task := r.decided()
	d := r.one(task)
	r.fails("being carried out", r.b.Cancel(r.Context(), task, "person"), queue.ErrState)
	r.works("MarkDone", r.a.MarkDone(r.Context(), d.Hold, nil))
	r.fails("done", r.b.Cancel(r.Context(), task, "person"), queue.ErrState)
	r.is(task, queue.Done)
}
