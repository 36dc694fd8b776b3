package queuetest

import (
	"time"

	"github.com/org/foreman-action/queue"
)

func claimCases() []testCase {
	return []testCase{
		{"claim: what it tells", claimTells},
		{"claim: once", claimOnce},
		{"claim: the oldest first", claimOldest},
		{"claim: the highest priority first", claimPriority},
		{"claim: agents byte for byte", claimAgents},
		{"claim: a lease of nothing", claimLease},
		{"claim: whatever the clock does", claimClock},
		{"claim: a requeued task keeps its place", claimRequeued},
		{"claim: undecodable messages are failed and passed over", quarantine},
	}
}

func claimTells(r *rig) {
	t := r.task()
	r.put(t)
	enqueued := r.clock.Now()
	r.clock.Advance(time.Minute)
	now := r.clock.Now()
	got, err := r.b.ClaimNext(r.Context(), agent, queue.ClaimOptions{By: "bot", Lease: lease})
	r.works("ClaimNext", err)
	r.equal("ClaimNext", got, queue.Claim{
		ID: t.ID, Message: t.Message, Origin: t.Origin, Attempt: 1, Until: now.Add(lease), Enqueued: enqueued,
	})
	d := r.look(t.ID)
	r.info(d.Info, queue.Info{
		Seq: d.Seq, ID: t.ID, Agent: agent, Repo: repo, Issue: 1, State: queue.Claimed, Owner: "bot",
		Attempt: 1, Enqueued: enqueued, Claimed: now, Until: now.Add(lease),
	})
	r.requeue()
	if c := r.claim(); c.Attempt != 2 || c.ID != t.ID {
		r.Errorf("got %+v, want attempt 2", c)
	}
}

func claimOnce(r *rig) {
	r.nothing()
	r.claims(r.add())
}

func claimOldest(r *rig) {
	var want []string
	for range 20 {
		want = append(want, r.add())
		r.clock.Advance(time.Second)
	}
	r.claims(want...)
}

func claimPriority(r *rig) {
	var tasks []queue.Task
	for _, p := range []int{0, -5, 1000, 0, 7, -1000, 7} {
		t := r.task()
		t.Priority = p
		tasks = append(tasks, t)
	}
	r.put(tasks...)
	r.claims(id(3), id(5), id(7), id(1), id(4), id(2), id(6))
}

func claimAgents(r *rig) {
	t := r.task()
	t.Agent = "http://A:9001/"
	r.put(t)
	r.nothing()
	if c, err := r.b.ClaimNext(r.Context(), t.Agent, queue.ClaimOptions{Lease: lease}); err != nil || c.ID != t.ID {
		r.Errorf("got %+v, %v, want %s", c, err, t.ID)
	}
}

func claimLease(r *rig) {
	task := r.add()
	if _, err := r.a.ClaimNext(r.Context(), agent, queue.ClaimOptions{}); err == nil {
		r.Error("got no error")
	}
	r.claims(task)
}

// claimClock moves the clock back and forth: what is not held back is not held back by
// that, and keeps its order.
func claimClock(r *rig) {
	first := r.add()
	r.clock.Advance(-24 * time.Hour)
	second := r.add()
	decided := r.decided()
	r.clock.Advance(-24 * time.Hour)
	if n := r.backlog(0)[0].Pending; n != 2 {
		r.Errorf("Backlog: got %d, want 2", n)
	}
	r.sweep()
	r.claims(first, second)
	d := r.one(decided)
	r.clock.Advance(-24 * time.Hour)
	r.sweep()
	r.works("Heartbeat", r.a.Heartbeat(r.Context(), queue.Ref{ID: first, Attempt: 1}, lease))
	r.works("MarkDone", r.a.MarkDone(r.Context(), d.Hold, nil))
	r.complete(queue.Ref{ID: second, Attempt: 1})
	r.clock.Advance(lease + time.Second)
	r.sweep(queue.Swept{ID: first, Agent: agent, State: queue.Pending})
}

func claimRequeued(r *rig) {
	first, second := r.add(), r.add()
	r.claim()
	r.requeue()
	r.claims(first, second)
}

func quarantine(r *rig) {
	var bad []string
	for _, m := range []string{"", "{", "[]", "\x00", "null", "{}{}", "\xff"} {
		t := r.task()
		t.Message, t.Priority = []byte(m), 1
		r.put(t)
		bad = append(bad, t.ID)
	}
	good := r.add()
	r.claims(good)
	for _, id := range bad {
		d := r.look(id)
		if d.State != queue.Failed || d.Reason == "" || d.Ended.IsZero() {
			r.Errorf("message %q: got %+v, want failed with a reason", d.Message, d.Info)
		}
	}
	r.complete(queue.Ref{ID: good})
	r.leases(good)
}
