package agent_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/org/foreman-action/agent"
	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/triage"
)

// TestDecideFunc checks that a DecideFunc is an agent of a Runner, and the rule for the ids of its
// decisions.
func TestDecideFunc(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, answer string
		err          error
		panics       bool
		want         string // a part of the error; empty: none
	}{
		{name: "empty id"},
		{name: "id of the task", answer: id},
		{name: "another id", answer: "b0000000-0000-4000-8000-000000000000", want: "the decision names another task"},
		{name: "error", answer: id, err: errors.New("no model"), want: "no model"},
		{name: "panic", panics: true, want: "decide: panic: out of words"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			decide := agent.DecideFunc(func(context.Context, protocol.TaskMessage) (protocol.DecisionMessage, error) {
				if tt.panics {
					panic("out of words")
				}
				return protocol.DecisionMessage{TaskID: tt.answer, Decision: protocol.Escalate, Rationale: "a person should look"}, tt.err
			})
			d, err := decide.Decide(t.Context(), protocol.TaskMessage{TaskID: id})
			check(t, d.TaskID == id, err, tt.want)

			r, err := runner.New(runner.Options{Agent: runner.AgentOptions{Agent: decide, Name: "here"}, DryRun: true})
			if err != nil {
				t.Fatal(err)
			}
			event := triage.Delivery{
				Event: triage.Event{Name: triage.EventIssues, Action: "opened"}, Repo: triage.Repo{Owner: "o", Name: "r"},
				Number: 7, Issue: &triage.Issue{Number: 7, Title: "It breaks", State: "open"},
			}
			rep, err := r.Run(t.Context(), runner.TaskIdentity{ID: id, First: true}, event)
			check(t, rep.Decision == protocol.Escalate, err, tt.want)
		})
	}
}

const id = "a0000000-0000-4000-8000-000000000000"

func check(t *testing.T, decided bool, err error, want string) {
	t.Helper()
	switch {
	case want == "" && (err != nil || !decided):
		t.Errorf("got %v, want a decision", err)
	case want != "" && (err == nil || !strings.Contains(err.Error(), want) || decided):
		t.Errorf("got %v, decided %v, want an error with %q", err, decided, want)
	}
}

// TestRunnerFillsIn checks that a Runner accepts the decision of any Agent without an id.
func TestRunnerFillsIn(t *testing.T) {
	t.Parallel()
	for _, answer := range []string{"", id, "another"} {
		r, err := runner.New(runner.Options{Config: &config.Config{}, Agent: runner.AgentOptions{Agent: fixed(answer)}, DryRun: true})
		if err != nil {
			t.Fatal(err)
		}
		event := triage.Delivery{
			Event: triage.Event{Name: triage.EventIssues, Action: "opened"}, Repo: triage.Repo{Owner: "o", Name: "r"},
			Number: 7, Issue: &triage.Issue{Number: 7, State: "open"},
		}
		rep, err := r.Run(t.Context(), runner.TaskIdentity{ID: id}, event)
		if refused := err != nil; refused != (answer == "another") || !refused && rep.TaskID != id {
			t.Errorf("%q: got %+v, %v", answer, rep, err)
		}
	}
}

// fixed is an agent that escalates each task under the same id.
type fixed string

func (f fixed) Decide(context.Context, protocol.TaskMessage) (protocol.DecisionMessage, error) {
	return protocol.DecisionMessage{TaskID: string(f), Decision: protocol.Escalate, Rationale: "a person should look"}, nil
}
