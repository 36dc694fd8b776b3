package agent_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/org/foreman-action/agent"
	"github.com/org/foreman-action/internal/server/access"
	"github.com/org/foreman-action/internal/server/api"
	"github.com/org/foreman-action/internal/testkit/freeport"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/queue/queuetest"
)

// patience is the time limit for another process or a loop.
const patience = 2 * time.Minute

// A liveServer is the harness's own server with a queue in memory.
type liveServer struct {
	queue queue.Queue
	url   string // with the agent's credential
	agent string // canonical address
	lease time.Duration
}

// newLiveServer starts a server with one agent in its configuration.
func newLiveServer(t *testing.T, agentURL string, now func() time.Time) *liveServer {
	t.Helper()
	r := &liveServer{queue: queue.New(queue.Options{Now: now}), agent: agentURL, lease: time.Minute}
	creds, err := access.NewCredentials([]access.Credential{{Name: "bot", Secret: "hunter2hunter2hunter2", Agents: []string{agentURL}}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := api.New(api.Options{Queue: r.queue, Lease: r.lease, Credentials: creds, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(s)
	t.Cleanup(func() {
		s.Stop()
		srv.Close()
	})
	r.url = strings.Replace(srv.URL, "://", "://bot:hunter2hunter2hunter2@", 1)
	return r
}

// add enqueues a task and returns its id.
func (r *liveServer) add(t *testing.T, name string) string {
	t.Helper()
	task := theTask()
	task.TaskID = protocol.DeriveTaskID(name)
	message, err := protocol.Encode(task)
	if err == nil {
		_, err = r.queue.Enqueue(t.Context(), queue.Task{ID: task.TaskID, Agent: r.agent, Repo: task.Repo, Issue: 7, Message: message})
	}
	if err != nil {
		t.Fatal(err)
	}
	return task.TaskID
}

// wait waits until all tasks have a decision, and returns the decision on the last one.
func (r *liveServer) wait(t *testing.T, ids ...string) protocol.DecisionMessage {
	t.Helper()
	changes, stop := r.queue.Watch()
	defer stop()
	end := time.NewTimer(patience)
	defer end.Stop()
	var d protocol.DecisionMessage
	for _, id := range ids {
		for {
			info, err := r.queue.Inspect(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			if info.State == queue.Completed {
				if d, err = protocol.ParseDecision(info.Result); err != nil {
					t.Fatal(err)
				}
				break
			}
			select {
			case <-changes:
			case <-end.C:
				t.Fatalf("task %s is %s", id, info.State)
			}
		}
	}
	return d
}

// TestWorkerAndServer runs a worker that gets tasks from the harness's own server.
func TestWorkerAndServer(t *testing.T) {
	t.Parallel()
	r := newLiveServer(t, "http://agent:9001", nil)
	first := r.add(t, "first")
	client := newClient(t, agent.ClientOptions{URL: r.url, AgentURL: "HTTP://Agent:9001/task/", Wait: 30 * time.Second})
	drained := make(chan struct{})
	w, err := agent.NewWorker(agent.WorkerOptions{Client: client, Decide: proposing, Concurrency: 2, Drained: func() { close(drained) }})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	if d := r.wait(t, first); len(d.Actions) != 1 || d.Actions[0].String() != proposal {
		t.Errorf("got %v, want %s", d, proposal)
	}
	r.wait(t, r.add(t, "second"), r.add(t, "third")) // long polling finds it without a nudge
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestLostAtServer checks that a client gets ErrLost for a lost claim, and that a claimant may
// send its decision twice.
func TestLostAtServer(t *testing.T) {
	t.Parallel()
	clock := queuetest.NewClock()
	r := newLiveServer(t, "http://agent:9001", clock.Now)
	r.add(t, "a")
	c := newClient(t, agent.ClientOptions{URL: r.url})
	claim := func() *protocol.TaskMessage {
		t.Helper()
		task, err := c.NextTask(t.Context())
		if err != nil || task == nil || task.Claim == nil || task.Claim.Lease != 60 {
			t.Fatalf("got %v, %v", task, err)
		}
		return task
	}
	old := claim()
	if err := c.Heartbeat(t.Context(), old); err != nil {
		t.Error(err)
	}
	clock.Advance(2 * r.lease)
	if _, err := r.queue.RequeueStale(t.Context(), queue.Limits{}); err != nil {
		t.Fatal(err)
	}
	task := claim()
	if task.Claim.Attempt != 2 {
		t.Errorf("got attempt %d", task.Claim.Attempt)
	}
	d := protocol.DecisionMessage{Decision: protocol.Skip}
	for _, err := range []error{c.Heartbeat(t.Context(), old), c.CompleteTask(t.Context(), old, d)} {
		if !errors.Is(err, agent.ErrLost) {
			t.Errorf("got %v, want ErrLost", err)
		}
	}
	for range 2 {
		if err := c.CompleteTask(t.Context(), task, d); err != nil {
			t.Error(err)
		}
	}
	if next, err := c.NextTask(t.Context()); next != nil || err != nil {
		t.Errorf("got %v, %v, want nothing", next, err)
	}
	other := newClient(t, agent.ClientOptions{URL: r.url, AgentURL: "http://other:9001"})
	if _, err := other.NextTask(t.Context()); err == nil {
		t.Error("another agent's tasks may be claimed with this credential")
	}
}

// TestPythonAndServer runs the Python agent, which behaves like the published one, with the
// server. The agent completes the waiting tasks before it serves, and then a task that it was
// nudged for.
func TestPythonAndServer(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not there")
	}
	at, err := freeport.Find(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	self := "http://" + at.String()
	r := newLiveServer(t, self, nil)
	early := []string{r.add(t, "one"), r.add(t, "two")}
	cmd := exec.CommandContext(t.Context(), python, "../testdata/agents/agent.py")
	cmd.Env = append(os.Environ(), "FOREMAN_HARNESS_URL="+r.url, "AGENT_URL="+self)
	cmd.Stdout, cmd.Stderr = t.Output(), t.Output()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	r.wait(t, early...)
	late := r.add(t, "three")
	// The agent serves as soon as the harness has reported an empty queue, which may already be
	// the case.
	for end := time.Now().Add(patience); ; {
		resp, err := http.Post(self+"/task", "application/json", strings.NewReader(`{"task_id":"`+late+`"}`))
		if err == nil {
			_ = resp.Body.Close()
			if resp.StatusCode != http.StatusAccepted {
				t.Errorf("a nudge is answered with %d", resp.StatusCode)
			}
			break
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
		<-time.After(20 * time.Millisecond)
	}
	if d := r.wait(t, late); d.TaskID != late || d.Decision != protocol.Skip {
		t.Errorf("got %v", d)
	}
}

// TestPythonIsSure checks the confidence and the rationale of the Python agent's actions.
func TestPythonIsSure(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not there")
	}
	tests := []struct {
		payload string
		want    protocol.Intent
	}{
		{`{"title":"A crash","body":"panic"}`, protocol.Intent{Confidence: protocol.ConfidenceHigh, Rationale: "The title speaks of a crash."}},
		{`{"title":"Slow","body":"then it panicked"}`, protocol.Intent{Confidence: protocol.ConfidenceLow, Rationale: "The body speaks of a crash."}},
	}
	for _, tt := range tests {
		const program = `import json, sys; sys.path.insert(0, "../testdata/agents"); import agent; print(json.dumps(agent.decide(json.loads(sys.argv[1]))))`
		cmd := exec.CommandContext(t.Context(), python, "-B", "-c", program, `{"task_id":"6d7f9341-0fa1-4d27-89a1-b39e2fa36712","payload":`+tt.payload+`}`)
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		d, err := protocol.ParseDecision(out)
		if err != nil || len(d.Actions) != 1 {
			t.Fatalf("%s: got %s, %v", tt.payload, out, err)
		}
		if got, err := d.Actions[0].Intent(); got != tt.want || err != nil {
			t.Errorf("%s: got %+v, %v", tt.payload, got, err)
		}
	}
}
