package queuetest

import (
	"fmt"
	"time"

	"github.com/org/foreman-action/queue"
)

func coalesce(r *rig) {
	first, between, second := r.task(), r.task(), r.task()
	first.Coalesce, second.Coalesce = true, true
	second.Message = fmt.Appendf(nil, `{"task_id":%q,"was":%q}`, second.ID, second.ID)
	second.Issue, second.Repo = first.Issue, "ORG/Repo"
	second.Origin, second.Priority = []byte(`"second"`), -1
	r.put(first, between)
	got, err := r.b.Enqueue(r.Context(), second)
	if err != nil || got.How != queue.Coalesced || got.ID != first.ID || !got.Ready.IsZero() {
		r.Fatalf("got %+v, %v, want coalesced into %s", got, err, first.ID)
	}
	if d := r.look(first.ID); string(d.Message) != fmt.Sprintf(`{"task_id":%q,"was":%q}`, first.ID, second.ID) || string(d.Origin) != `"second"` || d.Priority != 0 {
		r.Errorf("got %+v, want the second message, with the first one's id in it, and origin", d)
	}
	third := second
	third.ID, third.Priority, third.Origin = id(100), 5, nil
	if got, err := r.a.Enqueue(r.Context(), third); err != nil || got.How != queue.Coalesced || got.ID != first.ID {
		r.Fatalf("got %+v, %v, want coalesced into %s", got, err, first.ID)
	}
	if d := r.look(first.ID); d.Priority != 5 || d.Origin != nil {
		r.Errorf("got %+v, want priority 5 and no origin", d)
	}
	r.claims(first.ID, between.ID)
	if _, err := r.a.Inspect(r.Context(), second.ID); err == nil {
		r.Error("the second one was kept, too")
	}
}

func coalesceDedup(r *rig) {
	first, second, third := r.task(), r.task(), r.task()
	first.Coalesce, second.Coalesce, third.Coalesce = true, true, true
	first.Dedup, second.Dedup, third.Dedup = "delivery 1", "delivery 2", "delivery 2"
	second.Issue, third.Issue = first.Issue, first.Issue
	r.put(first)
	if got, err := r.a.Enqueue(r.Context(), second); err != nil || got.How != queue.Coalesced {
		r.Fatalf("got %+v, %v, want coalesced", got, err)
	}
	r.claims(first.ID)
	if got, err := r.b.Enqueue(r.Context(), third); err != nil || got.How != queue.Duplicate || got.ID != first.ID {
		r.Errorf("the second delivery again: got %+v, %v, want a duplicate of %s", got, err, first.ID)
	}
	r.complete(queue.Ref{ID: first.ID})
	r.works("MarkDone", r.a.MarkDone(r.Context(), r.one(first.ID).Hold, nil))
	if n, err := r.a.Purge(r.Context(), r.clock.Now().Add(time.Second), 10); err != nil || n != 1 {
		r.Fatalf("Purge: got %d, %v", n, err)
	}
	r.put(third)
}

func coalesceNot(r *rig) {
	base := r.task()
	base.Coalesce = true
	tests := map[string]struct{ first, second func(*queue.Task) }{
		"another agent":     {second: func(t *queue.Task) { t.Agent = "http://b/" }},
		"another issue":     {second: func(t *queue.Task) { t.Issue += 1000 }},
		"another repo":      {second: func(t *queue.Task) { t.Repo += "2" }},
		"it does not ask":   {second: func(t *queue.Task) { t.Coalesce = false }},
		"first did not ask": {first: func(t *queue.Task) { t.Coalesce = false }},
		"no issue":          {first: func(t *queue.Task) { t.Issue = 0 }, second: func(t *queue.Task) { t.Issue = 0 }},
		"nobody to ask":     {first: func(t *queue.Task) { t.Agent = "" }, second: func(t *queue.Task) { t.Agent = "" }},
	}
	for name, tt := range tests {
		first := r.task()
		first.Coalesce = true
		second := first
		second.ID = r.task().ID
		for _, step := range []struct {
			t      *queue.Task
			change func(*queue.Task)
		}{{&first, tt.first}, {&second, tt.second}} {
			if step.change != nil {
				step.change(step.t)
			}
			if got, err := r.a.Enqueue(r.Context(), *step.t); err != nil || got.How != queue.Added {
				r.Errorf("%s: got %+v, %v, want it added", name, got, err)
			}
		}
	}
	r.put(base)
	for c := r.claim(); c.ID != base.ID; {
		c = r.claim()
	}
	second := base
	second.ID = r.task().ID
	if got, err := r.a.Enqueue(r.Context(), second); err != nil || got.How != queue.Added {
		r.Errorf("first is claimed: got %+v, %v, want it added", got, err)
	}
	r.complete(queue.Ref{ID: second.ID})
	r.requeue()
	r.is(base.ID, queue.Pending)
	second.ID = r.task().ID
	if got, err := r.a.Enqueue(r.Context(), second); err != nil || got.How != queue.Added {
		r.Errorf("first was claimed before: got %+v, %v, want it added", got, err)
	}
}

func coalesceHeld(r *rig) {
	first := r.task()
	first.Coalesce, first.Wait = true, time.Minute
	r.put(first)
	second := first
	second.ID, second.Wait, second.HourlyLimit = r.task().ID, 0, 1
	ready := r.clock.Now().Add(time.Minute)
	got, err := r.b.Enqueue(r.Context(), second)
	if err != nil || got.How != queue.Coalesced || !got.Ready.Equal(ready) {
		r.Errorf("got %+v, %v, want coalesced, and ready at %s", got, err, ready)
	}
	r.nothing()
	other := r.task() // the limit's only place is free still
	other.HourlyLimit = 1
	r.put(other)
	r.claims(other.ID)
}

func coalesceJoin(r *rig) {
	both := func(old, new queue.Told) (queue.Told, bool) {
		return queue.Told{
			Message: fmt.Appendf(nil, `{"old":%s,"new":%s}`, old.Message, new.Message),
			Origin:  fmt.Appendf(nil, `[%q,%q]`, old.Origin, new.Origin),
		}, true
	}
	first, second := r.task(), r.task()
	first.Coalesce, first.Join = true, both
	first.Message = []byte(`{"first":1}`)
	second.Coalesce, second.Join, second.Issue, second.Dedup = true, both, first.Issue, "delivery 2"
	second.Message, second.Origin = fmt.Appendf(nil, `{"task_id":%q}`, second.ID), []byte("2")
	r.put(first)
	if got, err := r.b.Enqueue(r.Context(), second); err != nil || got.How != queue.Coalesced || got.ID != first.ID {
		r.Fatalf("got %+v, %v, want coalesced into %s", got, err, first.ID)
	}
	want := fmt.Sprintf(`{"old":{"first":1},"new":{"task_id":%q}}`, first.ID)
	if d := r.look(first.ID); string(d.Message) != want || string(d.Origin) != fmt.Sprintf(`[%q,"2"]`, first.Origin) {
		r.Errorf("got %s of %s, want %s", d.Message, d.Origin, want)
	}
	if got, err := r.a.Enqueue(r.Context(), second); err != nil || got.How != queue.Duplicate || got.ID != first.ID {
		r.Errorf("the second one again: got %+v, %v, want a duplicate of %s", got, err, first.ID)
	}
	third := second
	third.ID, third.Dedup = r.task().ID, "delivery 3"
	for _, refuse := range []func(_, _ queue.Told) (queue.Told, bool){
		func(_, _ queue.Told) (queue.Told, bool) { return queue.Told{}, false },
		func(_, _ queue.Told) (queue.Told, bool) {
			return queue.Told{Message: make([]byte, queue.MaxMessage+1)}, true
		},
	} {
		third.Join = refuse
		got, err := r.a.Enqueue(r.Context(), third)
		if err != nil || got.How != queue.Added || got.ID != third.ID {
			r.Errorf("it is not to be joined: got %+v, %v, want it added", got, err)
		}
		third.ID, third.Dedup = r.task().ID, "delivery 4"
	}
	if d := r.look(first.ID); string(d.Message) != want {
		r.Errorf("got %s, want what it was", d.Message)
	}
}
