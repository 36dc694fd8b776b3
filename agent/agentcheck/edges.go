package agentcheck

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/org/foreman-action/internal/address"
	"github.com/org/foreman-action/internal/wait"
)

// startChecks are made before anything is asked.
func startChecks() []check {
	return []check{
		{"health", "", true, "GET /health answers 200 soon after the start", checkHealth},
		{"startup-drain", Queue, true, "tasks that waited before the start are claimed without a nudge, one after the other until 204", checkDrain},
	}
}

// endChecks look at everything that happened, and at the end of the agent.
func endChecks() []check {
	return []check{
		{"task-id", Queue, true, "heartbeats and decisions are for tasks that it claimed, requests have the right form", checkProblems},
		{"agent-url", Queue, true, "it claims under its own address, AGENT_URL", checkAgentURL},
		{"credentials", Queue, false, "it sends the userinfo of FOREMAN_HARNESS_URL as Basic auth", checkCredentials},
		{"once", Queue, true, "each task is decided on once", checkOnce},
		{"abandoned", Queue, true, "each task that it claimed gets a decision", checkAbandoned},
		{"heartbeat", Queue, true, "it sends heartbeats while a task takes long, also after one that failed", checkHeartbeat},
		{"actions", "", true, "actions are of known types, with the parameters that they need", checkActions},
		{"result", Queue, false, "a decision is followed by POST /harness/result", checkResult},
		{"shutdown", "", true, "it ends by itself when it is asked to, and has nothing in hand then", checkShutdown},
	}
}

func checkHealth(ctx context.Context, s *session) outcome {
	wrong := ""
	// Published agents are not there before they are done with what waited.
	ok := s.poll(ctx, s.o.Patience*time.Duration(1+len(s.early)), func() bool { wrong = s.healthy(ctx); return wrong == "" })
	if !ok {
		s.dead = "the agent is not there, or not healthy"
		return bad("%s", wrong)
	}
	return good("")
}

// poll asks again and again, for d at most, for what the agent does not tell.
func (s *session) poll(ctx context.Context, d time.Duration, ok func() bool) bool {
	end := time.Now().Add(d)
	for ctx.Err() == nil {
		if ok() {
			return true
		}
		if !time.Now().Before(end) {
			break
		}
		_ = wait.For(ctx, min(200*time.Millisecond, s.o.Patience/10))
	}
	return false
}

func checkDrain(ctx context.Context, s *session) outcome {
	if len(s.early) == 0 {
		return skipped("the agent was not started by the kit, or has no queue to look into")
	}
	open := len(s.early)
	if s.h.wait(ctx, s.o.Patience, func() bool {
		open = 0
		for _, e := range s.early {
			if !e.settled() {
				open++
			}
		}
		return open == 0
	}) {
		return good("")
	}
	s.h.mu.Lock()
	defer s.h.mu.Unlock()
	if s.o.Wire == "" && s.h.claims == 0 {
		s.drop(s.early)
		return skipped("it claims nothing: it may speak the other form of the wire only")
	}
	got := bad("%d of %d tasks were left waiting after the start (%d claims)", open, len(s.early), s.h.claims)
	s.drop(s.early)
	return got
}

// drop takes tasks out of the queue that must not get in the way of the next check.
// The harness is locked.
func (s *session) drop(list []*entry) {
	s.h.tasks = slices.DeleteFunc(s.h.tasks, func(e *entry) bool { return slices.Contains(list, e) && e.claimed.IsZero() })
}

func checkProblems(_ context.Context, s *session) outcome {
	s.h.mu.Lock()
	defer s.h.mu.Unlock()
	if s.h.requests == 0 {
		return skipped("no request came to the harness")
	}
	worst, n := "", 0
	for text, times := range s.h.problems {
		if times > n || times == n && text < worst {
			worst, n = text, times
		}
	}
	if n > 0 {
		more := ""
		if len(s.h.problems) > 1 {
			more = fmt.Sprintf(", and %d other mistakes", len(s.h.problems)-1)
		}
		return bad("%s (%d times%s)", worst, n, more)
	}
	return good("%d requests", s.h.requests)
}

func checkAgentURL(_ context.Context, s *session) outcome {
	s.h.mu.Lock()
	defer s.h.mu.Unlock()
	if len(s.h.agents) == 0 {
		return skipped("it claimed nothing")
	}
	for _, raw := range s.h.agents {
		if got, err := address.Canonical(raw); err != nil || got != s.agent {
			return bad("it claims as %q, and is asked at %s", short(raw), s.agent)
		}
	}
	return good("")
}

func checkCredentials(_ context.Context, s *session) outcome {
	s.h.mu.Lock()
	defer s.h.mu.Unlock()
	switch {
	case s.h.requests == 0:
		return skipped("no request came to the harness")
	case s.h.authed < s.h.requests:
		return bad("%d of %d requests came without", s.h.requests-s.h.authed, s.h.requests)
	}
	return good("")
}

func checkOnce(_ context.Context, s *session) outcome {
	s.h.mu.Lock()
	defer s.h.mu.Unlock()
	n := 0
	for _, e := range s.h.tasks {
		if len(e.decisions) > 1 && !e.lost {
			return bad("on one task it sent %d decisions, although the first was taken", len(e.decisions))
		}
		n += len(e.decisions)
	}
	if n == 0 {
		return skipped("it decided on nothing")
	}
	return good("%d decisions", n)
}

func checkAbandoned(ctx context.Context, s *session) outcome {
	open := func() (n int) {
		for _, e := range s.h.tasks {
			if !e.claimed.IsZero() && !e.settled() && !e.excused {
				n++
			}
		}
		return n
	}
	s.h.wait(ctx, s.o.Patience, func() bool { return open() == 0 })
	s.h.mu.Lock()
	defer s.h.mu.Unlock()
	if n := open(); n > 0 {
		return bad("%d tasks that it claimed were never decided on; they come back only when the claim runs out", n)
	}
	if s.h.claims == 0 {
		return skipped("it claimed nothing")
	}
	return good("")
}

func checkHeartbeat(_ context.Context, s *session) outcome {
	s.h.mu.Lock()
	defer s.h.mu.Unlock()
	var longest, slowest time.Duration
	beats := 0
	for _, e := range s.h.tasks {
		if e.claimed.IsZero() || len(e.decisions) == 0 {
			continue
		}
		last := e.claimed
		for _, at := range append(slices.Clone(e.beats), e.decisions[0].at) {
			longest, last = max(longest, at.Sub(last)), at
		}
		slowest = max(slowest, e.decisions[0].at.Sub(e.claimed))
		beats += len(e.beats)
	}
	switch {
	case longest > s.h.lease:
		return bad("a task took %v, and for %v of that no heartbeat came (%d in all); the claim lasts %v", round(slowest), round(longest), beats, s.h.lease)
	case beats == 0:
		return skipped("no task took long enough: the slowest one %v, and a claim lasts %v", round(slowest), s.h.lease)
	}
	return good("%d heartbeats, %v apart at most", beats, round(longest))
}

func round(d time.Duration) time.Duration { return d.Round(10 * time.Millisecond) }

func checkActions(_ context.Context, s *session) outcome {
	s.h.mu.Lock()
	defer s.h.mu.Unlock()
	all, n := slices.Clone(s.answers), 0
	for _, e := range s.h.tasks {
		for _, d := range e.decisions {
			all = append(all, d.message)
		}
	}
	for _, d := range all {
		if wrong := wrongAction(d); wrong != "" {
			return bad("%s", wrong)
		}
		n += len(d.Actions)
	}
	if n == 0 {
		return skipped("no decision had an action")
	}
	return good("%d actions", n)
}

func checkResult(_ context.Context, s *session) outcome {
	s.h.mu.Lock()
	defer s.h.mu.Unlock()
	n := 0
	for _, e := range s.h.tasks {
		n += len(e.decisions)
	}
	switch {
	case n == 0:
		return skipped("it decided on nothing")
	case s.h.results == 0:
		return bad("%d decisions, and no word of a result: the published harness carries them out up to 10 s later", n)
	}
	return good("")
}

func checkShutdown(ctx context.Context, s *session) outcome {
	if s.stop == nil {
		return skipped("the agent was not started by the kit")
	}
	ctx, cancel := context.WithTimeout(ctx, s.o.Patience)
	defer cancel()
	err := s.stop(ctx)
	s.stop = func(context.Context) error { return nil }
	if err != nil {
		return bad("%s", short(err.Error()))
	}
	return good("")
}
