package app

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/actions"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/strictyaml"
	"github.com/org/foreman-action/policy"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/triage"
)

func TestAudience(t *testing.T) {
	t.Parallel()
	tests := []struct{ in, want string }{
		{"https://agent.example.org", "https://agent.example.org"},
		{"https://agent.example.org/", "https://agent.example.org"},
		{"https://agent.example.org/task", "https://agent.example.org"},
		{"https://agent.example.org/base/task/", "https://agent.example.org/base"},
		{"https://user:secret@agent.example.org:8443/base?key=secret#x", "https://agent.example.org:8443/base"},
		{"http://agent:8080/multitask", "http://agent:8080/multitask"},
	}
	for _, tt := range tests {
		if got := audienceOf(tt.in); got != tt.want {
			t.Errorf("audienceOf(%q): got %q, want %q", tt.in, got, tt.want)
		}
	}
}

// TestOverrides lets an input win over the file, and leave it where it says nothing.
func TestOverrides(t *testing.T) {
	t.Parallel()
	file := &config.Config{
		Policy: policy.Policy{AllowClose: true},
		LLM:    protocol.LLMBackendRef{Provider: "ollama", Model: "m"},
		Memory: config.Memory{Store: "file", Path: "p"},
		Agent: config.Agent{
			URL: "https://file", Auth: "oidc", Timeout: time.Minute, OnFailure: config.OnFailure{Set: true, Label: "l"},
		},
	}
	if diff := cmp.Diff(file, job{}.effective(file)); diff != "" {
		t.Errorf("no overrides (-want +got):\n%s", diff)
	}
	all := job{override: overrides{
		agentURL: "https://input", agentAuth: "none", timeout: time.Second, onFailure: config.OnFailure{Set: true},
		llm: protocol.LLMBackendRef{Model: "n"}, memory: config.Memory{Store: "off", Path: "q"},
	}}
	want := &config.Config{
		Policy: policy.Policy{AllowClose: true},
		LLM:    protocol.LLMBackendRef{Provider: "ollama", Model: "n"},
		Memory: config.Memory{Store: "off", Path: "q"},
		Agent:  config.Agent{URL: "https://input", Auth: "none", Timeout: time.Second, OnFailure: config.OnFailure{Set: true}},
	}
	if diff := cmp.Diff(want, all.effective(file)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := (job{override: overrides{allowClose: true}}).effective(nil); !got.Policy.AllowClose {
		t.Error("allow-close is lost without a file")
	}
	if file.Agent.URL != "https://file" {
		t.Error("the file's configuration was changed")
	}
}

func TestExitCodes(t *testing.T) {
	t.Parallel()
	joined := errors.Join(&actions.InputError{Name: "a", Problem: "p"}, &actions.InputError{Name: "b", Problem: "q"})
	tests := []struct {
		name string
		err  error
		want int
	}{
		{"none", nil, 0},
		{"a mistake in a file", fmt.Errorf("x: %w", strictyaml.Problems{{File: "f", Msg: "m"}}), 2},
		{"no token", fmt.Errorf("x: %w", triage.ErrNeedsHost), 2},
		{"usage", usagef("x"), 2},
		{"inputs", &usageError{joined}, 2},
		{"an agent", &runner.AgentError{Err: errors.New("x")}, 1},
		{"a permission", &triage.PermissionError{Need: "issues: write", Err: errors.New("x")}, 1},
		{"an unknown action", &triage.UnknownActionError{Type: "x"}, 1},
		{"anything else", errors.New("x"), 1},
		{"cancelled", context.Canceled, 1},
	}
	for _, tt := range tests {
		if got := command.ExitCode(classify(tt.err)); got != tt.want {
			t.Errorf("%s: got %d, want %d", tt.name, got, tt.want)
		}
	}
	if got := unjoin(&usageError{&usageError{joined}}); len(got) != 2 {
		t.Errorf("got %d errors, want each input's own", len(got))
	}
}

// TestTaskID is the same for every attempt at one issue in one run, and only then.
func TestTaskID(t *testing.T) {
	t.Parallel()
	id := func(repo, run string, issue int) string {
		s, err := runTaskID(repo, run, issue)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	if id("o/r", "1", 7) != id("o/r", "1", 7) {
		t.Error("two attempts are two tasks")
	}
	seen := map[string]bool{}
	for _, s := range []string{id("o/r", "1", 7), id("o/r", "2", 7), id("o/r", "1", 8), id("o/q", "1", 7), id("o/r", "", 7), id("o/r", "", 7)} {
		if seen[s] {
			t.Errorf("%s is the task of two things", s)
		}
		seen[s] = true
	}
}

func TestScope(t *testing.T) {
	t.Parallel()
	a := scopeOf(actions.Env{Job: "triage", Step: "one"})
	b := scopeOf(actions.Env{Job: "triage", Step: "two"})
	if a == b || a == "" || scopeOf(actions.Env{}) != "" {
		t.Errorf("got %q and %q", a, b)
	}
}

func TestAgentAuth(t *testing.T) {
	t.Parallel()
	token := func(context.Context, string) (string, error) { return "jwt", nil }
	tests := []struct {
		name string
		job  job
		auth string
		ok   bool
	}{
		{"none", job{}, "", true},
		{"token", job{override: overrides{agentToken: "t"}}, "token", true},
		{"token without one", job{}, "token", false},
		{"oidc", job{idToken: token}, "oidc", true},
		{"oidc outside actions", job{}, "oidc", false},
	}
	for _, tt := range tests {
		remote, err := tt.job.agent(config.Agent{URL: "https://agent.example.org", Auth: tt.auth})
		if (err == nil) != tt.ok || (remote != nil) != tt.ok {
			t.Errorf("%s: got %v", tt.name, err)
		}
	}
}
