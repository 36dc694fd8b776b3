package agentcheck

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/org/foreman-action/internal/address"
)

// recordChecks returns the checks that compare the recorded requests with the rules of the
// protocol.
func recordChecks() []check {
	return []check{
		{"task-id", Queue, true, "heartbeats and decisions are for tasks that it claimed, requests have the right form", fromRecord(checkProblems)},
		{"agent-url", Queue, true, "it claims under its own address, AGENT_URL", checkAgentURL},
		{"credentials", Queue, false, "it sends the userinfo of FOREMAN_HARNESS_URL as Basic auth", fromRecord(checkCredentials)},
		{"once", Queue, true, "each task is decided on once", fromRecord(checkOnce)},
		{"abandoned", Queue, true, "each task that it claimed gets a decision", checkAbandoned},
		{"heartbeat", Queue, true, "it sends heartbeats during a long task, also after a failed heartbeat", fromRecord(checkHeartbeat)},
		{"actions", "", true, "actions are of known types, with the parameters that they need", fromRecord(checkActions)},
		{"result", Queue, false, "a decision is followed by POST /harness/result", fromRecord(checkResult)},
	}
}

// fromRecord returns a check that needs only the record.
func fromRecord(judge func(record) outcome) func(context.Context, *session) outcome {
	return func(_ context.Context, s *session) outcome { return judge(s.harness.record()) }
}

func checkProblems(r record) outcome {
	if r.requests == 0 {
		return skipped("the harness received no request")
	}
	worst, n := "", 0
	for text, times := range r.problems {
		if times > n || times == n && text < worst {
			worst, n = text, times
		}
	}
	if n > 0 {
		more := ""
		if len(r.problems) > 1 {
			more = fmt.Sprintf(", and %d other mistakes", len(r.problems)-1)
		}
		return bad("%s (%d times%s)", worst, n, more)
	}
	return good("%d requests", r.requests)
}

func checkAgentURL(_ context.Context, s *session) outcome {
	r := s.harness.record()
	if len(r.agents) == 0 {
		return skipped("it claimed nothing")
	}
	for _, raw := range r.agents {
		if got, err := address.Canonical(raw); err != nil || got != s.agent.url {
			return bad("it claims as %q, but its address is %s", short(raw), s.agent.url)
		}
	}
	return good("")
}

func checkCredentials(r record) outcome {
	switch {
	case r.requests == 0:
		return skipped("the harness received no request")
	case r.authed < r.requests:
		return bad("%d of %d requests came without it", r.requests-r.authed, r.requests)
	}
	return good("")
}

func checkOnce(r record) outcome {
	for _, e := range r.tasks {
		if len(e.decisions) > 1 && !e.lost {
			return bad("on one task it sent %d decisions, although the first was taken", len(e.decisions))
		}
	}
	if r.decisions() == 0 {
		return skipped("it decided on nothing")
	}
	return good("%d decisions", r.decisions())
}

func checkAbandoned(ctx context.Context, s *session) outcome {
	s.harness.wait(ctx, s.patience, func() bool { return !slices.ContainsFunc(s.harness.tasks, (*entry).open) })
	r, open := s.harness.record(), 0
	for _, e := range r.tasks {
		if e.open() {
			open++
		}
	}
	if open > 0 {
		return bad("it claimed %d tasks without deciding on them; they are requeued only when the claim expires", open)
	}
	if r.claims == 0 {
		return skipped("it claimed nothing")
	}
	return good("")
}

func checkHeartbeat(r record) outcome {
	var longest, slowest time.Duration
	beats := 0
	for _, e := range r.tasks {
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
	case longest > r.lease:
		return bad("a task took %v, and for %v of that no heartbeat came (%d in all); the claim lasts %v", round(slowest), round(longest), beats, r.lease)
	case beats == 0:
		return skipped("no task took long enough: the slowest one %v, and a claim lasts %v", round(slowest), r.lease)
	}
	return good("%d heartbeats, %v apart at most", beats, round(longest))
}

func round(d time.Duration) time.Duration { return d.Round(10 * time.Millisecond) }

func checkActions(r record) outcome {
	all, n := slices.Clone(r.answers), 0
	for _, e := range r.tasks {
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

func checkResult(r record) outcome {
	switch n := r.decisions(); {
	case n == 0:
		return skipped("it decided on nothing")
	case r.results == 0:
		return bad("%d decisions without POST /harness/result: the published harness carries them out up to 10 s later", n)
	}
	return good("")
}
