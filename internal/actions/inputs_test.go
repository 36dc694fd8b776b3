package actions_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/org/foreman-action/internal/actions"
)

func TestInput(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		env   map[string]string
		input actions.InputName
		want  string
	}{
		{name: "absent", input: actions.InputConfig, want: ".github/foreman.yml"},
		{name: "absent without default", input: actions.InputAgentURL},
		{name: "hyphens kept", env: map[string]string{"INPUT_AGENT-URL": "http://a"}, input: actions.InputAgentURL, want: "http://a"},
		{name: "underscores", env: map[string]string{"INPUT_AGENT_URL": "http://b"}, input: actions.InputAgentURL, want: "http://b"},
		{name: "hyphens win", env: map[string]string{"INPUT_AGENT-URL": "http://a", "INPUT_AGENT_URL": "http://b"},
			input: actions.InputAgentURL, want: "http://a"},
		{name: "empty gives way", env: map[string]string{"INPUT_AGENT-TIMEOUT": " ", "INPUT_AGENT_TIMEOUT": "5s"},
			input: actions.InputAgentTimeout, want: "5s"},
		{name: "empty is the default", env: map[string]string{"INPUT_CONFIG": "\n"}, input: actions.InputConfig, want: ".github/foreman.yml"},
		{name: "trimmed", env: map[string]string{"INPUT_CONFIG": "  a.yml\n"}, input: actions.InputConfig, want: "a.yml"},
		{name: "unknown", env: map[string]string{"INPUT_NOPE": "x"}, input: "nope"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			getenv := func(name string) string { return tt.env[name] }
			if got := actions.ReadInput(getenv, tt.input); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// TestTables checks the tables from which the documentation and action.yml are generated.
func TestTables(t *testing.T) {
	t.Parallel()
	name := regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`)
	seen := map[string]bool{}
	check := func(kind, id, description string) {
		if !name.MatchString(id) || seen[kind+id] {
			t.Errorf("%s %q: want lower-case words with hyphens, once", kind, id)
		}
		seen[kind+id] = true
		if !strings.HasSuffix(description, ".") || strings.ContainsAny(description, "\n|\"\\") {
			t.Errorf("%s %s: want one line that ends in a period and needs no escape, got %q", kind, id, description)
		}
	}
	for _, in := range actions.Inputs() {
		check("input", string(in.Name), in.Description)
		if len(in.Enum) > 0 && !slices.Contains(in.Enum, in.Default) {
			t.Errorf("input %s: the default %q is not allowed", in.Name, in.Default)
		}
		for _, v := range in.Enum {
			if !strings.Contains(in.Description, "`"+v+"`") {
				t.Errorf("input %s: the description does not name %q", in.Name, v)
			}
		}
		if in.Secret && in.Default != "" {
			t.Errorf("input %s: a secret with a default", in.Name)
		}
	}
	for _, out := range actions.Outputs() {
		check("output", out.Name, out.Description)
	}
}
