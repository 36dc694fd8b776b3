package config_test

import (
	"encoding/json"
	"flag"
	"slices"
	"strings"
	"testing"

	"github.com/org/foreman-action/internal/coding/build/config"
	"github.com/org/foreman-action/internal/testkit/golden"
)

var update = flag.Bool("update", false, "rewrite the expected parts of testdata")

// TestParse parses the part build.yml of each case. The part want contains the configuration as
// JSON, or the problems.
func TestParse(t *testing.T) {
	t.Parallel()
	golden.Each(t, "testdata", *update, func(t *testing.T, c *golden.Case) {
		t.Helper()
		parsed, err := config.Parse(c.Get("build.yml"))
		got, marshalErr := json.MarshalIndent(parsed, "", "  ")
		if marshalErr != nil {
			t.Fatal(marshalErr)
		}
		if err != nil {
			got = []byte(err.Error())
		}
		c.Want(t, "want", string(got))
	})
}

func TestPresetsHaveResults(t *testing.T) {
	t.Parallel()
	for _, role := range []string{"builder", "inspector"} {
		for _, preset := range []string{"opencode", "claude", "codex", "aider"} {
			if preset == "aider" && role == "inspector" {
				continue
			}
			other := map[string]string{"builder": "inspector", "inspector": "builder"}[role]
			c, err := config.Parse([]byte("version: 1\n" + role + ": {preset: " + preset + ", model: m}\n" + other + ": {command: [x]}\n"))
			if err != nil {
				t.Errorf("%s as %s: %v", preset, role, err)
				continue
			}
			a := c.Builder
			if role == "inspector" {
				a = c.Inspector
			}
			command := a.Expand(map[string]string{"model": "m", "prompt_file": "{{role}}", "message_file": "/f"})
			if !slices.Contains(command, "m") || strings.Contains(strings.Join(command, " "), "{{title}}") {
				t.Errorf("%s as %s: %q", preset, role, command)
			}
			if a.Uses("prompt_file") && !strings.Contains(strings.Join(command, " "), "{{role}}") {
				t.Errorf("%s as %s: a value was expanded again: %q", preset, role, command)
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("version: 1\nbuilder: {preset: codex}\ninspector: {command: [x, '{{prompt}}']}\nlimits: {log_bytes: 3KB}\n"))
	f.Add([]byte("version: 1\nbuilder: [1]\nchecks: [{run: []}]\nenv: [GITHUB_TOKEN]\nsandbox: docker\n"))
	f.Fuzz(func(t *testing.T, src []byte) {
		c, err := config.Parse(src)
		if err != nil {
			return
		}
		for _, a := range []config.Agent{c.Builder, c.Inspector} {
			if a.Result == "" || (len(a.Command) == 0) == (a.Script == "") {
				t.Errorf("an agent without a command: %+v", a)
			}
		}
		if c.Limits.Rounds < 1 || c.Limits.LogBytes <= 0 {
			t.Errorf("limits %+v", c.Limits)
		}
	})
}

func TestProtects(t *testing.T) {
	t.Parallel()
	p := config.Publish{Protected: []string{".github/**", "AGENTS.md", "**/*.pem", "a/*/c", "docs/[ab].md"}}
	tests := map[string]string{
		".github/workflows/x.yml": ".github/**", ".github": ".github/**", ".GitHub/x": ".github/**", ".githubx/a": "",
		"agents.MD": "AGENTS.md", "sub/AGENTS.md": "", "AGENTS.md/x": "",
		"k.pem": "**/*.pem", "a/b/k.pem": "**/*.pem", "k.pem.txt": "",
		"a/b/c": "a/*/c", "a/b/b/c": "", "a/c": "", "docs/a.md": "docs/[ab].md", "docs/c.md": "",
	}
	for name, want := range tests {
		if got, ok := p.Protects(name); got != want || ok != (want != "") {
			t.Errorf("%s: got %q, %t, want %q", name, got, ok, want)
		}
	}
	if _, err := config.Parse([]byte("version: 1\nbuilder: {command: [x]}\ninspector: {command: [x]}\npublish: {protected: [\"[\"]}\n")); err == nil {
		t.Error("a pattern that cannot be read is accepted")
	}
}
