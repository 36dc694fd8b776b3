package queuetest

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/queue/internal/script"
)

// Races depend on chance, so a longer run finds more.
var factor = flag.Int("queue.rounds", 1, "multiplies the rounds of most cases in which several goroutines call the queue")

func parallelCases() []Case {
	return []Case{
		function("parallel: 50 claims of one task", parallelClaims),
		function("parallel: 50 claims of one task by its id", parallelClaimsByID),
		function("parallel: claims of many tasks", parallelMany),
		function("parallel: enqueue of one id", func(s *store) {
			s.enqueueTwenty(queue.Duplicate, func(i int) queue.Task { return script.Task(1, "") })
		}),
		function("parallel: enqueue of one dedup key", func(s *store) {
			s.enqueueTwenty(queue.Duplicate, func(i int) queue.Task { return script.Task(i, "dedup=delivery") })
		}),
		function("parallel: coalesce", func(s *store) {
			s.enqueueTwenty(queue.Coalesced, func(i int) queue.Task { return script.Task(i, "issue=7 coalesce") })
		}),
		function("parallel: coalesce with claims", parallelJoin),
		function("parallel: a last claim that ran out", parallelLastClaim),
		function("parallel: hourly limit", parallelHourly),
		function("parallel: completes of one task", parallelCompletes),
		function("parallel: completes and requeues", parallelRequeue),
		function("parallel: one decision per issue", parallelIssues),
		function("parallel: requeues", parallelRequeues),
		function("parallel: whole cycles", parallelCycles),
		function("parallel: behind one that ends", parallelBehind),
		function("parallel: behind two that end", parallelBehindTwo),
		function("parallel: one of an issue in flight", parallelOneInFlight),
		function("parallel: all calls at once", parallelAllCalls),
	}
}

// counted checks how often the calls returned each word.
func (s *store) counted(got map[string]int, want map[string]int) {
	s.Helper()
	if !maps.Equal(got, want) {
		s.Fatalf("got %v, want %v", got, want)
	}
}

func parallelClaims(s *store) {
	for round := range 3 {
		s.Play("enqueue")
		got := s.race(50, func(_ int, q queue.Queue) (string, error) {
			c, err := s.tryClaim(q)
			return fmt.Sprint(c.ID, c.Attempt), err
		})
		s.counted(got, map[string]int{fmt.Sprint(script.ID(round+1), 1): 1, fmt.Sprint("", 0): 49})
	}
}

// parallelClaimsByID claims one of three tasks by its id, and the next task at the same time. Each
// task must be handed out once.
func parallelClaimsByID(s *store) {
	for round := range 3 {
		first := 3*round + 1
		s.Play("enqueue %d..%d", first, first+2)
		got := s.race(50, func(i int, q queue.Queue) (string, error) {
			if i%5 == 0 { // both handles
				c, err := s.tryClaim(q)
				return c.ID, err
			}
			c, err := s.tryClaimOf(q, first+1)
			if err == nil && c.ID != "" && c.ID != script.ID(first+1) {
				err = fmt.Errorf("got task %s, want %s", c.ID, script.ID(first+1))
			}
			return c.ID, err
		})
		s.counted(got, map[string]int{script.ID(first): 1, script.ID(first + 1): 1, script.ID(first + 2): 1, "": 47})
		s.Play("show %d..%d -> claimed attempt=1", first, first+2)
	}
}

func parallelMany(s *store) {
	const n = 60
	s.Play("enqueue 1..%d", n)
	got := s.race(n, func(_ int, q queue.Queue) (string, error) {
		c, err := q.ClaimNext(s.Context(), script.Agent, queue.ClaimOptions{Lease: script.Lease}) // there are as many tasks as claimants
		return c.ID, err
	})
	if len(got) != n {
		s.Errorf("got %d different tasks, want %d", len(got), n)
	}
	s.Play("idle")
}

// enqueueTwenty enqueues twenty tasks concurrently. One must be added; for the others, the outcome
// must be how.
func (s *store) enqueueTwenty(how queue.Outcome, task func(i int) queue.Task) {
	s.Helper()
	var tasks []queue.Task
	for i := range 20 {
		tasks = append(tasks, task(i+1))
	}
	s.counted(s.enqueueAll(tasks), map[string]int{string(queue.Added): 1, string(how): 19})
	s.Play("claim\nidle")
}

// parallelJoin claims a task while another one is coalesced into it. If Enqueue reports Coalesced,
// the claim must have the new message.
func parallelJoin(s *store) {
	for round := range 20 * *factor {
		n := 2*round + 1
		s.Play("enqueue %d coalesce", n)
		second := script.Task(n+1, fmt.Sprintf("issue=%d coalesce", n))
		second.Message = []byte(`{"new": "` + strings.Repeat("x", 1+round%8*20_000) + `"}`)
		var over atomic.Bool
		var message atomic.Value
		got := s.race(4, func(i int, q queue.Queue) (string, error) {
			if i == 0 {
				e, err := q.Enqueue(s.Context(), second)
				over.Store(true)
				return string(e.Outcome), err
			}
			for range round % 5 { // delays the claims
				s.look(n)
			}
			for last := false; !last && message.Load() == nil; {
				last = over.Load()
				claim := s.tryClaim
				if i == 2 {
					claim = func(q queue.Queue) (queue.Claim, error) { return s.tryClaimOf(q, n) }
				}
				c, err := claim(q)
				if err != nil {
					return "", err
				}
				if c.ID == script.ID(n) {
					message.Store(c.Message)
				}
			}
			return "", nil
		})
		claimed, _ := message.Load().([]byte)
		if got[string(queue.Coalesced)] > 0 && !bytes.Equal(claimed, second.Message) {
			s.Fatalf("round %d: the claim has another message than the one coalesced: %.80q", round, claimed)
		}
		for c := (queue.Claim{ID: "any"}); c.ID != ""; { // claims the second task if it was added
			var err error
			c, err = s.tryClaim(s.A)
			s.ok("ClaimNext", err)
		}
	}
}

// parallelLastClaim tries to claim a task that is out of claims, while RequeueStale fails it.
func parallelLastClaim(s *store) {
	for range 8 * *factor {
		s.Play("enqueue\nclaim\nadvance 5m1s")
		var over atomic.Bool
		got := s.race(4, func(i int, q queue.Queue) (string, error) {
			if i == 0 {
				_, err := q.RequeueStale(s.Context(), queue.Limits{Claims: 1})
				over.Store(true)
				return "", err
			}
			for last := false; !last; {
				last = over.Load()
				if c, err := s.tryClaim(q); err != nil || c.ID != "" {
					return c.ID, err
				}
			}
			return "", nil
		})
		s.counted(got, map[string]int{"": 4})
		s.Play("show -> failed")
	}
}

func parallelHourly(s *store) {
	var tasks []queue.Task
	for i := range 20 {
		tasks = append(tasks, script.Task(i, "limit=5"))
	}
	s.enqueueAll(tasks)
	s.Play(`
		repeat 3
		claim
		claim
		claim
		claim
		claim
		idle
		advance 1h1s
		end
		claim
		claim
		claim
		claim
		claim
		advance 1h1s
		idle`)
}

func parallelCompletes(s *store) {
	s.Play("enqueue 1\nclaim")
	got := s.race(30, func(i int, q queue.Queue) (string, error) {
		decision := fmt.Sprintf(`{"n":%d}`, i)
		got, err := q.Complete(s.Context(), queue.Ref{ID: script.ID(1), Attempt: i % 2}, []byte(decision))
		if !got.Accepted {
			decision = ""
		}
		return decision, err
	})
	delete(got, "")
	if len(got) != 1 {
		s.Fatalf("accepted: %v", got)
	}
	s.Play("drain -> 1 result=%s\nshow 1 -> log=29", slices.Collect(maps.Keys(got))[0])
}

// parallelRequeue sends heartbeats, claims and decisions while expired claims are requeued.
func parallelRequeue(s *store) {
	s.Play("enqueue 1")
	for range 5 {
		s.Play("claim -> 1\nadvance 5m1s")
		attempt := s.look(1).Attempt
		s.race(20, func(i int, q queue.Queue) (_ string, err error) {
			switch i % 4 {
			case 0, 1:
				_, err = q.RequeueStale(s.Context(), queue.Limits{})
			case 2:
				err = ignore(q.Heartbeat(s.Context(), queue.Ref{ID: script.ID(1), Attempt: attempt}, time.Millisecond), queue.ErrLost)
			default:
				_, err = q.ClaimNext(s.Context(), script.Agent, queue.ClaimOptions{Lease: time.Millisecond})
				err = ignore(err, queue.ErrEmpty)
			}
			return "", err
		})
		s.Play("advance 1s\nrequeue\nshow 1 -> pending")
	}
	got := s.race(20, func(_ int, q queue.Queue) (string, error) {
		got, err := q.Complete(s.Context(), queue.Ref{ID: script.ID(1)}, []byte("{}"))
		return fmt.Sprint(got.Accepted), err
	})
	s.counted(got, map[string]int{"true": 1, "false": 19})
}

// parallelIssues leases decisions repeatedly through both handles. There must never be more than
// one lease per issue, and each decision must be leased once.
func parallelIssues(s *store) {
	const n = 24
	for i := range n {
		s.Play("enqueue %[1]d issue=%[2]d\ncomplete %[1]d", i+1, 1+i%3)
	}
	e := &executor{store: s, busy: map[int]string{}, done: map[string]bool{}}
	for rounds := 0; len(e.done) < n && rounds < 10*n; rounds++ {
		s.race(8, func(_ int, q queue.Queue) (string, error) { return "", e.drain(q, e.begin) })
	}
	s.Play("stats -> states.done=%d", n)
}

func parallelRequeues(s *store) {
	const n = 20
	s.Play(`
		repeat %d
		enqueue
		claim
		end
		advance 5m1s`, n)
	for _, l := range []queue.Limits{{}, {Claims: 1}} {
		var requeued atomic.Int64
		s.race(8, func(_ int, q queue.Queue) (string, error) {
			list, err := q.RequeueStale(s.Context(), l)
			requeued.Add(int64(len(list)))
			return "", err
		})
		if requeued.Load() != n {
			s.Fatalf("%+v: got %d tasks, want %d", l, requeued.Load(), n)
		}
	}
}

// parallelCycles runs tasks from Enqueue to MarkDone, with requeues at the same time. Each task
// must be done once.
func parallelCycles(s *store) {
	const workers = 8
	each := 6 * *factor
	e := &executor{store: s, busy: map[int]string{}, done: map[string]bool{}}
	s.race(workers, func(w int, q queue.Queue) (string, error) {
		for i := range each {
			n := w*each + i + 1
			_, err := q.Enqueue(s.Context(), script.Task(n, fmt.Sprint("issue=", 1+i%5)))
			var c queue.Claim
			for tries := 0; tries < 100_000 && c.ID == "" && err == nil; tries++ { // there are as many tasks as claimants
				c, err = s.tryClaim(q)
			}
			if err != nil {
				return "", err
			}
			got, err := q.Complete(s.Context(), queue.Ref{ID: c.ID, Attempt: c.Attempt}, []byte("{}"))
			if err != nil || !got.Accepted {
				return "", fmt.Errorf("complete %q: got %+v, %w", c.ID, got, err)
			}
			_, err = q.RequeueStale(s.Context(), queue.Limits{})
			if err := errors.Join(err, e.drain(q, nil)); err != nil {
				return "", err
			}
		}
		return "", nil
	})
	for range workers * each {
		s.ok("drain", e.drain(s.B, nil))
	}
	if len(e.done) != workers*each {
		s.Errorf("got %d tasks done, want %d", len(e.done), workers*each)
	}
	s.Play("stats -> states.done=%d", workers*each)
}

// parallelBehind enqueues tasks while the task in flight of their issue ends. None of them may be
// lost, although the clock does not move.
func parallelBehind(s *store) {
	ctx := s.Context()
	ends := []func(q queue.Queue, h queue.Lease) error{
		func(q queue.Queue, h queue.Lease) error { return q.MarkDone(ctx, h, []byte("{}")) },
		func(q queue.Queue, h queue.Lease) error { return q.Fail(ctx, h, "why", nil) },
		func(q queue.Queue, h queue.Lease) error {
			return errors.Join(q.ReleaseLease(ctx, h, queue.Postponement{}), q.Cancel(ctx, queue.Seen{ID: h.ID}, "person"))
		},
		func(q queue.Queue, _ queue.Lease) error {
			for { // RequeueStale skips tasks that another caller is changing
				swept, err := q.RequeueStale(ctx, queue.Limits{Drains: 1})
				if err != nil || len(swept) > 0 {
					return err
				}
			}
		},
	}
	for round := range 12 * *factor {
		n := 4*round + 1
		s.Play("enqueue %[1]d issue=7 coalesce\nclaims %[1]d\ncomplete %[1]d\ndrain -> %[1]d", n)
		if round%len(ends) == 3 {
			s.Play("advance 5m1s")
		}
		got := s.race(4, func(i int, q queue.Queue) (string, error) {
			if i == 3 {
				return "end", ends[round%len(ends)](q, s.LeaseOf(n))
			}
			args := "issue=7 coalesce"
			if i == round%3 {
				args += " join=refuse"
			}
			got, err := q.Enqueue(ctx, script.Task(n+1+i, args))
			return string(got.Outcome), err
		})
		for range got[string(queue.Added)] {
			c, err := s.tryClaim(s.A)
			s.ok("ClaimNext", err)
			s.Play("idle")
			s.ok("Cancel", s.A.Cancel(ctx, queue.Seen{ID: c.ID}, "person"))
		}
		s.Play("idle")
	}
}

// parallelBehindTwo ends two tasks at the same time, while a third one is held back behind both.
func parallelBehindTwo(s *store) {
	for round := range 12 * *factor {
		a, b, next := 3*round+1, 3*round+2, 3*round+3
		s.Play(`
			enqueue %[1]d %[2]d issue=%[1]d
			claims %[1]d %[2]d
			B enqueue %[3]d issue=%[1]d coalesce -> behind=%[1]d ready=none
			behind %[3]d %[1]d
			complete %[1]d
			drain -> %[1]d`, a, b, next)
		s.race(2, func(i int, q queue.Queue) (string, error) {
			if i == 0 {
				return "", q.MarkDone(s.Context(), s.LeaseOf(a), []byte("{}"))
			}
			return "", q.Cancel(s.Context(), queue.Seen{ID: script.ID(b)}, "person")
		})
		s.Play("released %[1]d\ncancel %[1]d", next)
	}
}

// parallelOneInFlight enqueues and carries out tasks of a few issues through both handles. At most
// one task per issue may be in flight, and in the end each task must be done.
func parallelOneInFlight(s *store) {
	const workers, issues = 6, 3
	each := 8 * *factor
	e := &executor{store: s, busy: map[int]string{}, done: map[string]bool{}}
	var added atomic.Int64
	decide := func(q queue.Queue) error {
		c, err := s.tryClaim(q)
		if c.ID == "" {
			return err
		}
		d, err := q.Inspect(s.Context(), c.ID)
		if err != nil {
			return err
		}
		e.begin(d.Issue, c.ID)
		if got, err := q.Complete(s.Context(), queue.Ref{ID: c.ID, Attempt: c.Attempt}, []byte("{}")); err != nil || !got.Accepted {
			return fmt.Errorf("complete %s: got %+v, %w", c.ID, got, err)
		}
		return nil
	}
	s.race(workers, func(w int, q queue.Queue) (string, error) {
		for i := range each {
			n := w*each + i + 1
			args := fmt.Sprintf("issue=%d coalesce", 1+i%issues)
			if i%2 == 0 {
				args += " join=refuse"
			}
			got, err := q.Enqueue(s.Context(), script.Task(n, args))
			if got.Outcome == queue.Added {
				added.Add(1)
			}
			if err := errors.Join(err, decide(q), e.drain(q, nil)); err != nil {
				return "", err
			}
		}
		return "", nil
	})
	for range workers * each {
		s.ok("decide", decide(s.A))
		s.ok("drain", e.drain(s.B, nil))
	}
	if len(e.done) != int(added.Load()) {
		s.Fatalf("got %d tasks done, want %d", len(e.done), added.Load())
	}
}
