package agent_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/org/foreman-action/agent"
	"github.com/org/foreman-action/protocol"
)

// A worker claims the tasks in the harness's queue; a Handler beside it receives nudges.
func ExampleWorker() {
	h := newHarness("7d0c1f0a")
	srv := httptest.NewServer(h)
	defer srv.Close()

	client, err := agent.NewClient(agent.ClientOptions{URL: srv.URL, AgentURL: "http://agent:8000"})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	worker, err := agent.NewWorker(agent.WorkerOptions{
		Client: client,
		Decide: func(_ context.Context, task protocol.TaskMessage) (protocol.DecisionMessage, error) {
			fmt.Println("asked about", task.Repo)
			return protocol.DecisionMessage{Decision: protocol.Skip, Rationale: "nothing to do"}, nil
		},
		Drained: stop, // an agent that serves continues instead
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	_ = agent.NewHandler(agent.HandlerOptions{Nudge: worker.Nudge}) // for an http.Server
	fmt.Println(worker.Run(ctx), len(h.decided()))
	// Output:
	// asked about octo-org/hello
	// <nil> 1
}

func ExampleClient() {
	srv := httptest.NewServer(newHarness("7d0c1f0a"))
	defer srv.Close()
	ctx := context.Background()

	client, err := agent.NewClient(agent.ClientOptions{URL: srv.URL, AgentURL: "http://agent:8000"})
	if err != nil {
		fmt.Println(err)
		return
	}
	task, err := client.NextTask(ctx)
	if err != nil || task == nil {
		fmt.Println(task, err)
		return
	}
	fmt.Println(task.TaskID, task.Claim.Attempt, client.Heartbeat(ctx, task))
	fmt.Println(client.CompleteTask(ctx, task, protocol.DecisionMessage{Decision: protocol.Escalate, Rationale: "not for a machine"}))
	next, err := client.NextTask(ctx)
	fmt.Println(next, err)
	// Output:
	// 7d0c1f0a 1 <nil>
	// <nil>
	// <nil> <nil>
}

func ExampleNewHandler() {
	handler := agent.NewHandler(agent.HandlerOptions{
		Decide: func(context.Context, protocol.TaskMessage) (protocol.DecisionMessage, error) {
			return protocol.DecisionMessage{Decision: protocol.Skip, Rationale: "nothing to do"}, nil
		},
	})
	srv := httptest.NewServer(handler) // or http.ListenAndServe(":8000", handler)
	defer srv.Close()
	resp, err := http.Get(srv.URL + "/health")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = resp.Body.Close() }()
	fmt.Println(resp.StatusCode)
	// Output: 200
}
