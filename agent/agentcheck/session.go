package agentcheck

import (
	"context"
	"fmt"
	"time"

	"github.com/org/foreman-action/internal/wait"
	"github.com/org/foreman-action/protocol"
)

// A session contains the agent and the kit's harness during the checks.
type session struct {
	agent    *client
	harness  *harness
	wire     string // Queue or Sync; empty: not known
	patience time.Duration
	now      func() time.Time
	waiting  []*entry                    // tasks that were added before the agent was started
	end      func(context.Context) error // ends the agent; nil: the kit did not start it
}

// enqueue adds a new task.
func (s *session) enqueue() *entry {
	return s.harness.add(newTask(nil))
}

// nudge sends the agent the id of a task.
func (s *session) nudge(ctx context.Context, e *entry) { _, _ = s.agent.nudge(ctx, e.task.TaskID) }

// decided waits for the first decision on a task, and reports whether it arrived.
func (s *session) decided(ctx context.Context, e *entry) bool {
	return s.harness.wait(ctx, s.patience, e.settled) && len(s.harness.read(e).decisions) > 0
}

// handle adds a task, nudges the agent, and reports whether a decision arrived.
func (s *session) handle(ctx context.Context) bool {
	e := s.enqueue()
	s.nudge(ctx, e)
	return s.decided(ctx, e)
}

// missing returns why there is no decision on a task.
func (s *session) missing(e *entry) string {
	if refused := s.harness.read(e).refused; refused != "" {
		return refused
	}
	return fmt.Sprintf("no decision came within %v", s.patience)
}

// rejects checks that the agent answers each body with a 4xx status. It returns the first other
// answer; empty: none.
func (s *session) rejects(ctx context.Context, bodies ...string) string {
	for _, body := range bodies {
		status, err := s.agent.post(ctx, []byte(body))
		if err != nil {
			return fmt.Sprintf("POST /task %s: %s", short(body), s.agent.reason(err))
		}
		if status < 400 || status > 499 {
			return fmt.Sprintf("POST /task %s: status %d", short(body), status)
		}
	}
	return ""
}

// stillHealthy is the outcome of a check after which the agent must be healthy.
func (s *session) stillHealthy(ctx context.Context) outcome {
	if wrong := s.agent.health(ctx); wrong != "" {
		return bad("afterwards %s", wrong)
	}
	return good("")
}

// health describes whether the agent is healthy.
func (s *session) health(ctx context.Context) string {
	if wrong := s.agent.health(ctx); wrong != "" {
		return wrong
	}
	return "it is healthy"
}

// quiet returns how long the kit waits before it concludes that no more requests arrive.
func (s *session) quiet() time.Duration { return min(time.Second, s.patience/4) }

// rest waits for the quiet time.
func (s *session) rest(ctx context.Context) { _ = wait.For(ctx, s.quiet()) }

// poll calls ok repeatedly until it returns true, for d at most.
func (s *session) poll(ctx context.Context, d time.Duration, ok func() bool) bool {
	end := s.now().Add(d)
	for ctx.Err() == nil {
		if ok() {
			return true
		}
		if !s.now().Before(end) {
			break
		}
		_ = wait.For(ctx, min(200*time.Millisecond, s.patience/10))
	}
	return false
}

// decide sends the agent a whole task, and records its decision.
func (s *session) decide(ctx context.Context, task protocol.TaskMessage) (protocol.DecisionMessage, error) {
	d, err := s.agent.decide(ctx, task)
	if err == nil {
		s.harness.answered(d)
	}
	return d, err
}
