package queuetest

import (
	"bytes"
	"context"
	"errors"
	"strings"

	"github.com/org/foreman-action/queue"
)

func hostileCases() []testCase {
	return []testCase{
		{"hostile: texts that are kept", hostileTexts},
		{"hostile: texts that are looked up", hostileLookups},
		{"hostile: large texts", hostileSizes},
		{"a cancelled context", cancelled},
	}
}

// hostile returns texts that a medium might choke on.
func hostile() []string {
	return []string{
		"'; drop table task; --", "\x00", "a\x00b", "\xff\xfe", "\xc3", "\u2028\u202e", "\U0001F600", `\x00\\`, "%s$1?1{}[]", "\r\n\x1b[31m",
		strings.Repeat("long ", 5000), strings.Repeat("\u20ac", queue.MaxText), strings.Repeat("\xff", 3*queue.MaxText),
	}
}

func hostileTexts(r *rig) {
	for _, text := range hostile() {
		t := r.task()
		t.Origin = []byte(text)
		r.put(t)
		c, err := r.b.ClaimNext(r.Context(), agent, queue.ClaimOptions{By: text, Lease: lease})
		r.works("ClaimNext", err)
		if c.ID != t.ID || string(c.Origin) != text {
			r.Fatalf("%.20q: got %s with %.20q", text, c.ID, c.Origin)
		}
		r.works("Heartbeat", r.b.Heartbeat(r.Context(), queue.Ref{ID: t.ID, By: text}, lease))
		r.refuse(queue.Ref{ID: t.ID, By: "x" + text}, queue.ErrNotYours)
		got, err := r.b.Complete(r.Context(), queue.Ref{ID: t.ID, By: text, Attempt: 1}, []byte(text))
		if err != nil || !got.Accepted {
			r.Fatalf("%.20q: Complete: got %+v, %v", text, got, err)
		}
		list, err := r.b.DrainCompleted(r.Context(), queue.DrainOptions{Owner: text, Lease: lease, Limit: 1})
		if err != nil || len(list) != 1 || string(list[0].Result) != text {
			r.Fatalf("%.20q: DrainCompleted: got %d, %v", text, len(list), err)
		}
		r.works("Release", r.b.Release(r.Context(), list[0].Hold, queue.Postponement{Reason: text}))
		r.works("Cancel", r.b.Cancel(r.Context(), t.ID, text))
		_, err = r.b.Retry(r.Context(), t.ID, text)
		r.works("Retry", err)
		r.works("Fail", r.b.Fail(r.Context(), r.one(t.ID).Hold, text, []byte(text)))
		d := r.look(t.ID)
		if d.Reason != queue.CleanText(text) || string(d.Report) != text || string(d.Result) != text {
			r.Errorf("%.20q: got reason %.20q and report %.20q", text, d.Reason, d.Report)
		}
		for _, e := range d.Log {
			if !queue.IsText(e.What) || !queue.IsText(e.Who) || !queue.IsText(e.Text) {
				r.Errorf("%.20q: log: got %.100q", text, e)
			}
		}
	}
}

func hostileLookups(r *rig) {
	r.add()
	for _, text := range hostile() {
		_, err := r.a.ClaimNext(r.Context(), text, queue.ClaimOptions{Lease: lease})
		r.fails("ClaimNext", err, queue.ErrEmpty)
		r.fails("Heartbeat", r.a.Heartbeat(r.Context(), queue.Ref{ID: text}, lease), queue.ErrNotFound)
		r.refuse(queue.Ref{ID: text}, nil)
		r.stale(queue.Hold{ID: text, Epoch: 1})
		_, err = r.a.Inspect(r.Context(), text)
		r.fails("Inspect", err, queue.ErrNotFound)
		_, err = r.a.Retry(r.Context(), text, "person")
		r.fails("Retry", err, queue.ErrNotFound)
		r.fails("Cancel", r.a.Cancel(r.Context(), text, "person"), queue.ErrNotFound)
		for _, f := range []queue.Filter{{Agent: text}, {Repo: text}, {State: queue.State(text)}} {
			r.listed("List", f, nil)
		}
		t := r.task()
		t.ID = text
		_, err = r.a.Enqueue(r.Context(), t)
		if (err == nil) != queue.IsText(text) {
			r.Errorf("Enqueue of id %.20q: got %v", text, err)
		}
	}
}

func hostileSizes(r *rig) {
	t := r.task()
	t.Message = []byte(`{"title": "` + strings.Repeat("x", 4<<20) + `"}`)
	t.Origin = []byte(strings.Repeat("\x00", 1<<20))
	t.Agent, t.Repo, t.Dedup = strings.Repeat("a", queue.MaxText), strings.Repeat("r", queue.MaxText), strings.Repeat("d", queue.MaxText)
	r.put(t)
	c, err := r.b.ClaimNext(r.Context(), t.Agent, queue.ClaimOptions{Lease: lease})
	if err != nil || !bytes.Equal(c.Message, t.Message) || !bytes.Equal(c.Origin, t.Origin) {
		r.Fatalf("got %d bytes, %v", len(c.Message), err)
	}
	result := []byte(strings.Repeat("r", 4<<20))
	if got, err := r.b.Complete(r.Context(), queue.Ref{ID: t.ID}, result); err != nil || !got.Accepted {
		r.Fatalf("Complete: got %+v, %v", got, err)
	}
	d := r.one(t.ID)
	if !bytes.Equal(d.Result, result) || !bytes.Equal(d.Message, t.Message) {
		r.Errorf("got %d bytes of %d bytes", len(d.Result), len(d.Message))
	}
	if err := r.a.MarkDone(r.Context(), d.Hold, make([]byte, queue.MaxMessage+1)); err == nil || errors.Is(err, queue.ErrLost) {
		r.Errorf("MarkDone with a large report: got %v", err)
	}
	r.works("MarkDone", r.a.MarkDone(r.Context(), d.Hold, nil))
}

func cancelled(r *rig) {
	task, decided := r.add(), r.decided()
	hold := r.one(decided).Hold
	ctx, cancel := context.WithCancel(r.Context())
	cancel()
	calls := map[string]func() error{
		"Enqueue":   func() error { _, err := r.a.Enqueue(ctx, r.task()); return err },
		"ClaimNext": func() error { _, err := r.a.ClaimNext(ctx, agent, queue.ClaimOptions{Lease: lease}); return err },
		"GiveBack":  func() error { return r.a.GiveBack(ctx, queue.Ref{ID: task}, lease) },
		"GiveUp":    func() error { return r.a.GiveUp(ctx, queue.Ref{ID: task}, "why") },
		"Heartbeat": func() error { return r.a.Heartbeat(ctx, queue.Ref{ID: task}, lease) },
		"Complete":  func() error { _, err := r.a.Complete(ctx, queue.Ref{ID: task}, []byte("{}")); return err },
		"DrainCompleted": func() error {
			_, err := r.a.DrainCompleted(ctx, queue.DrainOptions{Lease: lease, Limit: 1})
			return err
		},
		"Renew":        func() error { _, err := r.a.Renew(ctx, hold, lease); return err },
		"MarkDone":     func() error { return r.a.MarkDone(ctx, hold, nil) },
		"Fail":         func() error { return r.a.Fail(ctx, hold, "", nil) },
		"Release":      func() error { return r.a.Release(ctx, hold, queue.Postponement{}) },
		"RequeueStale": func() error { _, err := r.a.RequeueStale(ctx, queue.Limits{Claims: 1, Drains: 1}); return err },
		"Grace":        func() error { _, err := r.a.Grace(ctx, lease); return err },
		"Stats":        func() error { _, err := r.a.Stats(ctx); return err },
		"Backlog":      func() error { _, err := r.a.Backlog(ctx, 1); return err },
		"List":         func() error { _, err := r.a.List(ctx, queue.Filter{}); return err },
		"Inspect":      func() error { _, err := r.a.Inspect(ctx, task); return err },
		"Retry":        func() error { _, err := r.a.Retry(ctx, task, ""); return err },
		"Cancel":       func() error { return r.a.Cancel(ctx, task, "") },
		"Purge":        func() error { _, err := r.a.Purge(ctx, r.clock.Now(), 1); return err },
	}
	for name, call := range calls {
		if err := call(); !errors.Is(err, context.Canceled) {
			r.Errorf("%s: got %v, want context.Canceled", name, err)
		}
	}
	r.listed("List", queue.Filter{}, []string{decided, task})
	r.is(task, queue.Pending)
	r.works("MarkDone", r.a.MarkDone(r.Context(), hold, nil))
}
