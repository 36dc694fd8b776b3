package agentcheck

import (
	"context"
	"time"
)

// startChecks returns the checks that are made before any nudge or task is sent to the agent.
func startChecks() []check {
	return []check{
		{"health", "", true, "GET /health answers 200 soon after the start", checkHealth},
		{"startup-drain", Queue, true, "tasks that waited before the start are claimed without a nudge, one after the other until 204", checkStartupDrain},
	}
}

// endChecks returns the checks that are made at the end.
func endChecks() []check {
	return []check{{"shutdown", "", true, "the agent exits when it is asked to (SIGTERM), and leaves no claimed task without a decision", checkShutdown}}
}

func checkHealth(ctx context.Context, s *session) outcome {
	wrong := ""
	// Published agents answer no requests until they have completed the waiting tasks.
	ok := s.poll(ctx, s.patience*time.Duration(1+len(s.waiting)), func() bool { wrong = s.agent.health(ctx); return wrong == "" })
	if !ok {
		return bad("%s", wrong).stopping("the agent is not reachable, or not healthy")
	}
	return good("")
}

func checkStartupDrain(ctx context.Context, s *session) outcome {
	if len(s.waiting) == 0 {
		return skipped("the agent was not started by the kit, or has no queue")
	}
	open := len(s.waiting)
	if s.harness.wait(ctx, s.patience, func() bool {
		open = 0
		for _, e := range s.waiting {
			if !e.settled() {
				open++
			}
		}
		return open == 0
	}) {
		return good("")
	}
	claims := s.harness.record().claims
	s.harness.drop(s.waiting...)
	if s.wire == "" && claims == 0 {
		return skipped("it claims nothing; it may support only the other wire form")
	}
	return bad("%d of %d tasks were left waiting after the start (%d claims)", open, len(s.waiting), claims)
}

func checkShutdown(ctx context.Context, s *session) outcome {
	if s.end == nil {
		return skipped("the agent was not started by the kit")
	}
	ctx, cancel := context.WithTimeout(ctx, s.patience)
	defer cancel()
	end := s.end
	s.end = func(context.Context) error { return nil } // the agent is ended only once
	if err := end(ctx); err != nil {
		return bad("%s", short(err.Error()))
	}
	return good("")
}
