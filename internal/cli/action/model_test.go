package action

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/org/foreman-action/internal/agenttest"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/llm/llmtest"
	"github.com/org/foreman-action/protocol"
)

// TestSummaryByModel lets a model add its text to the agent's summary. The agent gets the facts
// alone when the model fails or mentions a comment that they do not have.
func TestSummaryByModel(t *testing.T) {
	t.Parallel()
	const (
		facts = "Issue #7: labelled 'bug' on 2026-04-10 (rule crash). No further actions."
		prose = "A rule marked the issue as a bug."
		both  = facts + " " + prose
	)
	tests := []struct {
		name   string
		answer llmtest.Answer
		set    map[string]string // inputs, on top of the usual ones
		env    map[string]string
		want   string // the agent's summary
		log    []string
	}{
		{"its words", llmtest.Say(prose), nil, nil, both, nil},
		{"key from the environment", llmtest.Say(prose), map[string]string{"llm-key": ""}, map[string]string{"FOREMAN_LLM_KEY": llmtest.Key}, both, nil},
		{"key of the provider", llmtest.Say(prose), map[string]string{"llm-key": ""}, map[string]string{"ANTHROPIC_API_KEY": llmtest.Key}, both, nil},
		{"facts are asked for", llmtest.Say(prose), map[string]string{"memory-summary": "facts"}, nil, facts, []string{"::warning", "which is not set"}},
		{"a comment that nobody posted", llmtest.Say("A comment was posted."), nil, nil, facts, []string{"::warning", "the model's summary was rejected; the agent gets the facts alone"}},
		{"a failure", llmtest.Fail(500, "api_error"), nil, nil, facts, []string{"::warning", "the model's summary was rejected; the agent gets the facts alone"}},
		{"another key", llmtest.Say(prose), map[string]string{"llm-key": "sk-another-key-0123"}, nil, facts, []string{"::warning", "401"}},
		{"an unknown provider", llmtest.Say(prose), map[string]string{"llm-provider": "gemini"}, nil, facts, []string{"::warning", "llm provider: want"}},
		{"slow", llmtest.Answer{Text: prose, Hold: t.Context().Done()}, map[string]string{"llm-timeout": "50ms"}, nil, facts, []string{"::warning", "no answer"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var told []string
			ag := agenttest.New(t, func(task protocol.TaskMessage) agenttest.Answer {
				told = append(told, orNull(task.Context.MemorySummary))
				return agenttest.Skip("nothing to do")
			})
			model := llmtest.New(t, llmtest.Anthropic, func(llmtest.Request) llmtest.Answer { return tt.answer })
			s := newStep(t)
			s.SetEvent("issues", []byte(strings.Replace(issueOpened, `"opened"`, `"reopened"`, 1)))
			dir := filepath.Join(t.TempDir(), "memory")
			for name, value := range map[string]string{
				"agent-url": ag.URL, "memory": "file", "memory-path": dir, "memory-summary": "model",
				"llm-provider": "anthropic", "llm-model": "some-model", "llm-base-url": model.URL, "llm-key": llmtest.Key,
			} {
				s.SetInput(name, value)
			}
			for name, value := range tt.set {
				s.SetInput(name, value)
			}
			for name, value := range tt.env {
				s.Setenv(name, value)
			}
			remembers(t, dir)
			if code := s.run(t.Context()); code != command.ExitOK {
				t.Fatalf("exit code %d:\n%s", code, s.Log())
			}
			if len(told) != 1 || told[0] != tt.want {
				t.Errorf("the agent was told %q, want %q\n%s", told, tt.want, s.Log())
			}
			s.wantLog(t, tt.log...)
			if strings.Contains(s.Log(), "::warning") != (tt.log != nil) {
				t.Errorf("log:\n%s", s.Log())
			}
			masked := strings.ReplaceAll(s.Log(), "::add-mask::"+llmtest.Key, "")
			if strings.Contains(masked, llmtest.Key) {
				t.Errorf("the log shows the key:\n%s", s.Log())
			}
		})
	}
}

// remembers puts a record of the issue of the event into a file store.
func remembers(t *testing.T, dir string) {
	t.Helper()
	const record = `{"schema": 1, "repo": "octo-org/widgets", "issue": 7, "revision": 1, "tasks": [{"id": "t1",
		"at": "2026-04-10T08:00:00Z", "event": "issues.opened", "decision": "label_and_respond", "by": "rules", "status": "applied",
		"actions": [{"index": 0, "type": "add_label", "values": ["bug"], "rule": "crash", "result": "done"}]}]}`
	path := filepath.Join(dir, "octo-org/widgets/7.json")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(record), 0o600); err != nil {
		t.Fatal(err)
	}
}
