package agentcheck_test

import (
	"context"
	"fmt"
	"net/http"

	"github.com/org/foreman-action/agent"
	"github.com/org/foreman-action/agent/agentcheck"
	"github.com/org/foreman-action/protocol"
)

// The test of an agent is one call. The agent is put together as in its program.
func ExampleTest() {
	t := &printed{} // in a test: t *testing.T
	agentcheck.Test(t, func(harness, self string) (http.Handler, func(context.Context) error, error) {
		decide := func(context.Context, protocol.TaskMessage) (protocol.DecisionMessage, error) {
			return protocol.DecisionMessage{Decision: protocol.Escalate, Rationale: "a person should look"}, nil
		}
		client, err := agent.NewClient(agent.ClientOptions{URL: harness, AgentURL: self})
		if err != nil {
			return nil, nil, err
		}
		w, err := agent.NewWorker(agent.WorkerOptions{Client: client, Decide: decide, Concurrency: 5})
		if err != nil {
			return nil, nil, err
		}
		return agent.NewHandler(agent.HandlerOptions{Nudge: w.Nudge, Decide: decide}), w.Run, nil
	})
	fmt.Println("broken rules:", t.errors)
	// Output: broken rules: 0
}

// printed prints the errors of a test.
type printed struct{ errors int }

func (p *printed) Helper()                  {}
func (p *printed) Context() context.Context { return context.Background() }
func (p *printed) Logf(string, ...any)      {}
func (p *printed) Errorf(format string, args ...any) {
	p.errors++
	fmt.Printf(format+"\n", args...)
}
func (p *printed) Fatalf(format string, args ...any) { p.Errorf(format, args...) }
