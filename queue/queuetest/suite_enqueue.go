package queuetest

import (
	"bytes"
	"time"

	"github.com/org/foreman-action/queue"
)

func enqueueCases() []testCase {
	return []testCase{
		{"enqueue: kept as it is", kept},
		{"enqueue: nothing shared", nothingShared},
		{"enqueue: nobody to ask", nobodyToAsk},
		{"enqueue: the same id", sameID},
		{"enqueue: the same dedup key", sameDedup},
		{"enqueue: refused", refused},
		{"enqueue: wait", wait},
		{"enqueue: wait of a decision", waitDecided},
		{"enqueue: coalesce", coalesce},
		{"enqueue: coalesce, and the dedup keys", coalesceDedup},
		{"enqueue: coalesce not", coalesceNot},
		{"enqueue: coalesce by Join", coalesceJoin},
		{"enqueue: coalesce into one held back", coalesceHeld},
	}
}

func kept(r *rig) {
	t := r.task()
	t.Repo, t.Priority, t.Dedup = "Org/Repo", 7, "delivery"
	r.put(t)
	d := r.look(t.ID)
	if !bytes.Equal(d.Message, t.Message) || !bytes.Equal(d.Origin, t.Origin) || d.Result != nil || d.Report != nil {
		r.Errorf("got %+v, want what was enqueued", d)
	}
	want := queue.Info{
		Seq: d.Seq, ID: t.ID, Agent: agent, Repo: "Org/Repo", Issue: 1, State: queue.Pending,
		Priority: 7, Enqueued: r.clock.Now(),
	}
	r.info(d.Info, want)
	t = r.task()
	t.Origin, t.Issue, t.Repo = nil, 0, ""
	r.put(t)
	if d := r.look(t.ID); d.Origin != nil || d.Issue != 0 || d.Repo != "" {
		r.Errorf("got %+v, want no origin, no issue and no repository", d)
	}
}

func nothingShared(r *rig) {
	t := r.task()
	want := string(t.Message)
	r.put(t)
	t.Message[0] = 'x'
	c := r.claim()
	if string(c.Message) != want {
		r.Errorf("got %q, want %q", c.Message, want)
	}
	c.Message[0] = 'y'
	if d := r.look(t.ID); string(d.Message) != want {
		r.Errorf("got %q, want %q", d.Message, want)
	}
}

func nobodyToAsk(r *rig) {
	t := r.task()
	t.Agent = ""
	r.put(t)
	r.is(t.ID, queue.Completed)
	if _, err := r.b.ClaimNext(r.Context(), "", queue.ClaimOptions{Lease: lease}); err == nil {
		r.Error("ClaimNext for nobody: got a task")
	}
	r.refuse(queue.Ref{ID: t.ID}, nil)
	d := r.one(t.ID)
	if d.Result != nil || d.Agent != "" || !bytes.Equal(d.Message, t.Message) {
		r.Errorf("got %+v, want no result", d)
	}
}

func sameID(r *rig) {
	t := r.task()
	r.put(t)
	again := t
	again.Agent, again.Message = "http://b/", []byte(`{}`)
	for _, state := range []queue.State{queue.Pending, queue.Claimed, queue.Completed} {
		r.is(t.ID, state)
		got, err := r.b.Enqueue(r.Context(), again)
		if err != nil || got.How != queue.Duplicate || got.ID != t.ID {
			r.Errorf("%s: got %+v, %v, want a duplicate of %s", state, got, err, t.ID)
		}
		if state == queue.Pending {
			r.claim()
		} else {
			r.complete2(t.ID)
		}
	}
	if d := r.look(t.ID); !bytes.Equal(d.Message, t.Message) || d.Agent != agent {
		r.Errorf("got %+v, want the first one", d)
	}
}

// complete2 completes a task, whatever comes of it.
func (r *rig) complete2(id string) {
	r.Helper()
	_, err := r.b.Complete(r.Context(), queue.Ref{ID: id}, []byte(`{}`))
	r.works("Complete", err)
}

func sameDedup(r *rig) {
	first, second, other := r.task(), r.task(), r.task()
	first.Dedup, second.Dedup, other.Dedup = "delivery 1", "delivery 1", "delivery 2"
	second.Repo = "org/other"
	r.put(first)
	r.complete(queue.Ref{ID: first.ID})
	r.works("MarkDone", r.a.MarkDone(r.Context(), r.one(first.ID).Hold, nil))
	got, err := r.b.Enqueue(r.Context(), second)
	if err != nil || got.How != queue.Duplicate || got.ID != first.ID {
		r.Errorf("got %+v, %v, want a duplicate of %s", got, err, first.ID)
	}
	if _, err := r.a.Inspect(r.Context(), second.ID); err == nil {
		r.Error("the duplicate was kept")
	}
	r.put(other)
	none, too := r.task(), r.task() // an empty key is none
	r.put(none, too)
}

func refused(r *rig) {
	t := r.task()
	t.ID = ""
	if got, err := r.a.Enqueue(r.Context(), t); err == nil {
		r.Errorf("a task without an id: got %+v", got)
	}
	t = r.task()
	t.Message = make([]byte, queue.MaxMessage+1)
	if got, err := r.a.Enqueue(r.Context(), t); err == nil {
		r.Errorf("a large message: got %+v", got)
	}
	r.nothing()
}

func wait(r *rig) {
	t := r.task()
	t.Wait = time.Minute
	ready := r.clock.Now().Add(time.Minute)
	got, err := r.a.Enqueue(r.Context(), t)
	if err != nil || got.How != queue.Added || !got.Ready.Equal(ready) {
		r.Fatalf("Enqueue: got %+v, %v, want %s", got, err, ready)
	}
	if again, err := r.b.Enqueue(r.Context(), t); err != nil || again.How != queue.Duplicate || !again.Ready.Equal(ready) {
		r.Errorf("Enqueue again: got %+v, %v, want %s", again, err, ready)
	}
	later := r.add()
	if d := r.look(t.ID); !d.Held || !d.Ready.Equal(ready) || d.State != queue.Pending {
		r.Errorf("got %+v, want one that is held back until %s", d.Info, ready)
	}
	r.claims(later)
	r.clock.Advance(59 * time.Second)
	r.nothing()
	r.clock.Advance(2 * time.Second)
	if d := r.look(t.ID); d.Held {
		r.Errorf("got %+v, want one that is held back no more", d.Info)
	}
	r.claims(t.ID)
}

func waitDecided(r *rig) {
	t := r.task()
	t.Agent, t.Wait = "", time.Minute
	r.put(t)
	r.leases()
	if d := r.look(t.ID); !d.Held || d.State != queue.Completed {
		r.Errorf("got %+v, want one that is held back", d.Info)
	}
	r.clock.Advance(time.Minute + time.Second)
	r.leases(t.ID)
}
