package agentcheck_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/org/foreman-action/agent"
	"github.com/org/foreman-action/agent/agentcheck"
	"github.com/org/foreman-action/protocol"
)

// worker returns a Start for an agent that speaks both forms of the protocol.
func worker(decide agent.DecideFunc) agentcheck.Start {
	return func(harness, self string) (http.Handler, func(context.Context) error, error) {
		quiet := slog.New(slog.DiscardHandler)
		client, err := agent.NewClient(agent.ClientOptions{URL: harness, AgentURL: self})
		if err != nil {
			return nil, nil, err
		}
		w, err := agent.NewWorker(agent.WorkerOptions{Client: client, Decide: decide, Concurrency: 5, Log: quiet})
		if err != nil {
			return nil, nil, err
		}
		return agent.NewHandler(agent.HandlerOptions{Nudge: w.Nudge, Decide: decide, Log: quiet}), w.Run, nil
	}
}

func escalate(context.Context, protocol.TaskMessage) (protocol.DecisionMessage, error) {
	return protocol.DecisionMessage{Decision: protocol.Escalate, Rationale: "a person should look"}, nil
}

// TestOfGoAgent checks agents in Go. Test must find those that break a rule, and no others.
func TestOfGoAgent(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		start agentcheck.Start
		want  string // the beginning of the first error; empty: none
	}{
		{"both forms", worker(escalate), ""},
		{"sync alone", func(string, string) (http.Handler, func(context.Context) error, error) {
			return agent.NewHandler(agent.HandlerOptions{Decide: escalate, Log: slog.New(slog.DiscardHandler)}), nil, nil
		}, ""},
		{"an unknown decision", worker(func(context.Context, protocol.TaskMessage) (protocol.DecisionMessage, error) {
			return protocol.DecisionMessage{Decision: "maybe", Rationale: "a person should look"}, nil
		}), "decision: want: "},
		{"no start", func(string, string) (http.Handler, func(context.Context) error, error) {
			return nil, nil, errors.New("no model")
		}, "check the agent: start the agent: no model"},
		{"no handler", func(string, string) (http.Handler, func(context.Context) error, error) {
			return nil, nil, nil
		}, "check the agent: start the agent: there is no handler"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := &recorder{T: t}
			agentcheck.Test(r, tt.start)
			got := strings.Join(r.errors, "\n")
			if tt.want == "" && got != "" || !strings.HasPrefix(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// A recorder records the errors that would fail a test.
type recorder struct {
	*testing.T

	errors []string
}

func (r *recorder) Errorf(format string, args ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}

func (r *recorder) Fatalf(format string, args ...any) { r.Errorf(format, args...) }
