package event

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/policy"
	"github.com/org/foreman-action/protocol"
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

// TestOverrides checks that an input overrides the file, and that an empty input does not.
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
	if diff := cmp.Diff(file, Overrides{}.Apply(file)); diff != "" {
		t.Errorf("no overrides (-want +got):\n%s", diff)
	}
	all := Overrides{
		AgentURL: "https://input", AgentAuth: "none", Timeout: time.Second, OnFailure: config.OnFailure{Set: true},
		LLM: protocol.LLMBackendRef{Model: "n"}, Memory: config.Memory{Store: "off", Path: "q"},
	}
	want := &config.Config{
		Policy: policy.Policy{AllowClose: true},
		LLM:    protocol.LLMBackendRef{Provider: "ollama", Model: "n"},
		Memory: config.Memory{Store: "off", Path: "q"},
		Agent:  config.Agent{URL: "https://input", Auth: "none", Timeout: time.Second, OnFailure: config.OnFailure{Set: true}},
	}
	if diff := cmp.Diff(want, all.Apply(file)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := (Overrides{AllowClose: true}).Apply(nil); !got.Policy.AllowClose {
		t.Error("allow-close is lost without a file")
	}
	if file.Agent.URL != "https://file" {
		t.Error("the file's configuration was changed")
	}
}

// TestTaskID checks that the ID is the same for every attempt at one issue in one run, and differs
// for other issues and runs.
func TestTaskID(t *testing.T) {
	t.Parallel()
	id := func(repo, run string, issue int) string {
		s, err := TaskID(repo, run, issue)
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

func TestAgentAuth(t *testing.T) {
	t.Parallel()
	token := func(context.Context, string) (string, error) { return "jwt", nil }
	tests := []struct {
		name    string
		token   string
		idToken func(context.Context, string) (string, error)
		auth    string
		ok      bool
	}{
		{"none", "", nil, "", true},
		{"token", "t", nil, "token", true},
		{"token without one", "", nil, "token", false},
		{"oidc", "", token, "oidc", true},
		{"oidc outside actions", "", nil, "oidc", false},
	}
	for _, tt := range tests {
		remote, err := askedAgent(config.Agent{URL: "https://agent.example.org", Auth: tt.auth}, tt.token, tt.idToken, "")
		if (err == nil) != tt.ok || (remote != nil) != tt.ok {
			t.Errorf("%s: got %v", tt.name, err)
		}
	}
}

// TestInheritedAgent sends no credentials to an address that only an extended file, written by
// others, names.
func TestInheritedAgent(t *testing.T) {
	t.Parallel()
	idToken := func(context.Context, string) (string, error) { return "an-id-token", nil }
	for _, auth := range []string{"token", "oidc", "none", ""} {
		for _, override := range []string{"", "input"} {
			t.Run(auth+" "+override, func(t *testing.T) {
				t.Parallel()
				var got []string
				srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					got = append(got, r.Header.Get("Authorization"))
					fmt.Fprint(w, `{"task_id": "t", "decision": "skip", "rationale": "", "actions": []}`)
				}))
				defer srv.Close()
				o := Overrides{}
				if override != "" {
					o.AgentURL = srv.URL
				}
				c := o.Apply(&config.Config{Agent: config.Agent{URL: srv.URL, Auth: auth, Inherited: true}}).Agent
				remote, err := askedAgent(c, "s3cret", idToken, "test")
				if err != nil {
					t.Fatal(err)
				}
				if _, err := remote.Decide(t.Context(), protocol.TaskMessage{TaskID: "t"}); err != nil {
					t.Fatal(err)
				}
				want := map[string]string{"input token": "Bearer s3cret", "input oidc": "Bearer an-id-token"}[strings.TrimSpace(override+" "+auth)]
				if len(got) != 1 || got[0] != want {
					t.Errorf("credentials %q, want %q", got, want)
				}
			})
		}
	}
}
