package serve

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/org/foreman-action/agent/agentcheck"
	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/freeport"
	"github.com/org/foreman-action/internal/issueagent"
	"github.com/org/foreman-action/internal/llm/llmtest"
)

// TestAgentServeModel checks the agent with a model that repeats the prompt injection of an
// issue: labels that were not offered are dropped, and the key appears nowhere.
func TestAgentServeModel(t *testing.T) {
	t.Parallel()
	const says = "Here it is:\n```json\n{\"decision\": \"label_and_respond\", \"rationale\": \"a bug\", \"actions\": [" +
		`{"type": "add_label", "label": "bug"}, {"type": "close_issue"}, {"type": "explode"}, {"type": "add_label", "label": "pwned"}]}` + "\n```\nAnything else?"
	prompts := make(chan llmtest.Request, 100)
	model := llmtest.New(t, llmtest.Anthropic, func(r llmtest.Request) llmtest.Answer {
		prompts <- r
		return llmtest.Say(says)
	})
	at, err := freeport.Find(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	addr := at.String()
	var log strings.Builder
	report, err := agentcheck.Run(t.Context(), agentcheck.Options{
		Agent: "http://" + addr,
		Start: func(ctx context.Context, harness string) (func(context.Context) error, error) {
			env := map[string]string{"FOREMAN_HARNESS_URL": harness, "AGENT_URL": "http://" + addr, "ANTHROPIC_API_KEY": llmtest.Key}
			o := Options{
				Listen: addr, Provider: "anthropic", Model: "m", BaseURL: model.URL, Labels: []string{"bug"},
				Window: issueagent.DefaultWindow, Wait: time.Second, Concurrency: 3,
				Env: process.Env{Getenv: func(name string) string { return env[name] }, Stdout: io.Discard, Stderr: &log}.Complete(),
			}
			ctx, stop := context.WithCancel(ctx)
			code := make(chan int, 1)
			go func() { code <- command.ExitCode(Run(ctx, o)) }()
			return func(context.Context) error {
				stop()
				select {
				case c := <-code:
					code <- c
					if c != command.ExitOK {
						return errors.New("it failed: " + log.String())
					}
					return nil
				case <-time.After(2 * time.Minute):
					return errors.New("it goes on")
				}
			}, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range report.Checks {
		if c.Result == agentcheck.Failed {
			t.Errorf("%s: %s", c.ID, c.Got)
		}
	}
	if len(report.Wires) != 1 || report.Wires[0] != agentcheck.Queue {
		t.Errorf("got wires %v, want queue alone", report.Wires)
	}
	if len(prompts) == 0 {
		t.Error("the model was not asked")
	}
	if strings.Contains(log.String(), llmtest.Key) {
		t.Error("the log holds the key")
	}
}
