package serve

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/org/foreman-action/agent/agentcheck"
	"github.com/org/foreman-action/internal/cli/agent/issueagent"
	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/llm/llmtest"
	"github.com/org/foreman-action/internal/testkit/freeport"
)

// TestAgentServeModel checks the agent with a model that repeats the prompt injection of an
// issue: labels that were not offered and a wrong confidence are dropped, and the key appears nowhere.
func TestAgentServeModel(t *testing.T) {
	t.Parallel()
	const says = "Here it is:\n```json\n{\"decision\": \"label_and_respond\", \"rationale\": \"a bug\", \"actions\": [" +
		`{"type": "add_label", "label": "bug", "rationale": "it crashes", "confidence": "sure"}, {"type": "close_issue"}, {"type": "explode"}, {"type": "add_label", "label": "pwned"}]}` + "\n```\nAnything else?"
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
	if want := "dropped a wrong value of the model"; !strings.Contains(log.String(), want) {
		t.Errorf("the log lacks %q", want)
	}
	if strings.Contains(log.String(), llmtest.Key) {
		t.Error("the log holds the key")
	}
}

// TestAgentServeHosts sends requests as a browser does whose page is on another host, which may
// point at this machine.
func TestAgentServeHosts(t *testing.T) {
	t.Parallel()
	tests := []struct {
		options      Options
		host, origin string
		refused      bool
	}{
		{host: "127.0.0.1:8000"}, {host: "localhost:8000"}, {host: "[::1]:8000"}, {host: "localhost"},
		{host: "localhost:8000", origin: "http://localhost:3000"},
		{host: "rebound.example:8000", refused: true}, {host: "192.168.0.1:8000", refused: true}, {host: "", refused: true},
		{host: "127.0.0.1.evil.example", refused: true}, {host: "0.0.0.0:8000", refused: true},
		{host: "localhost:8000", origin: "https://evil.example", refused: true}, {host: "localhost:8000", origin: "null", refused: true},
		{host: "localhost:8000", origin: "http://localhost@evil.example", refused: true},
		{options: Options{Listen: "192.168.0.1:8000"}, host: "192.168.0.1:8000"},
		{options: Options{Listen: "0.0.0.0:8000"}, host: "0.0.0.0:8000", refused: true},
		{options: Options{Listen: ":8000"}, host: "", refused: true},
		{options: Options{Hosts: []string{"agent", "fd00::1"}}, host: "Agent:8000"},
		{options: Options{Hosts: []string{"agent", "fd00::1"}}, host: "[fd00::1]:8000"},
		{options: Options{Hosts: []string{"agent"}}, host: "agent:8000", origin: "http://agent:8000"},
		{options: Options{Hosts: []string{"agent"}}, host: "agent.evil.example", refused: true},
		{options: Options{Env: process.Env{Getenv: func(string) string { return "http://worker:9001" }}}, host: "worker:9001"},
	}
	for _, tt := range tests {
		tt.options.Env = tt.options.Env.Complete()
		reached := false
		handler := guarded(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }), tt.options.names())
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/task", nil)
		r.Host = tt.host
		if tt.origin != "" {
			r.Header.Set("Origin", tt.origin)
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if reached == tt.refused || tt.refused && w.Code != http.StatusForbidden {
			t.Errorf("%+v: got status %d, and the agent was asked: %v", tt, w.Code, reached)
		}
	}
}

// TestAgentServeGuarded checks that the command itself refuses such requests.
func TestAgentServeGuarded(t *testing.T) {
	t.Parallel()
	at, err := freeport.Find(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	log, started := io.Pipe()
	done := make(chan error, 1)
	o := Options{
		Listen: at.String(), Provider: "ollama", Model: "m", Concurrency: 1,
		Env: process.Env{Stdout: io.Discard, Stderr: started}.Complete(),
	}
	go func() { done <- Run(ctx, o) }()
	if _, err := log.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.Copy(io.Discard, log) }()
	for _, tt := range []struct {
		host, path string
		want       int
	}{
		{"rebound.example", "/task", http.StatusForbidden},
		{"10.1.2.3:8000", "/task", http.StatusForbidden},
		{"10.1.2.3:8000", "/health", http.StatusOK}, // the probe of an orchestrator
		{at.String(), "/task", http.StatusMethodNotAllowed},
		{at.String(), "/health", http.StatusOK},
	} {
		host, want := tt.host, tt.want
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+at.String()+tt.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = host
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("%s: got %s, want %d", host, answer.Status, want)
		}
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestAddresses checks that a name with a port, and other mistakes in the agent's addresses, are
// reported before it listens.
func TestAddresses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		listen string
		hosts  []string
		want   string // in the error; empty: the agent listens
	}{
		{"127.0.0.1:0", []string{"triage", "triage.example.com", "::1", "[::1]", "10.0.0.1"}, ""},
		{"127.0.0.1:0", []string{"triage", "example.com:80"}, `--host: want a name or an IP address, without a port, got "example.com:80"`},
		{"127.0.0.1:0", []string{"http://example.com"}, "--host: want a name"},
		{"127.0.0.1:0", []string{"a b"}, "--host: want a name"},
		{"127.0.0.1:0", []string{""}, "--host: want a name"},
		{"example.com", nil, `--listen: want an address such as 127.0.0.1:8000, got "example.com"`},
		{"localhost:99999", nil, "--listen: want"},
		{"localhost:x", nil, "--listen: want"},
		{"localhost:", nil, "--listen: want"},
		{"::", nil, "--listen: want"},
		{"http://localhost:8000", nil, "--listen: want"},
		{"", nil, "--listen: want"},
	}
	for _, tt := range tests {
		ctx, stop := context.WithCancel(t.Context())
		stop()
		o := Options{
			Listen: tt.listen, Hosts: tt.hosts, Provider: "anthropic", Model: "m", Concurrency: 1,
			Env: process.Env{Stdout: io.Discard, Stderr: io.Discard}.Complete(),
		}
		o.Env.Getenv = func(name string) string { return map[string]string{"ANTHROPIC_API_KEY": llmtest.Key}[name] }
		err := Run(ctx, o)
		switch {
		case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want) || command.ExitCode(err) != command.ExitUsage):
			t.Errorf("--listen %q --host %q: got %v, want %q", tt.listen, tt.hosts, err, tt.want)
		case tt.want == "" && err != nil && strings.HasPrefix(err.Error(), "--"):
			t.Errorf("--listen %q --host %q: got %v", tt.listen, tt.hosts, err)
		}
	}
}
