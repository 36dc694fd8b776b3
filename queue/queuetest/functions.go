package queuetest

import (
	"fmt"
	"strings"

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/queue/internal/script"
)

func functionCases() []Case {
	return []Case{
		function("enqueue: nothing shared", nothingShared),
		function("enqueue: too large", tooLarge),
		function("complete: no decision", noDecision),
		function("complete: the log is bounded", logBounded),
		function("purge: frees ids and dedup keys", purgeFrees),
		function("watch: stop", watchStop),
		function("behind: each end of the task ahead", behindEnds),
	}
}

func nothingShared(s *store) {
	t := script.Task(1, "")
	want := string(t.Message)
	if _, err := s.A.Enqueue(s.Context(), t); err != nil {
		s.Fatalf("Enqueue: %v", err)
	}
	t.Message[0] = 'x'
	c, err := s.A.ClaimNext(s.Context(), script.Agent, queue.ClaimOptions{Lease: script.Lease})
	if err != nil || string(c.Message) != want {
		s.Fatalf("got %q, %v, want %q", c.Message, err, want)
	}
	c.Message[0] = 'y'
	if d := s.look(1); string(d.Message) != want {
		s.Errorf("got %q, want %q", d.Message, want)
	}
}

func tooLarge(s *store) {
	noID, large := script.Task(1, ""), script.Task(2, "")
	noID.ID, large.Message = "", make([]byte, queue.MaxMessage+1)
	for _, t := range []queue.Task{noID, large} {
		if got, err := s.A.Enqueue(s.Context(), t); err == nil {
			s.Errorf("task %q: got %+v", t.ID, got)
		}
	}
	s.Play("idle")
}

func noDecision(s *store) {
	s.Play("enqueue 1")
	for _, decision := range [][]byte{nil, {}, make([]byte, queue.MaxMessage+1)} {
		if got, err := s.A.Complete(s.Context(), queue.Ref{ID: script.ID(1)}, decision); err == nil || got.Accepted {
			s.Errorf("%d bytes: got %+v, %v", len(decision), got, err)
		}
	}
	s.Play("show 1 -> pending")
}

func logBounded(s *store) {
	const n = queue.MaxLogs + 50
	s.Play(`
		enqueue 1
		complete 1
		repeat %d
		complete 1 -> refused
		end`, n)
	log := s.look(1).Log
	if len(log) > queue.MaxLogs || len(log) < queue.MaxLogs/2 {
		s.Fatalf("got %d entries, want at most %d", len(log), queue.MaxLogs)
	}
	for i, want := range map[int]int{0: 2, 1: 3, len(log) - 2: n, len(log) - 1: n + 1} {
		if text := fmt.Sprintf(`{"n":%d}`, want); !strings.Contains(log[i].Text, text) {
			s.Errorf("entry %d: got %q, want %s in it", i, log[i].Text, text)
		}
	}
}

func purgeFrees(s *store) {
	s.Play(`
		enqueue 1 dedup=delivery
		complete 1 by=other -> notyours # adds to its log`)
	seq := s.look(1).Seq
	s.Play(`
		cancel 1
		B purge before=1s limit=1 -> 1
		enqueue 1 dedup=delivery
		show 1 -> log=0 attempt=0`)
	if got := s.look(1).Seq; got <= seq {
		s.Errorf("got sequence number %d, want one above %d", got, seq)
	}
}

func watchStop(s *store) {
	changes, stop := s.A.Watch()
	other, stopOther := s.A.Watch()
	defer stopOther()
	stop()
	stop()
	s.Play("enqueue 1")
	for range changes {
		s.Error("a change after stop")
	}
	if err := script.Await(other, queue.Change{Agent: script.Agent}); err != nil {
		s.Errorf("the other one: %v", err)
	}
}

// behindEnds ends a claimed task in every possible way. Each time, the task that is held back
// behind it must be released, with a hint.
func behindEnds(s *store) {
	for i, end := range []string{
		"complete $1\ndrain -> $1\nB done $1 report=report",
		"complete $1\ndrain -> $1\nB fail $1",
		"B giveup $1",
		"B cancel $1",
		"expire\nB cancel $1",
		"complete $1\nB cancel $1",
		"advance 5m1s\nB requeue claims=1 -> $1:failed",
		"expire\nB requeue claims=1 -> $1:failed",
		"complete $1\ndrain -> $1\nrelease $1\nB requeue drains=1 -> $1:failed",
		"complete $1\ndrain -> $1\nadvance 5m1s\nB requeue drains=1 -> $1:failed",
	} {
		s.Play(`
			enqueue %[1]d
			claims %[1]d
			B enqueue %[2]d issue=%[1]d coalesce -> behind=%[1]d ready=none
			behind %[2]d %[1]d
			idle
			B watch
			`+strings.ReplaceAll(end, "$1", "%[1]d")+`
			hint pending
			released %[2]d
			idle
			cancel %[2]d`, 2*i+1, 2*i+2)
	}
	s.Play(`
		enqueue 101 message=none
		B enqueue 102 issue=101 coalesce -> behind=101 ready=none
		behind 102 101
		claim -> 102 waited=true # the one ahead is not decodable
		show 101 -> failed`)
}
