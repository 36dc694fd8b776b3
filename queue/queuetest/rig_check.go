package queuetest

import (
	"errors"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/org/foreman-action/queue"
)

// sweep calls RequeueStale, which must take hold of these tasks.
func (r *rig) sweep(want ...queue.Swept) {
	r.Helper()
	got, err := r.b.RequeueStale(r.Context(), queue.Limits{})
	r.same("RequeueStale", got, want, err)
}

// exhaust calls RequeueStale with limits, which must fail these tasks of the agent, and
// take hold of no others.
func (r *rig) exhaust(l queue.Limits, ids ...string) {
	r.Helper()
	var want []queue.Swept
	for _, id := range ids {
		want = append(want, queue.Swept{ID: id, Agent: agent, State: queue.Failed})
	}
	got, err := r.a.RequeueStale(r.Context(), l)
	r.same("RequeueStale", got, want, err)
}

// same compares lists without regard to order.
func (r *rig) same(what string, got, want []queue.Swept, err error) {
	r.Helper()
	count := map[queue.Swept]int{}
	for _, s := range got {
		count[s]++
	}
	for _, s := range want {
		count[s]--
	}
	for s, n := range count {
		if n != 0 || err != nil {
			r.Fatalf("%s: got %+v, %v, want %+v; %+v differs", what, got, err, want, s)
		}
	}
	if err != nil {
		r.Fatalf("%s: %v", what, err)
	}
}

// requeue lets the claims and leases run out, and requeues their tasks.
func (r *rig) requeue() {
	r.Helper()
	r.clock.Advance(lease + time.Second)
	if _, err := r.a.RequeueStale(r.Context(), queue.Limits{}); err != nil {
		r.Fatalf("RequeueStale: %v", err)
	}
}

// look inspects a task, through the other handle.
func (r *rig) look(id string) queue.Details {
	r.Helper()
	d, err := r.b.Inspect(r.Context(), id)
	if err != nil {
		r.Fatalf("Inspect of %s: %v", id, err)
	}
	return d
}

// is makes sure of the state of a task.
func (r *rig) is(id string, want queue.State) {
	r.Helper()
	if d := r.look(id); d.State != want {
		r.Fatalf("%s: got %s, want %s", id, d.State, want)
	}
}

// fails makes sure that a call returned an error.
func (r *rig) fails(what string, err, want error) {
	r.Helper()
	if !errors.Is(err, want) {
		r.Errorf("%s: got %v, want %v", what, err, want)
	}
}

// works makes sure that a call returned none.
func (r *rig) works(what string, err error) {
	r.Helper()
	if err != nil {
		r.Fatalf("%s: %v", what, err)
	}
}

// equal compares what came with what was expected; times by the instant.
func (r *rig) equal(what string, got, want any) {
	r.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		r.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// info compares what is known of a task.
func (r *rig) info(got, want queue.Info) {
	r.Helper()
	if !got.Held {
		got.Ready = time.Time{}
	}
	r.equal("Inspect", got, want)
}

// backlog returns what waits for agents.
func (r *rig) backlog(n int) []queue.Backlog {
	r.Helper()
	list, err := r.b.Backlog(r.Context(), n)
	r.works("Backlog", err)
	return list
}

// stats counts the tasks.
func (r *rig) stats() queue.Stats {
	r.Helper()
	s, err := r.b.Stats(r.Context())
	r.works("Stats", err)
	return s
}
