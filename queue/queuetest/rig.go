package queuetest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/org/foreman-action/queue"
)

// What the cases use where it does not matter.
const (
	agent = "http://a:9001/"
	lease = 5 * time.Minute
	repo  = "org/repo"
)

// rig is a store that a case is run on. Its methods end the case when what they do
// goes wrong.
type rig struct {
	testing.TB

	a, b  queue.Queue
	clock *Clock
	last  int // of the numbers of tasks
}

// id returns the id of the n-th task.
func id(n int) string { return fmt.Sprintf("5f0c7a52-3d0e-4b8e-9c41-%012d", n) }

// task returns the next task, on an issue of its own.
func (r *rig) task() queue.Task {
	r.last++
	return queue.Task{
		ID: id(r.last), Agent: agent, Repo: repo, Issue: r.last,
		Message: fmt.Appendf(nil, `{"task_id": %q}`, id(r.last)), Origin: []byte(`{"event": "issues"}`),
	}
}

// put enqueues tasks as they are.
func (r *rig) put(tasks ...queue.Task) {
	r.Helper()
	for _, t := range tasks {
		if got, err := r.a.Enqueue(r.Context(), t); err != nil || got.How != queue.Added || got.ID != t.ID {
			r.Fatalf("Enqueue of %s: got %+v, %v", t.ID, got, err)
		}
	}
}

// add enqueues a new task, and returns its id.
func (r *rig) add() string {
	r.Helper()
	t := r.task()
	r.put(t)
	return t.ID
}

// claim claims a task of the agent.
func (r *rig) claim() queue.Claim {
	r.Helper()
	c, err := r.a.ClaimNext(r.Context(), agent, queue.ClaimOptions{Lease: lease})
	if err != nil {
		r.Fatalf("ClaimNext: %v", err)
	}
	return c
}

// claims claims tasks, which must be these, in this order, and then no more.
func (r *rig) claims(ids ...string) {
	r.Helper()
	for i, want := range ids {
		if c := r.claim(); c.ID != want {
			r.Fatalf("ClaimNext, %d: got %s, want %s", i+1, c.ID, want)
		}
	}
	r.nothing()
}

// nothing makes sure that there is no task to claim.
func (r *rig) nothing() {
	r.Helper()
	for name, q := range map[string]queue.Queue{"A": r.a, "B": r.b} {
		if c, err := q.ClaimNext(r.Context(), agent, queue.ClaimOptions{Lease: lease}); !errors.Is(err, queue.ErrEmpty) {
			r.Fatalf("ClaimNext on %s: got %s, %v, want ErrEmpty", name, c.ID, err)
		}
	}
}

// complete completes a task, which is accepted.
func (r *rig) complete(ref queue.Ref) {
	r.Helper()
	if got, err := r.a.Complete(r.Context(), ref, []byte(`{"task_id": "x"}`)); err != nil || !got.Accepted || got.Reason != "" {
		r.Fatalf("Complete of %+v: got %+v, %v", ref, got, err)
	}
}

// refuse completes a task, which is not accepted.
func (r *rig) refuse(ref queue.Ref, want error) {
	r.Helper()
	got, err := r.a.Complete(r.Context(), ref, []byte(`{"late": true}`))
	if !errors.Is(err, want) || got.Accepted || err == nil && got.Reason == "" {
		r.Fatalf("Complete of %+v: got %+v, %v, want a reason and %v", ref, got, err, want)
	}
}

// decided adds a task and completes it, and returns its id.
func (r *rig) decided() string {
	r.Helper()
	t := r.task()
	r.put(t)
	r.complete(queue.Ref{ID: t.ID})
	return t.ID
}

// lease leases decisions.
func (r *rig) lease(limit int) []queue.Decision {
	r.Helper()
	list, err := r.a.DrainCompleted(r.Context(), queue.DrainOptions{Owner: "harness", Lease: lease, Limit: limit})
	if err != nil {
		r.Fatalf("DrainCompleted: %v", err)
	}
	return list
}

// leases leases all decisions, which must be these, in this order.
func (r *rig) leases(ids ...string) []queue.Decision {
	r.Helper()
	list := r.lease(len(ids) + 10)
	got := []string{}
	for _, d := range list {
		got = append(got, d.ID)
	}
	if fmt.Sprint(got) != fmt.Sprint(ids) {
		r.Fatalf("DrainCompleted: got %v, want %v", got, ids)
	}
	return list
}

// one leases the only decision.
func (r *rig) one(id string) queue.Decision {
	r.Helper()
	return r.leases(id)[0]
}
