package queuetest

import (
	"bytes"
	"context"
	"errors"
	"strings"

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/queue/internal/script"
)

func hostileCases() []Case {
	return []Case{
		function("hostile: stored texts", hostileTexts),
		function("hostile: texts that are looked up", hostileLookups),
		function("hostile: large texts", hostileSizes),
		function("a cancelled context", cancelled),
	}
}

// hostile returns texts that a storage might not keep unchanged.
func hostile() []string {
	return []string{
		"'; drop table task; --", "\x00", "a\x00b", "\xff\xfe", "\xc3", "\u2028\u202e", "\U0001F600", `\x00\\`, "%s$1?1{}[]", "\r\n\x1b[31m",
		strings.Repeat("long ", 5000), strings.Repeat("\u20ac", queue.MaxText), strings.Repeat("\xff", 3*queue.MaxText),
	}
}

func hostileTexts(s *store) {
	ctx := s.Context()
	for i, text := range hostile() {
		t := script.Task(i+1, "")
		t.Origin = []byte(text)
		_, err := s.A.Enqueue(ctx, t)
		s.ok("Enqueue", err)
		c, err := s.B.ClaimNext(ctx, script.Agent, queue.ClaimOptions{By: text, Lease: script.Lease})
		if err != nil || c.ID != t.ID || string(c.Origin) != text {
			s.Fatalf("%.20q: got %s with %.20q, %v", text, c.ID, c.Origin, err)
		}
		s.ok("Heartbeat", s.B.Heartbeat(ctx, queue.Ref{ID: t.ID, By: text}, script.Lease))
		got, err := s.A.Complete(ctx, queue.Ref{ID: t.ID, By: "x" + text}, []byte("{}"))
		if !errors.Is(err, queue.ErrNotYours) || got.Accepted {
			s.Fatalf("%.20q: Complete by another one: got %+v, %v", text, got, err)
		}
		got, err = s.B.Complete(ctx, queue.Ref{ID: t.ID, By: text, Attempt: 1}, []byte(text))
		if err != nil || !got.Accepted {
			s.Fatalf("%.20q: Complete: got %+v, %v", text, got, err)
		}
		list, err := s.B.LeaseDecisions(ctx, queue.DrainOptions{Owner: text, Lease: script.Lease, Limit: 1})
		if err != nil || len(list) != 1 || string(list[0].Result) != text {
			s.Fatalf("%.20q: LeaseDecisions: got %d, %v", text, len(list), err)
		}
		s.ok("ReleaseLease", s.B.ReleaseLease(ctx, list[0].Lease, queue.Postponement{Reason: text}))
		s.ok("Cancel", s.B.Cancel(ctx, queue.Seen{ID: t.ID}, text))
		_, err = s.B.Retry(ctx, queue.Seen{ID: t.ID}, text)
		s.ok("Retry", err)
		s.Play("drain -> %d", i+1)
		s.ok("Fail", s.B.Fail(ctx, s.LeaseOf(i+1), text, []byte(text)))
		d := s.look(i + 1)
		if d.Reason != queue.CleanText(text) || string(d.Report) != text || string(d.Result) != text {
			s.Errorf("%.20q: got reason %.20q and report %.20q", text, d.Reason, d.Report)
		}
		for _, e := range d.Log {
			if !queue.IsText(e.What) || !queue.IsText(e.Who) || !queue.IsText(e.Text) {
				s.Errorf("%.20q: log: got %.100q", text, e)
			}
		}
	}
}

func hostileLookups(s *store) {
	ctx := s.Context()
	s.Play("enqueue 1")
	for i, text := range hostile() {
		ref, lease := queue.Ref{ID: text}, queue.Lease{ID: text, Epoch: 1}
		_, err := s.A.ClaimNext(ctx, text, queue.ClaimOptions{Lease: script.Lease})
		s.fails("ClaimNext", err, queue.ErrEmpty)
		_, err = s.A.ClaimNext(ctx, script.Agent, queue.ClaimOptions{Lease: script.Lease, Task: text})
		s.fails("ClaimNext of a task", err, queue.ErrEmpty)
		s.fails("Heartbeat", s.A.Heartbeat(ctx, ref, script.Lease), queue.ErrNotFound)
		if got, err := s.A.Complete(ctx, ref, []byte("{}")); err != nil || got.Accepted || got.Reason == "" {
			s.Errorf("Complete: got %+v, %v, want a reason", got, err)
		}
		_, err = s.A.Renew(ctx, lease, script.Lease)
		s.fails("Renew", err, queue.ErrLost)
		s.fails("MarkDone", s.A.MarkDone(ctx, lease, []byte("{}")), queue.ErrLost)
		s.fails("Fail", s.A.Fail(ctx, lease, "why", nil), queue.ErrLost)
		s.fails("ReleaseLease", s.A.ReleaseLease(ctx, lease, queue.Postponement{}), queue.ErrLost)
		_, err = s.A.Inspect(ctx, text)
		s.fails("Inspect", err, queue.ErrNotFound)
		_, err = s.A.Retry(ctx, queue.Seen{ID: text}, "person")
		s.fails("Retry", err, queue.ErrNotFound)
		s.fails("Cancel", s.A.Cancel(ctx, queue.Seen{ID: text}, "person"), queue.ErrNotFound)
		for _, f := range []queue.Filter{{Agent: text}, {Repo: text}, {State: queue.State(text)}, {ID: text}, {Title: "x" + text}, {Reason: text}} {
			if list, err := queue.List(ctx, s.B, f); err != nil || len(list) > 0 {
				s.Errorf("List: got %d, %v, want none", len(list), err)
			}
		}
		t := script.Task(i+2, "")
		t.ID = text
		if _, err = s.A.Enqueue(ctx, t); (err == nil) != queue.IsText(text) {
			s.Errorf("Enqueue of id %.20q: got %v", text, err)
		}
	}
}

func hostileSizes(s *store) {
	ctx, t := s.Context(), script.Task(1, "")
	t.Message = []byte(`{"title": "` + strings.Repeat("x", 4<<20) + `"}`)
	t.Origin = []byte(strings.Repeat("\x00", 1<<20))
	t.Agent, t.Repo, t.Dedup = strings.Repeat("a", queue.MaxText), strings.Repeat("r", queue.MaxText), strings.Repeat("d", queue.MaxText)
	_, err := s.A.Enqueue(ctx, t)
	s.ok("Enqueue", err)
	c, err := s.B.ClaimNext(ctx, t.Agent, queue.ClaimOptions{Lease: script.Lease})
	if err != nil || !bytes.Equal(c.Message, t.Message) || !bytes.Equal(c.Origin, t.Origin) {
		s.Fatalf("got %d bytes, %v", len(c.Message), err)
	}
	result := []byte(strings.Repeat("r", 4<<20))
	if got, err := s.B.Complete(ctx, queue.Ref{ID: t.ID}, result); err != nil || !got.Accepted {
		s.Fatalf("Complete: got %+v, %v", got, err)
	}
	list, err := s.A.LeaseDecisions(ctx, queue.DrainOptions{Lease: script.Lease, Limit: 9})
	if err != nil || len(list) != 1 || !bytes.Equal(list[0].Result, result) || !bytes.Equal(list[0].Message, t.Message) {
		s.Fatalf("LeaseDecisions: got %d, %v, or other texts", len(list), err)
	}
	if err := s.A.MarkDone(ctx, list[0].Lease, make([]byte, queue.MaxMessage+1)); err == nil || errors.Is(err, queue.ErrLost) {
		s.Errorf("MarkDone with a large report: got %v", err)
	}
	s.ok("MarkDone", s.A.MarkDone(ctx, list[0].Lease, nil))
}

func cancelled(s *store) {
	s.Play(`
		enqueue 1 2
		complete 2
		drain -> 2`)
	ctx, cancel := context.WithCancel(s.Context())
	cancel()
	q, ref, lease := s.A, queue.Ref{ID: script.ID(1)}, s.LeaseOf(2)
	calls := map[string]func() error{
		"Enqueue":   func() error { _, err := q.Enqueue(ctx, script.Task(3, "")); return err },
		"Duplicate": func() error { _, err := q.Duplicate(ctx, "key"); return err },
		"ClaimNext": func() error {
			_, err := q.ClaimNext(ctx, script.Agent, queue.ClaimOptions{Lease: script.Lease})
			return err
		},
		"ReleaseClaim": func() error { return q.ReleaseClaim(ctx, ref, script.Lease) },
		"FailClaim":    func() error { return q.FailClaim(ctx, ref, "why") },
		"Heartbeat":    func() error { return q.Heartbeat(ctx, ref, script.Lease) },
		"Complete":     func() error { _, err := q.Complete(ctx, ref, []byte("{}")); return err },
		"LeaseDecisions": func() error {
			_, err := q.LeaseDecisions(ctx, queue.DrainOptions{Lease: script.Lease, Limit: 1})
			return err
		},
		"Renew":        func() error { _, err := q.Renew(ctx, lease, script.Lease); return err },
		"MarkDone":     func() error { return q.MarkDone(ctx, lease, nil) },
		"Fail":         func() error { return q.Fail(ctx, lease, "", nil) },
		"ReleaseLease": func() error { return q.ReleaseLease(ctx, lease, queue.Postponement{}) },
		"RequeueStale": func() error { _, err := q.RequeueStale(ctx, queue.Limits{Claims: 1, Drains: 1}); return err },
		"ExtendClaims": func() error { _, err := q.ExtendClaims(ctx, script.Lease); return err },
		"Stats":        func() error { _, err := q.Stats(ctx); return err },
		"Backlog":      func() error { _, err := q.Backlog(ctx, 1); return err },
		"List":         func() error { _, err := queue.List(ctx, q, queue.Filter{}); return err },
		"Inspect":      func() error { _, err := q.Inspect(ctx, script.ID(1)); return err },
		"Retry":        func() error { _, err := q.Retry(ctx, queue.Seen{ID: script.ID(1)}, ""); return err },
		"AskAgain":     func() error { _, err := q.AskAgain(ctx, queue.Seen{ID: script.ID(1)}, "", ""); return err },
		"Cancel":       func() error { return q.Cancel(ctx, queue.Seen{ID: script.ID(1)}, "") },
		"Purge":        func() error { _, err := q.Purge(ctx, s.Clock.Now(), 1); return err },
	}
	for name, call := range calls {
		s.fails(name, call(), context.Canceled)
	}
	s.Play(`
		list -> 2 1
		show 1 -> pending
		done 2`)
}
