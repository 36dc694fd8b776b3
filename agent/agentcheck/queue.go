package agentcheck

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/org/foreman-action/protocol"
)

// queueChecks are made with an agent that claims its tasks.
func queueChecks() []check {
	list := []check{
		{"nudge-answer", Queue, true, "POST /task {\"task_id\"} is answered with 202 within 5 s, before the work is done", checkNudge},
		{"claim", Queue, true, "a nudge makes it claim the task", checkClaim},
		{"decision", Queue, true, "the decision has the task's id, one of the four decisions, a rationale and a list of actions", checkDecision},
		{"empty-queue", Queue, true, "204 means that there is no task: it goes on, decides nothing, and does not ask without end", checkEmpty},
		{"duplicate-nudge", Queue, true, "two nudges for one task are one task", checkDuplicate},
		{"burst", Queue, true, "five tasks and five nudges at once are five decisions", checkBurst},
		{"lost-claim", Queue, true, "409 means that the task is not its own any more: it drops it and goes on", checkLost},
		{"harness-error", Queue, true, "status 503 from the harness does not end it: it works at the next nudge", checkHarnessError},
		{"complete-error", Queue, false, "a decision that the harness could not take (503) is sent again", checkCompleteError},
		{"malformed-nudge", Queue, true, "a body that is no nudge is answered with 4xx, and it stays healthy", checkMalformed},
	}
	for _, t := range taskChecks() {
		list = append(list, check{t.id, Queue, t.must, t.want, func(ctx context.Context, s *session) outcome { return t.look(ctx, s, overQueue) }})
	}
	return list
}

func checkNudge(ctx context.Context, s *session) outcome {
	e := s.give()
	status, _, err := s.post(ctx, nudgeOf(e.task.TaskID))
	switch {
	case err != nil:
		return bad("POST /task: %s", s.why(err))
	case status != http.StatusAccepted:
		return bad("POST /task: status %d", status)
	}
	return good("")
}

func checkClaim(ctx context.Context, s *session) outcome {
	e := s.last() // of checkNudge
	if !s.h.wait(ctx, s.o.Patience, func() bool { return !e.claimed.IsZero() }) {
		s.dead = "it claims no task"
		s.h.mu.Lock()
		defer s.h.mu.Unlock()
		return bad("%d claims, and none after the nudge within %v", s.h.claims, s.o.Patience)
	}
	return good("")
}

func checkDecision(ctx context.Context, s *session) outcome {
	e := s.last()
	if s.decided(ctx, e) {
		return good("%s", s.first(e).Decision)
	}
	s.dead = "it gives no decision"
	return bad("%s", s.missing(e))
}

// missing says why there is no decision on a task.
func (s *session) missing(e *entry) string {
	text := fmt.Sprintf("no decision came within %v", s.o.Patience)
	s.mark(func() {
		if e.refused != "" {
			text = e.refused
		}
	})
	return text
}

func checkEmpty(ctx context.Context, s *session) outcome {
	s.rest(ctx)
	s.h.mu.Lock()
	before := s.h.claims
	s.h.mu.Unlock()
	s.nudge(ctx, &entry{task: protocol.TaskMessage{TaskID: nobody}})
	s.rest(ctx)
	if wrong := s.healthy(ctx); wrong != "" {
		return bad("after 204 %s", wrong)
	}
	s.h.mu.Lock()
	n := s.h.claims - before
	s.h.mu.Unlock()
	if n > 20 {
		return bad("after 204 it asked %d times within %v", n, s.quiet())
	}
	if !s.handle(ctx) {
		return bad("after 204 the next task got no decision")
	}
	return good("%d claims", n)
}

func checkDuplicate(ctx context.Context, s *session) outcome {
	e := s.give()
	s.nudge(ctx, e)
	s.nudge(ctx, e)
	if !s.decided(ctx, e) {
		return bad("%s", s.missing(e))
	}
	s.rest(ctx)
	s.h.mu.Lock()
	defer s.h.mu.Unlock()
	if n := len(e.decisions); n != 1 {
		return bad("%d decisions came", n)
	}
	return good("")
}

func checkBurst(ctx context.Context, s *session) outcome {
	var list []*entry
	for range 5 {
		list = append(list, s.give())
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
		s.h.mu.Lock()
		defer s.h.mu.Unlock()
		s.drop(list)
		return bad("%d of 5 tasks got no decision", open)
	}
	return good("")
}

func checkLost(ctx context.Context, s *session) outcome {
	s.h.mu.Lock()
	attempts := s.h.attempts
	s.h.mu.Unlock()
	if !attempts {
		return skipped("it does not send the attempt of its claim back, so it is never told; see docs/write-an-agent.md")
	}
	e := s.give()
	s.mark(func() { e.lost, e.excused = true, true })
	s.nudge(ctx, e)
	if !s.h.wait(ctx, s.o.Patience, func() bool { return len(e.decisions)+len(e.beats) > 0 }) {
		return bad("it did nothing with the task")
	}
	s.rest(ctx)
	s.rest(ctx)
	s.h.mu.Lock()
	n := len(e.decisions)
	s.h.mu.Unlock()
	if n > 1 {
		return bad("it sent its decision %d times after 409", n)
	}
	if !s.handle(ctx) {
		return bad("after 409 the next task got no decision")
	}
	return good("")
}

func (s *session) fault(path string, statuses ...int) {
	s.h.mu.Lock()
	defer s.h.mu.Unlock()
	s.h.faults[path] = statuses
}

func checkHarnessError(ctx context.Context, s *session) outcome {
	s.fault("/queue/next", http.StatusServiceUnavailable)
	e := s.give()
	s.nudge(ctx, e)
	if s.h.wait(ctx, s.o.Patience, func() bool { return len(s.h.faults["/queue/next"]) == 0 }) {
		s.rest(ctx)
		s.nudge(ctx, e)
	}
	if !s.decided(ctx, e) {
		s.dead = "it takes no more tasks after 503"
		return bad("the task got no decision; %s", s.state(ctx))
	}
	return good("")
}

// state says whether the agent is healthy.
func (s *session) state(ctx context.Context) string {
	if wrong := s.healthy(ctx); wrong != "" {
		return wrong
	}
	return "it is healthy"
}

func checkCompleteError(ctx context.Context, s *session) outcome {
	s.fault("/queue/complete", http.StatusServiceUnavailable)
	e := s.give()
	s.mark(func() { e.excused = true })
	s.nudge(ctx, e)
	if !s.decided(ctx, e) {
		return bad("it did not send it again; the task comes back when its claim runs out, and costs twice")
	}
	return good("")
}

func checkMalformed(ctx context.Context, s *session) outcome {
	for _, body := range []string{`{}`, `[]`, `null`, `{"task_id":7}`, `{"task_id":`, ``, "\xff\xfe"} {
		status, _, err := s.post(ctx, []byte(body))
		if err != nil {
			return bad("POST /task %s: %s", short(body), s.why(err))
		}
		if status < 400 || status > 499 {
			return bad("POST /task %s: status %d", short(body), status)
		}
	}
	huge := bytes.Repeat([]byte(" "), 1<<20)
	status, _, err := s.post(ctx, slices.Concat([]byte(`{"x":"`), huge, []byte(`"}`)))
	if err == nil && status < 400 {
		return bad("POST /task with 1 MB that is no nudge: status %d", status)
	}
	if wrong := s.healthy(ctx); wrong != "" {
		return bad("afterwards %s", wrong)
	}
	return good("")
}

// last returns the task that was given last.
func (s *session) last() *entry {
	s.h.mu.Lock()
	defer s.h.mu.Unlock()
	return s.h.tasks[len(s.h.tasks)-1]
}

// first returns the first decision on a task that has one.
func (s *session) first(e *entry) protocol.DecisionMessage { return s.all(e)[0].message }

// mark calls f while no request is answered.
func (s *session) mark(f func()) {
	s.h.mu.Lock()
	defer s.h.mu.Unlock()
	f()
}

// overQueue lets the agent decide on a task that it claims.
func overQueue(ctx context.Context, s *session, task protocol.TaskMessage) (protocol.DecisionMessage, error) {
	e := s.enqueue(task)
	s.nudge(ctx, e)
	if !s.decided(ctx, e) {
		s.mark(func() {
			e.excused = true // it is told of here
			s.drop([]*entry{e})
		})
		return protocol.DecisionMessage{}, errors.New(s.missing(e))
	}
	return s.first(e), nil
}
