package queuetest

import (
	"time"

	"github.com/org/foreman-action/queue"
)

func behindCases() []testCase {
	return []testCase{
		{"behind: wherever the one ahead is", behindStates},
		{"behind: however the one ahead ends", behindEnds},
		{"behind: further ones join", behindJoin},
		{"behind: several, one after the other", behindOrder},
		{"behind: several ahead", behindMany},
		{"behind: not", behindNot},
		{"behind: counts", behindCounts},
		{"behind: for long", behindLong},
		{"behind: and held back until a time", behindHeld},
		{"behind: it ends itself", behindEnded},
		{"behind: retry", behindRetry},
		{"behind: retry of the one ahead", behindRetryAhead},
		{"behind: of a task with a limit", behindSlots},
		{"parallel: behind one that ends", parallelBehind},
		{"parallel: behind two that end", parallelBehindTwo},
		{"parallel: one of an issue in flight", parallelOneInFlight},
	}
}

// refuse refuses to be joined.
func refuse(_, _ queue.Told) (queue.Told, bool) { return queue.Told{}, false }

// follower returns a task that coalesces with another one of the issue, if it can.
func (r *rig) follower(issue int) queue.Task {
	t := r.task()
	t.Issue, t.Coalesce = issue, true
	return t
}

// waits enqueues a task, which must be held back behind another one.
func (r *rig) waits(t queue.Task, ahead string) {
	r.Helper()
	got, err := r.b.Enqueue(r.Context(), t)
	if want := (queue.Enqueued{How: queue.Added, ID: t.ID, Behind: ahead}); err != nil || got != want {
		r.Fatalf("Enqueue: got %+v, %v, want %+v", got, err, want)
	}
	r.behind(t.ID, ahead)
}

// behind makes sure that a task is held back behind another one.
func (r *rig) behind(id, ahead string) {
	r.Helper()
	d := r.look(id)
	if d.State != queue.Pending || !d.Held || d.Behind != ahead || d.Reason != "waits for task "+ahead+" of the same issue" || !d.Ready.IsZero() {
		r.Fatalf("got %+v, want one that is held back behind %s", d.Info, ahead)
	}
}

// gone makes sure that a task is held back no more, and claims it.
func (r *rig) gone(id string) {
	r.Helper()
	if d := r.look(id); d.State != queue.Pending || d.Held || d.Behind != "" || d.Reason != "" {
		r.Fatalf("got %+v, want one that is held back no more", d.Info)
	}
	c := r.claim()
	if c.ID != id || !c.Waited {
		r.Fatalf("got %+v, want %s, and that it waited", c, id)
	}
}

// behindStates leads a task through all that may become of it before it ends.
func behindStates(r *rig) {
	first := r.task()
	r.put(first)
	next := 1000
	blocked := func(what string) {
		r.Helper()
		t := first // one of its own for each state, or it would be joined
		t.ID, t.Coalesce, t.Join = id(next), true, refuse
		next++
		got, err := r.b.Enqueue(r.Context(), t)
		if err != nil || got != (queue.Enqueued{How: queue.Added, ID: t.ID, Behind: first.ID}) {
			r.Fatalf("%s: got %+v, %v, want it behind %s", what, got, err, first.ID)
		}
	}
	blocked("pending")
	if c := r.claim(); c.ID != first.ID || c.Waited {
		r.Fatalf("got %+v, want %s", c, first.ID)
	}
	blocked("claimed")
	r.nothing()
	r.works("GiveBack", r.a.GiveBack(r.Context(), queue.Ref{ID: first.ID}, time.Minute))
	blocked("given back")
	r.nothing()
	r.clock.Advance(time.Minute + time.Second)
	r.claims(first.ID)
	r.requeue()
	blocked("requeued")
	r.claims(first.ID)
	r.complete(queue.Ref{ID: first.ID})
	blocked("completed")
	r.nothing()
	d := r.one(first.ID)
	blocked("being carried out")
	r.nothing()
	r.works("Release", r.a.Release(r.Context(), d.Hold, queue.Postponement{Wait: time.Minute}))
	blocked("a decision that is held back")
	r.nothing()
	r.clock.Advance(time.Minute + time.Second)
	r.one(first.ID)
	r.clock.Advance(lease + time.Second)
	r.sweep(queue.Swept{ID: first.ID, Agent: agent, State: queue.Completed})
	r.nothing()
	d = r.one(first.ID)
	r.works("MarkDone", r.a.MarkDone(r.Context(), d.Hold, nil))
	for n := 1000; n < next; n++ {
		r.gone(id(n))
		r.nothing()
		r.works("Cancel", r.a.Cancel(r.Context(), id(n), "person"))
	}
}

func behindEnds(r *rig) {
	changes, stop := r.b.Watch()
	defer stop()
	ends := map[string]func(id string){
		"MarkDone": func(id string) {
			r.complete(queue.Ref{ID: id})
			r.works("MarkDone", r.b.MarkDone(r.Context(), r.one(id).Hold, []byte("report")))
		},
		"Fail": func(id string) {
			r.complete(queue.Ref{ID: id})
			r.works("Fail", r.b.Fail(r.Context(), r.one(id).Hold, "why", nil))
		},
		"GiveUp":          func(id string) { r.works("GiveUp", r.b.GiveUp(r.Context(), queue.Ref{ID: id}, "why")) },
		"Cancel, claimed": func(id string) { r.works("Cancel", r.b.Cancel(r.Context(), id, "person")) },
		"Cancel, pending": func(id string) {
			r.requeue()
			r.works("Cancel", r.b.Cancel(r.Context(), id, "person"))
		},
		"Cancel, completed": func(id string) {
			r.complete(queue.Ref{ID: id})
			r.works("Cancel", r.b.Cancel(r.Context(), id, "person"))
		},
		"claims, claimed": func(string) {
			r.clock.Advance(lease + time.Second)
			r.exhausted(queue.Limits{Claims: 1})
		},
		"claims, pending": func(string) {
			r.requeue()
			r.exhausted(queue.Limits{Claims: 1})
		},
		"drains, completed": func(id string) {
			r.complete(queue.Ref{ID: id})
			r.works("Release", r.a.Release(r.Context(), r.one(id).Hold, queue.Postponement{}))
			r.exhausted(queue.Limits{Drains: 1})
		},
		"drains, being carried out": func(id string) {
			r.complete(queue.Ref{ID: id})
			r.one(id)
			r.clock.Advance(lease + time.Second)
			r.exhausted(queue.Limits{Drains: 1})
		},
	}
	for name, end := range ends {
		first := r.task()
		r.put(first)
		r.claims(first.ID)
		next := r.follower(first.Issue)
		r.waits(next, first.ID)
		r.nothing()
		for len(changes) > 0 {
			<-changes
		}
		end(first.ID)
		r.expect(name, changes, queue.Change{Agent: agent})
		r.gone(next.ID)
		r.nothing()
		r.works("Cancel", r.a.Cancel(r.Context(), next.ID, "person"))
	}
	broken := r.task()
	broken.Message = []byte("no object")
	r.put(broken)
	next := r.follower(broken.Issue)
	r.waits(next, broken.ID)
	if c := r.claim(); c.ID != next.ID || !c.Waited {
		r.Errorf("got %+v, want %s: the one ahead cannot be read", c, next.ID)
	}
	r.is(broken.ID, queue.Failed)
}

// exhausted fails a task that was handed out as often as the limits allow, by the other handle.
func (r *rig) exhausted(l queue.Limits) {
	r.Helper()
	if swept, err := r.b.RequeueStale(r.Context(), l); err != nil || len(swept) != 1 || swept[0].State != queue.Failed {
		r.Fatalf("RequeueStale: got %+v, %v, want one that failed", swept, err)
	}
}

func behindJoin(r *rig) {
	first := r.follower(7)
	r.put(first)
	r.claims(first.ID)
	second, third := r.follower(7), r.follower(7)
	second.Dedup, third.Dedup, third.Priority = "delivery 2", "delivery 3", 3
	third.Message = []byte(`{"third":3}`)
	r.waits(second, first.ID)
	want := queue.Enqueued{How: queue.Coalesced, ID: second.ID, Behind: first.ID}
	if got, err := r.a.Enqueue(r.Context(), third); err != nil || got != want {
		r.Fatalf("got %+v, %v, want %+v", got, err, want)
	}
	want.How = queue.Duplicate
	for _, again := range []queue.Task{second, third} {
		again.ID = r.task().ID
		if got, err := r.b.Enqueue(r.Context(), again); err != nil || got != want {
			r.Fatalf("%s again: got %+v, %v, want %+v", again.Dedup, got, err, want)
		}
	}
	r.nothing()
	r.complete(queue.Ref{ID: first.ID})
	r.works("MarkDone", r.a.MarkDone(r.Context(), r.one(first.ID).Hold, nil))
	if d := r.look(second.ID); d.Priority != 3 || string(d.Message) != `{"third":3}` {
		r.Errorf("got %+v, want what was joined", d)
	}
	r.gone(second.ID)
	r.nothing()
}

func behindOrder(r *rig) {
	first := r.follower(7)
	r.put(first)
	r.claims(first.ID)
	all := []string{first.ID}
	for range 3 {
		t := r.follower(7)
		t.Join = refuse
		r.waits(t, first.ID)
		all = append(all, t.ID)
	}
	for i, id := range all[1:] {
		r.works("Cancel", r.a.Cancel(r.Context(), all[i], "person"))
		for _, later := range all[i+2:] {
			r.behind(later, id)
		}
		r.gone(id)
		r.nothing()
	}
}

func behindMany(r *rig) {
	a, b, c := r.task(), r.task(), r.task()
	b.Issue, c.Issue = a.Issue, a.Issue
	r.put(a, b)
	r.claims(a.ID, b.ID)
	next := r.follower(a.Issue)
	r.waits(next, a.ID)
	r.put(c) // comes later, and coalesces not
	r.claims(c.ID)
	r.works("Cancel", r.a.Cancel(r.Context(), a.ID, "person"))
	r.behind(next.ID, b.ID)
	r.nothing()
	r.works("Cancel", r.b.Cancel(r.Context(), b.ID, "person"))
	r.gone(next.ID)
}

func behindNot(r *rig) {
	tests := map[string]func(first, second *queue.Task){
		"another agent":   func(_, t *queue.Task) { t.Agent = "http://b/" },
		"another issue":   func(_, t *queue.Task) { t.Issue += 1000 },
		"another repo":    func(_, t *queue.Task) { t.Repo += "2" },
		"it does not ask": func(_, t *queue.Task) { t.Coalesce = false },
		"no issue":        func(first, t *queue.Task) { first.Issue, t.Issue = 0, 0 },
		"nobody to ask":   func(_, t *queue.Task) { t.Agent = "" },
	}
	for name, change := range tests {
		first := r.task()
		second := first
		second.ID, second.Coalesce = r.task().ID, true
		change(&first, &second)
		r.put(first)
		r.claims(first.ID)
		if got, err := r.a.Enqueue(r.Context(), second); err != nil || got != (queue.Enqueued{How: queue.Added, ID: second.ID}) {
			r.Errorf("%s: got %+v, %v, want it added, and ready", name, got, err)
		}
		if d := r.look(second.ID); d.Held || d.Behind != "" || d.Reason != "" {
			r.Errorf("%s: got %+v, want it not held back", name, d.Info)
		}
		r.complete2(second.ID)
	}
	const fresh = 7000
	over := r.follower(fresh)
	r.put(over)
	r.works("Cancel", r.a.Cancel(r.Context(), over.ID, "person"))
	next := r.follower(fresh)
	r.put(next)
	if c := r.claim(); c.ID != next.ID || c.Waited {
		r.Errorf("got %+v, want %s, which did not wait", c, next.ID)
	}
}

func behindCounts(r *rig) {
	first := r.follower(7)
	r.put(first)
	r.claims(first.ID)
	start := r.clock.Now()
	next := r.follower(7)
	r.waits(next, first.ID)
	r.clock.Advance(24 * time.Hour)
	got := r.stats()
	r.equal("Stats", got.Agents, []queue.AgentStats{{Agent: agent, Pending: 1, Held: 1, Claimed: 1}})
	if got.Held != 1 || got.States[queue.Pending] != 1 || !got.Oldest.Equal(start) {
		r.Errorf("got %+v, want one that is held back", got)
	}
	if list := r.backlog(3); len(list) != 0 {
		r.Errorf("got %+v, want nothing to be handed out", list)
	}
	r.listed("pending", queue.Filter{State: queue.Pending}, []string{next.ID})
	r.works("Cancel", r.a.Cancel(r.Context(), first.ID, "person"))
	r.equal("Backlog", r.backlog(3), []queue.Backlog{{Agent: agent, Pending: 1, IDs: []string{next.ID}}})
	if got := r.stats(); got.Held != 0 || got.Agents[0].Held != 0 {
		r.Errorf("got %+v, want none that is held back", got)
	}
}

// behindLong keeps a task waiting for days, and lets all look that there is of it.
func behindLong(r *rig) {
	first := r.follower(7)
	r.put(first)
	r.claims(first.ID)
	next := r.follower(7)
	r.waits(next, first.ID)
	for range 5 {
		r.clock.Advance(24 * time.Hour)
		_, err := r.a.Grace(r.Context(), lease)
		r.works("Grace", err)
		r.nothing()
		r.sweep()
		r.leases()
		r.stats()
		r.behind(next.ID, first.ID)
	}
	r.complete(queue.Ref{ID: first.ID})
	r.works("MarkDone", r.a.MarkDone(r.Context(), r.one(first.ID).Hold, nil))
	r.gone(next.ID)
}
