package queuetest

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/queue/internal/script"
)

func pauseCases() []Case {
	return []Case{
		function("many tasks", pauseMany),
		function("two people", pauseTwoPeople),
		function("parallel: nothing is handed out after a pause", pauseHolds),
		function("parallel: all calls at once", pauseAllCalls),
	}
}

func repository(name string) queue.Scope { return queue.Scope{Kind: queue.ScopeRepo, Name: name} }

// pauseMany pauses more tasks than an implementation is likely to change at once. Tasks behind them
// are handed out, and after the pause all of them, in their order.
func pauseMany(s *store) {
	const n = 2500
	for i := 1; i <= n; i++ {
		t := script.Task(i, "")
		t.Priority = i % 3
		_, err := s.A.Enqueue(s.Context(), t)
		s.ok("Enqueue", err)
	}
	s.Play("enqueue %d %d repo=org/other", n+1, n+2)
	s.Play("pause repository name=org/repo -> paused held=%d", queue.MaxHeld)
	s.Play(`
		claim -> %d
		complete %[1]d
		drain -> %[1]d
		B claim -> %d
		idle
		idle
		stats -> states.pending=%d
		backlog -> 0`, n+1, n+2, n)
	for i := 1; i <= 1200; i++ {
		_, err := s.B.Complete(s.Context(), queue.Ref{ID: script.ID(i)}, []byte("{}"))
		s.ok("Complete", err)
	}
	s.Play("drain -> none\nB drain -> none\nresume repository name=org/repo")
	last := [3]int{1200, 1200, 1200}
	for range n - 1200 {
		c, err := s.tryClaim(s.A)
		s.ok("ClaimNext", err)
		var got int
		if _, err := fmt.Sscanf(c.ID[len(c.ID)-12:], "%d", &got); err != nil {
			s.Fatalf("claimed %q: %v", c.ID, err)
		}
		for p := range 3 {
			if p < got%3 && last[p] > 1200 || p == got%3 && got <= last[p] {
				s.Fatalf("claimed task %d with priority %d after task %d with priority %d", got, got%3, last[p], p)
			}
		}
		last[got%3] = got
	}
	list, err := s.B.LeaseDecisions(s.Context(), queue.DrainOptions{Lease: script.Lease, Limit: 1200})
	s.ok("LeaseDecisions", err)
	for i, d := range list {
		if d.ID != script.ID(i+1) {
			s.Fatalf("decision %d is of task %s", i+1, d.ID)
		}
	}
	s.Play("B pauses -> none")
}

// pauseTwoPeople pauses and resumes one scope concurrently. Each pause has one end.
func pauseTwoPeople(s *store) {
	for range 10 * *factor {
		begun, ended := atomic.Int64{}, atomic.Int64{}
		s.race(8, func(i int, q queue.Queue) (string, error) {
			p := []queue.Pauses{s.PausesA, s.PausesB}[i%2]
			if i%4 < 2 {
				_, already, err := p.Pause(s.Context(), repository("org/repo"), fmt.Sprint("person ", i), "why")
				if err == nil && !already {
					begun.Add(1)
				}
				return "", ignore(err, queue.ErrUnavailable)
			}
			_, found, err := p.Resume(s.Context(), repository("org/repo"))
			if err == nil && found {
				ended.Add(1)
			}
			return "", err
		})
		_, found, err := s.PausesA.Resume(s.Context(), repository("org/repo"))
		s.ok("Resume", err)
		if found {
			ended.Add(1)
		}
		if begun.Load() != ended.Load() {
			s.Fatalf("%d pauses began, %d ended", begun.Load(), ended.Load())
		}
		s.Play("pauses -> none")
	}
}

// pauseHolds claims tasks and leases decisions concurrently, with a pause in between. No call that
// begins after Pause has returned may hand anything out.
func pauseHolds(s *store) {
	scopes := []queue.Scope{{Kind: queue.ScopeEverything}, repository("org/repo"), {Kind: queue.ScopeAgent, Name: script.Agent}}
	for round := range 6 * *factor {
		first := 40*round + 1
		for i := first; i < first+40; i++ {
			_, err := s.A.Enqueue(s.Context(), script.Task(i, ""))
			s.ok("Enqueue", err)
			if i%2 == 0 {
				_, err := s.A.Complete(s.Context(), queue.Ref{ID: script.ID(i)}, []byte("{}"))
				s.ok("Complete", err)
			}
		}
		var paused atomic.Bool
		scope := scopes[round%len(scopes)]
		s.race(7, func(i int, q queue.Queue) (string, error) {
			if i == 6 {
				_, _, err := s.PausesA.Pause(s.Context(), scope, "person", "")
				paused.Store(true)
				return "", err
			}
			for range 12 {
				held := paused.Load()
				var n int
				if i < 3 {
					c, err := s.tryClaim(q)
					if err != nil {
						return "", err
					}
					if c.ID != "" {
						n++
					}
				} else {
					list, err := q.LeaseDecisions(s.Context(), queue.DrainOptions{Lease: script.Lease, Limit: 1})
					if err != nil {
						return "", err
					}
					n += len(list)
				}
				if held && n > 0 {
					return "", fmt.Errorf("something was handed out during the pause of %s", scope)
				}
			}
			return "", nil
		})
		_, found, err := s.PausesB.Resume(s.Context(), scope)
		if s.ok("Resume", err); !found {
			s.Fatalf("%s was not paused", scope)
		}
	}
}

// pauseAllCalls is parallelAllCalls while people pause and resume. In the end, after all pauses
// have ended, every task can be decided and carried out.
func pauseAllCalls(s *store) {
	a := &allCalls{store: s}
	rounds := 6**factor + 1
	scopes := []queue.Scope{{Kind: queue.ScopeEverything}, {Kind: queue.ScopeRules}, {Kind: queue.ScopeAgent, Name: script.Agent}, repository("org/repo"), repository("org/other")}
	s.race(callers, func(caller int, q queue.Queue) (string, error) {
		p := []queue.Pauses{s.PausesA, s.PausesB}[caller%2]
		for round := range rounds {
			n := caller*rounds + round
			for i, call := range a.calls(q, n) {
				a.check(i, call())
				scope := scopes[(n+i)%len(scopes)]
				var err error
				if (n+i/2)%2 == 0 {
					_, _, err = p.Pause(s.Context(), scope, "person", "")
				} else {
					_, _, err = p.Resume(s.Context(), scope)
				}
				a.check(100+i, ignore(err, queue.ErrUnavailable))
			}
			s.Clock.Advance(time.Second)
		}
		return "", nil
	})
	for _, scope := range scopes {
		_, _, err := s.PausesB.Resume(s.Context(), scope)
		s.ok("Resume", err)
	}
	s.finishAll()
}

// finishAll decides and carries out all tasks that have not ended.
func (s *store) finishAll() {
	s.Helper()
	for range 100 {
		s.Clock.Advance(time.Hour)
		_, err := s.A.RequeueStale(s.Context(), queue.Limits{})
		s.ok("RequeueStale", err)
		for claimed := true; claimed; {
			c, err := s.tryClaim(s.B)
			s.ok("ClaimNext", err)
			if claimed = c.ID != ""; claimed {
				_, err := s.A.Complete(s.Context(), queue.Ref{ID: c.ID, Attempt: c.Attempt}, []byte("{}"))
				s.ok("Complete", err)
			}
		}
		list, err := s.A.LeaseDecisions(s.Context(), queue.DrainOptions{Lease: script.Lease, Limit: 100})
		s.ok("LeaseDecisions", err)
		for _, d := range list {
			s.ok("MarkDone", s.B.MarkDone(s.Context(), d.Lease, nil))
		}
		stats, err := s.B.Stats(s.Context())
		s.ok("Stats", err)
		if stats.States[queue.Pending]+stats.States[queue.Claimed]+stats.States[queue.Completed] == 0 {
			return
		}
	}
	s.Fatal("tasks were left that cannot be handed out")
}
