package agentcheck

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/org/foreman-action/protocol"
)

// queueChecks returns the checks for an agent that claims its tasks.
func queueChecks() []check {
	list := []check{
		{"nudge-answer", Queue, true, "POST /task {\"task_id\"} is answered with 202 within 5 s, before the work is done", checkNudge},
		{"claim", Queue, true, "a nudge makes it claim the task", checkClaim},
		{"decision", Queue, true, "the decision has the task's id, one of the four decisions, a rationale and a list of actions", checkDecision},
		{"empty-queue", Queue, true, "after 204 (no task), the agent stays ready, decides nothing, and does not poll in a loop", checkEmptyQueue},
		{"duplicate-nudge", Queue, true, "two nudges for one task give one decision", checkDuplicateNudge},
		{"burst", Queue, true, "five tasks and five nudges at once give five decisions", checkBurst},
		{"lost-claim", Queue, true, "after 409 (claim lost), the agent drops the task and takes the next one", checkLostClaim},
		{"harness-error", Queue, true, "after status 503 from the harness, the agent works at the next nudge", checkHarnessError},
		{"complete-error", Queue, false, "a decision that the harness could not take (503) is sent again", checkCompleteError},
		{"malformed-nudge", Queue, true, "a body that is not a nudge is answered with 4xx, and the agent stays healthy", checkMalformedNudge},
	}
	for _, t := range taskChecks() {
		list = append(list, check{t.id, Queue, t.must, t.want, func(ctx context.Context, s *session) outcome { return t.run(ctx, s, decideQueued) }})
	}
	return list
}

func checkNudge(ctx context.Context, s *session) outcome {
	e := s.enqueue()
	status, err := s.agent.nudge(ctx, e.task.TaskID)
	switch {
	case err != nil:
		return bad("POST /task: %s", s.agent.reason(err))
	case status != http.StatusAccepted:
		return bad("POST /task: status %d", status)
	}
	return good("")
}

func checkClaim(ctx context.Context, s *session) outcome {
	e := s.harness.last() // the task of checkNudge
	if !s.harness.wait(ctx, s.patience, func() bool { return !e.claimed.IsZero() }) {
		got := fmt.Sprintf("%d claims, and none after the nudge within %v", s.harness.record().claims, s.patience)
		if _, err := s.decide(ctx, newTask(nil)); err == nil {
			got += "; it answers whole tasks: check it with --wire sync, and configure it with protocol: sync"
		}
		return bad("%s", got).stopping("it claims no task")
	}
	return good("")
}

func checkDecision(ctx context.Context, s *session) outcome {
	e := s.harness.last()
	if s.decided(ctx, e) {
		return good("%s", s.harness.read(e).decisions[0].message.Decision)
	}
	return bad("%s", s.missing(e)).stopping("it sends no decision")
}

func checkEmptyQueue(ctx context.Context, s *session) outcome {
	s.rest(ctx)
	before := s.harness.record().claims
	_, _ = s.agent.nudge(ctx, unknownTask)
	s.rest(ctx)
	if wrong := s.agent.health(ctx); wrong != "" {
		return bad("after 204 %s", wrong)
	}
	n := s.harness.record().claims - before
	if n > 20 {
		return bad("after 204 it asked %d times within %v", n, s.quiet())
	}
	if !s.handle(ctx) {
		return bad("after 204 the next task got no decision")
	}
	return good("%d claims", n)
}

func checkDuplicateNudge(ctx context.Context, s *session) outcome {
	e := s.enqueue()
	s.nudge(ctx, e)
	s.nudge(ctx, e)
	if !s.decided(ctx, e) {
		return bad("%s", s.missing(e))
	}
	s.rest(ctx)
	if n := len(s.harness.read(e).decisions); n != 1 {
		return bad("%d decisions came", n)
	}
	return good("")
}

func checkBurst(ctx context.Context, s *session) outcome {
	var list []*entry
	for range 5 {
		list = append(list, s.enqueue())
	}
	for _, e := range list {
		s.nudge(ctx, e)
	}
	open := 0
	for _, e := range list {
		if !s.decided(ctx, e) {
			open++
		}
	}
	if open > 0 {
		s.harness.drop(list...)
		return bad("%d of 5 tasks got no decision", open)
	}
	return good("")
}

func checkLostClaim(ctx context.Context, s *session) outcome {
	if !s.harness.record().attempts {
		return skipped("it does not send back the attempt of its claim, so it never receives 409; see docs/write-an-agent.md")
	}
	e := s.enqueue()
	s.harness.update(e, func(e *entry) { e.lost, e.excused = true, true })
	s.nudge(ctx, e)
	if !s.harness.wait(ctx, s.patience, func() bool { return len(e.decisions)+len(e.beats) > 0 }) {
		return bad("it did nothing with the task")
	}
	s.rest(ctx)
	s.rest(ctx)
	if n := len(s.harness.read(e).decisions); n > 1 {
		return bad("it sent its decision %d times after 409", n)
	}
	if !s.handle(ctx) {
		return bad("after 409 the next task got no decision")
	}
	return good("")
}

func checkHarnessError(ctx context.Context, s *session) outcome {
	s.harness.fault("/queue/next", http.StatusServiceUnavailable)
	e := s.enqueue()
	s.nudge(ctx, e)
	if s.harness.wait(ctx, s.patience, func() bool { return len(s.harness.faults["/queue/next"]) == 0 }) {
		s.rest(ctx)
		s.nudge(ctx, e)
	}
	if !s.decided(ctx, e) {
		return bad("the task got no decision; %s", s.health(ctx)).stopping("it takes no more tasks after 503")
	}
	return good("")
}

func checkCompleteError(ctx context.Context, s *session) outcome {
	s.harness.fault("/queue/complete", http.StatusServiceUnavailable)
	e := s.enqueue()
	s.harness.update(e, func(e *entry) { e.excused = true })
	s.nudge(ctx, e)
	if !s.decided(ctx, e) {
		return bad("it did not send the decision again; the task is requeued when its claim expires, and costs twice")
	}
	return good("")
}

func checkMalformedNudge(ctx context.Context, s *session) outcome {
	if wrong := s.rejects(ctx, `{}`, `[]`, `null`, `{"task_id":7}`, `{"task_id":`, ``, "\xff\xfe"); wrong != "" {
		return bad("%s", wrong)
	}
	status, err := s.agent.post(ctx, []byte(`{"x":"`+strings.Repeat(" ", 1<<20)+`"}`))
	if err == nil && status < 400 {
		return bad("POST /task with 1 MB that is not a nudge: status %d", status)
	}
	return s.stillHealthy(ctx)
}

// decideQueued makes the agent claim a task and decide on it.
func decideQueued(ctx context.Context, s *session, task protocol.TaskMessage) (protocol.DecisionMessage, error) {
	e := s.harness.add(task)
	s.nudge(ctx, e)
	if !s.decided(ctx, e) {
		s.harness.update(e, func(e *entry) { e.excused = true }) // this check reports it
		s.harness.drop(e)
		return protocol.DecisionMessage{}, errors.New(s.missing(e))
	}
	return s.harness.read(e).decisions[0].message, nil
}
