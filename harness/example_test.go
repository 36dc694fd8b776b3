package harness_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http/httptest"

	"github.com/org/foreman-action/agent"
	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/harness"
	"github.com/org/foreman-action/harness/observe"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/triage"
)

// A queue and a worker in one process. In mode shadow the decision is planned and reported, and
// nothing is written. Without it, Options.Host writes.
func Example() {
	const worker, secret = "http://127.0.0.1:1", "a secret of at least 32 characters" // the worker has no server at this address
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	quiet := slog.New(slog.DiscardHandler)

	tasks, done := queue.New(queue.Options{}), make(chan bool, 1)
	h, err := harness.New(harness.Options{
		Queue: tasks, Memory: memory.New(), Journal: memory.NewJournal(),
		Config:      &config.Config{Mode: config.ModeShadow},
		Agents:      []harness.Agent{{URL: worker}},
		Credentials: []harness.Credential{{Name: "worker", Secret: secret}},
		Observe: func(o observe.Observation) {
			if o.Event == observe.ApplyAttempted {
				done <- true
			}
		},
		Log: quiet,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	server := httptest.NewServer(h.Handler()) // in a program: an http.Server with RegisterOnShutdown(h.Stop)
	defer server.Close()

	client, err := agent.NewClient(agent.ClientOptions{
		URL: server.URL, AgentURL: worker, Token: secret,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	event, err := triage.ParseEvent(triage.EventSource{Name: "issues", Payload: []byte(`{
		"action": "opened", "repository": {"full_name": "octo-org/hello"}, "sender": {"login": "mona"},
		"issue": {"number": 7, "title": "A typo in the docs", "state": "open", "user": {"login": "mona"}}
	}`)})
	if err != nil {
		fmt.Println(err)
		return
	}
	task, err := h.Enqueue(ctx, event, "webhook:1")
	if err != nil {
		fmt.Println(err)
		return
	}
	w, err := agent.NewWorker(agent.WorkerOptions{
		Client: client, Log: quiet,
		Decide: func(context.Context, protocol.TaskMessage) (protocol.DecisionMessage, error) {
			label, err := protocol.NewAction(protocol.ActionAddLabel, map[string]any{"label": "docs"})
			return protocol.DecisionMessage{
				Decision: protocol.LabelAndRespond, Rationale: "it is about the docs", Actions: []protocol.ActionItem{label},
			}, err
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	ended := make(chan error, 2)
	go func() { ended <- h.Run(ctx) }()
	go func() { ended <- w.Run(ctx) }()
	<-done
	cancel()
	h.Stop()
	fmt.Println(<-ended, <-ended)

	stored, err := tasks.Inspect(context.Background(), task.Task)
	if err != nil {
		fmt.Println(err)
		return
	}
	var report runner.Report
	if err := json.Unmarshal(stored.Report, &report); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(stored.State, report.Decision, report.Rationale)
	// Output:
	// <nil> <nil>
	// done label_and_respond it is about the docs
}
