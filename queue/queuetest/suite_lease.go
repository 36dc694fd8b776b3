package queuetest

import (
	"errors"
	"time"

	"github.com/org/foreman-action/queue"
)

func leaseCases() []testCase {
	return []testCase{
		{"lease: comes back when it ran out", leaseExpires},
		{"lease: renewed", leaseRenewed},
		{"lease: one who paused is fenced off", leaseFenced},
		{"lease: late, but nobody else has it", leaseLate},
		{"lease: unknown", leaseUnknown},
	}
}

func leaseExpires(r *rig) {
	task := r.decided()
	r.one(task)
	r.clock.Advance(lease - time.Second)
	r.sweep()
	r.clock.Advance(2 * time.Second)
	r.sweep(queue.Swept{ID: task, Agent: agent, State: queue.Completed})
	if d := r.look(task); d.Draining || d.Tries != 1 || len(d.Log) == 0 {
		r.Errorf("got %+v, want one try, and a log", d)
	}
	if d := r.one(task); d.Epoch != 2 || d.Tries != 1 {
		r.Errorf("got %+v, want epoch 2", d)
	}
}

func leaseRenewed(r *rig) {
	task := r.decided()
	d := r.one(task)
	for range 3 {
		r.clock.Advance(lease - time.Second)
		until, err := r.b.Renew(r.Context(), d.Hold, lease)
		if err != nil || !until.Equal(r.clock.Now().Add(lease)) {
			r.Fatalf("Renew: got %s, %v", until, err)
		}
		r.sweep()
	}
	if _, err := r.b.Renew(r.Context(), d.Hold, 0); err == nil {
		r.Error("a lease of nothing: got no error")
	}
	r.works("MarkDone", r.a.MarkDone(r.Context(), d.Hold, nil))
	_, err := r.a.Renew(r.Context(), d.Hold, lease)
	r.fails("Renew of a done one", err, queue.ErrLost)
}

// leaseFenced lets a harness pause past its lease while another one carries out the
// decision.
func leaseFenced(r *rig) {
	task := r.decided()
	paused := r.one(task).Hold
	r.requeue()
	got, err := r.b.DrainCompleted(r.Context(), queue.DrainOptions{Owner: "other", Lease: lease, Limit: 1})
	if err != nil || len(got) != 1 || got[0].Epoch <= paused.Epoch {
		r.Fatalf("DrainCompleted: got %+v, %v, want a later epoch", got, err)
	}
	r.stale(paused)
	if d := r.look(task); !d.Draining || d.Owner != "other" || d.Report != nil {
		r.Errorf("got %+v, want it with the other", d)
	}
	r.works("MarkDone", r.b.MarkDone(r.Context(), got[0].Hold, []byte("other")))
	r.stale(paused)
	if d := r.look(task); d.State != queue.Done || string(d.Report) != "other" {
		r.Errorf("got %+v, want it done by the other", d)
	}
}

// stale makes sure that a lease is good for nothing.
func (r *rig) stale(h queue.Hold) {
	r.Helper()
	_, err := r.a.Renew(r.Context(), h, lease)
	for what, err := range map[string]error{
		"Renew":    err,
		"MarkDone": r.a.MarkDone(r.Context(), h, []byte("stale")),
		"Fail":     r.a.Fail(r.Context(), h, "stale", nil),
		"Release":  r.a.Release(r.Context(), h, queue.Postponement{}),
	} {
		if !errors.Is(err, queue.ErrLost) {
			r.Errorf("%s with a stale lease: got %v, want ErrLost", what, err)
		}
	}
}

func leaseLate(r *rig) {
	first, second := r.decided(), r.decided()
	leases := r.leases(first, second)
	r.clock.Advance(2 * lease)
	r.leases() // until they are swept
	r.works("MarkDone", r.b.MarkDone(r.Context(), leases[0].Hold, nil))
	_, err := r.b.Renew(r.Context(), leases[1].Hold, lease)
	r.works("Renew", err)
	r.sweep()
}

func leaseUnknown(r *rig) {
	r.stale(queue.Hold{ID: id(99), Epoch: 1})
	task := r.decided()
	r.stale(queue.Hold{ID: task})
	d := r.one(task)
	r.stale(queue.Hold{ID: task, Epoch: d.Epoch + 1})
	r.stale(queue.Hold{ID: task})
	r.requeue()
	r.stale(d.Hold) // it is free
}
