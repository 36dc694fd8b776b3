package agentcheck

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/org/foreman-action/agent"
	"github.com/org/foreman-action/protocol"
)

// nudgeTime is how long a harness waits for the answer to a nudge.
const nudgeTime = 5 * time.Second

// nobody is the id of a task that there is not.
const nobody = "00000000-0000-4000-8000-000000000000"

// A session is one look at an agent.
type session struct {
	o         Options
	agent     string
	h         *harness
	transport http.RoundTripper
	report    Report
	early     []*entry // that waited before the agent was started
	stop      func(context.Context) error
	dead      string // why nothing more can be looked at; empty: go on
	// answers are the decisions on whole tasks. h.mu guards them.
	answers []protocol.DecisionMessage
}

// A check is a row of a table: what is looked at, and how. look returns what came of it.
type check struct {
	id   string
	wire string
	must bool
	want string
	look func(ctx context.Context, s *session) outcome
}

// An outcome is the result of a check with what the agent did.
type outcome struct {
	result Result
	got    string
}

func good(format string, args ...any) outcome { return outcome{OK, fmt.Sprintf(format, args...)} }
func bad(format string, args ...any) outcome  { return outcome{Failed, fmt.Sprintf(format, args...)} }
func skipped(format string, args ...any) outcome {
	return outcome{Skipped, fmt.Sprintf(format, args...)}
}

// run starts the agent and makes the checks of the forms that it speaks.
func (s *session) run(ctx context.Context, harness string) error {
	if s.o.Listening != nil {
		s.o.Listening(harness)
	}
	if s.o.Start != nil {
		if err := s.prepare(ctx, harness); err != nil {
			return err
		}
		defer func() { _ = s.stop(context.WithoutCancel(ctx)) }()
	}
	s.fault("/queue/heartbeat", http.StatusServiceUnavailable) // the first one, of whatever task
	s.make(ctx, startChecks())
	s.report.Wires = []string{}
	wires := []string{cmp.Or(s.o.Wire, Queue)}
	if s.dead == "" {
		wires = s.wires(ctx)
	}
	gone := s.dead
	for _, wire := range wires {
		s.dead = gone
		s.make(ctx, map[string][]check{Queue: queueChecks(), Sync: syncChecks()}[wire])
		s.report.Wires = append(s.report.Wires, wire)
	}
	s.dead = "" // what happened before can be looked at all the same
	s.make(ctx, endChecks())
	return nil
}

// prepare lets tasks wait, and starts the agent.
func (s *session) prepare(ctx context.Context, harness string) error {
	if s.o.Wire != Sync {
		for range 2 {
			s.early = append(s.early, s.give())
		}
	}
	stop, err := s.o.Start(ctx, harness)
	if err != nil {
		return fmt.Errorf("start the agent: %w", err)
	}
	s.stop = stop
	return nil
}

// make makes checks and reports them.
func (s *session) make(ctx context.Context, list []check) {
	for _, c := range list {
		o := skipped("%s", s.dead)
		if s.dead == "" {
			o = c.look(ctx, s)
		}
		if ctx.Err() != nil {
			return
		}
		done := Check{ID: c.id, Wire: c.wire, Must: c.must, Want: c.want, Result: o.result, Got: o.got}
		s.report.Checks = append(s.report.Checks, done)
		if s.o.Done != nil {
			s.o.Done(done)
		}
	}
}

// wires finds out what the agent speaks, unless the options say it.
func (s *session) wires(ctx context.Context) []string {
	if s.o.Wire != "" {
		return []string{s.o.Wire}
	}
	var wires []string
	claims := 0
	s.mark(func() { claims = s.h.claims })
	if status, _, err := s.post(ctx, nudgeOf(nobody)); claims > 0 || err == nil && status < 300 {
		wires = append(wires, Queue)
	}
	task, err := newTask(nil)
	if err == nil {
		// Whatever comes back at once, and is no receipt, is meant as a decision.
		_, err = s.decide(ctx, task)
	}
	if e, ok := errors.AsType[*agent.Error](err); err == nil || ok && e.Status == http.StatusOK {
		wires = append(wires, Sync)
	}
	if len(wires) == 0 {
		return []string{Queue}
	}
	return wires
}

// give adds a task.
func (s *session) give() *entry {
	task, err := newTask(nil)
	if err != nil {
		// Maps of texts always have a form as JSON, and the system's randomness does not fail.
		panic("agentcheck: make a task: " + err.Error())
	}
	return s.enqueue(task)
}

func (s *session) enqueue(task protocol.TaskMessage) *entry {
	e := &entry{task: task}
	s.h.mu.Lock()
	defer s.h.mu.Unlock()
	s.h.tasks = append(s.h.tasks, e)
	return e
}

func nudgeOf(id string) []byte { return []byte(`{"task_id":"` + id + `"}`) }

// nudge tells the agent of a task, as a harness does, and forgets what it says.
func (s *session) nudge(ctx context.Context, e *entry) {
	if _, _, err := s.post(ctx, nudgeOf(e.task.TaskID)); err != nil {
		return // what counts is what comes to the harness
	}
}

// decided waits for the first decision on a task, and says whether it came.
func (s *session) decided(ctx context.Context, e *entry) bool {
	return s.h.wait(ctx, s.o.Patience, e.settled) && len(s.all(e)) > 0
}

// all returns the decisions on a task so far.
func (s *session) all(e *entry) (list []decision) {
	s.mark(func() { list = e.decisions })
	return list
}

// settled reports whether something came that is meant as a decision. The harness is
// locked.
func (e *entry) settled() bool { return len(e.decisions) > 0 || e.refused != "" }

// handle gives a task, nudges, and says whether a decision came.
func (s *session) handle(ctx context.Context) bool {
	e := s.give()
	s.nudge(ctx, e)
	return s.decided(ctx, e)
}

// quiet is how long the kit waits to see that nothing more happens.
func (s *session) quiet() time.Duration { return min(time.Second, s.o.Patience/4) }

// rest lets the quiet time pass.
func (s *session) rest(ctx context.Context) {
	s.h.wait(ctx, s.quiet(), func() bool { return false })
}

// post sends a body as a nudge or a task, and returns status and body of the answer.
func (s *session) post(ctx context.Context, body []byte) (int, []byte, error) {
	return s.request(ctx, http.MethodPost, "/task", body)
}

func (s *session) request(ctx context.Context, method, path string, body []byte) (int, []byte, error) {
	ctx, cancel := context.WithTimeout(ctx, min(nudgeTime, s.o.Patience))
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, s.agent+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := s.transport.RoundTrip(req)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxBody))
	return resp.StatusCode, data, err
}

// healthy says what is wrong with the agent's health, or nothing.
func (s *session) healthy(ctx context.Context) string {
	status, _, err := s.request(ctx, http.MethodGet, "/health", nil)
	if err != nil {
		return "GET /health: " + s.why(err)
	}
	if status != http.StatusOK {
		return fmt.Sprintf("GET /health: status %d", status)
	}
	return ""
}

// why makes an error of the transport short.
func (s *session) why(err error) string {
	return short(strings.ReplaceAll(err.Error(), context.DeadlineExceeded.Error(), fmt.Sprintf("no answer within %v", min(nudgeTime, s.o.Patience))))
}

// decide asks the agent as a harness without a queue does.
func (s *session) decide(ctx context.Context, task protocol.TaskMessage) (protocol.DecisionMessage, error) {
	r, err := agent.NewRemote(agent.RemoteOptions{URL: s.agent, Timeout: s.o.Patience, Transport: s.transport})
	if err != nil {
		return protocol.DecisionMessage{}, err
	}
	d, err := r.Decide(ctx, task)
	if err == nil {
		s.mark(func() { s.answers = append(s.answers, d) })
	}
	return d, err
}
