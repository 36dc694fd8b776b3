package queuetest

import (
	"time"

	"github.com/org/foreman-action/queue"
)

func purgeCases() []testCase {
	return []testCase{
		{"purge: what ended before", purge},
		{"purge: frees ids and dedup keys", purgeFrees},
	}
}

func purge(r *rig) {
	var done []string
	for range 5 {
		task := r.decided()
		r.works("MarkDone", r.a.MarkDone(r.Context(), r.one(task).Hold, []byte("{}")))
		r.refuse(queue.Ref{ID: task}, nil) // makes a log
		done = append(done, task)
		r.clock.Advance(time.Minute)
	}
	failed := r.add()
	r.works("Cancel", r.a.Cancel(r.Context(), failed, "person"))
	pending, decided := r.add(), r.decided()
	before := r.clock.Now().Add(-2 * time.Minute)
	for _, want := range []int{2, 1, 0} {
		if n, err := r.b.Purge(r.Context(), before, 2); err != nil || n != want {
			r.Errorf("Purge: got %d, %v, want %d", n, err, want)
		}
	}
	r.listed("what is left", queue.Filter{}, []string{decided, pending, failed, done[4], done[3]})
	if n, err := r.b.Purge(r.Context(), r.clock.Now().Add(time.Hour), 100); err != nil || n != 3 {
		r.Errorf("Purge: got %d, %v, want 3", n, err)
	}
	r.listed("what is left", queue.Filter{}, []string{decided, pending})
	_, err := r.a.Inspect(r.Context(), failed)
	r.fails("Inspect", err, queue.ErrNotFound)
	r.claims(pending)
	if d := r.one(decided); string(d.Result) != `{"task_id": "x"}` {
		r.Errorf("got %+v", d)
	}
}

func purgeFrees(r *rig) {
	t := r.task()
	t.Dedup = "delivery"
	r.put(t)
	seq := r.look(t.ID).Seq
	r.refuse2(t.ID)
	r.works("Cancel", r.a.Cancel(r.Context(), t.ID, "person"))
	if n, err := r.b.Purge(r.Context(), r.clock.Now().Add(time.Second), 1); err != nil || n != 1 {
		r.Fatalf("Purge: got %d, %v", n, err)
	}
	r.put(t)
	d := r.look(t.ID)
	if d.Seq <= seq || len(d.Log) != 0 || d.Attempt != 0 {
		r.Errorf("got %+v, want a new one", d)
	}
}

// refuse2 makes a line in the log of a task that nobody claimed.
func (r *rig) refuse2(id string) {
	r.Helper()
	r.refuse(queue.Ref{ID: id, By: "nobody"}, queue.ErrNotYours)
}

func watchCases() []testCase {
	return []testCase{
		{"watch: what becomes ready", watch},
		{"watch: one who does not look", watchFull},
		{"watch: stop", watchStop},
	}
}

// expect waits for a change.
func (r *rig) expect(what string, changes <-chan queue.Change, want queue.Change) {
	r.Helper()
	patience := time.NewTimer(2 * time.Minute)
	defer patience.Stop()
	for {
		select {
		case got := <-changes:
			if got == want {
				return
			}
		case <-patience.C:
			r.Fatalf("%s: no change %+v was told of", what, want)
		}
	}
}

func watch(r *rig) {
	changes, stop := r.a.Watch()
	defer stop()
	task := r.add()
	r.expect("Enqueue", changes, queue.Change{Agent: agent})
	r.claim()
	r.clock.Advance(lease + time.Second)
	_, err := r.a.RequeueStale(r.Context(), queue.Limits{})
	r.works("RequeueStale", err)
	r.expect("RequeueStale", changes, queue.Change{Agent: agent})
	r.complete(queue.Ref{ID: task})
	r.expect("Complete", changes, queue.Change{})
	r.works("Release", r.a.Release(r.Context(), r.one(task).Hold, queue.Postponement{}))
	r.expect("Release", changes, queue.Change{})
	r.works("Fail", r.a.Fail(r.Context(), r.one(task).Hold, "why", nil))
	_, err = r.a.Retry(r.Context(), task, "person")
	r.works("Retry", err)
	r.expect("Retry", changes, queue.Change{})
	next := r.task() // waits for the first one's end
	next.Issue, next.Agent = 1, ""
	d := r.one(task)
	r.put(next)
	r.expect("Enqueue", changes, queue.Change{})
	r.works("MarkDone", r.a.MarkDone(r.Context(), d.Hold, nil))
	r.expect("MarkDone", changes, queue.Change{})
}

// watchFull lets hints pile up: nobody may have to wait for them.
func watchFull(r *rig) {
	_, stop := r.a.Watch()
	defer stop()
	for range 300 {
		r.add()
	}
}

func watchStop(r *rig) {
	changes, stop := r.a.Watch()
	other, stopOther := r.a.Watch()
	defer stopOther()
	stop()
	stop()
	r.add()
	for range changes {
		r.Error("a change after stop")
	}
	r.expect("the other one", other, queue.Change{Agent: agent})
}
