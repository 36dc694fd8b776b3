package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/org/foreman-action/config/serverconfig"
	"github.com/org/foreman-action/internal/cli/foremand"
	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/command"
)

// TestDocsConfig loads the configuration that docs/server.md shows.
func TestDocsConfig(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("../../docs/server.md")
	if err != nil {
		t.Fatal(err)
	}
	loaded := 0
	for _, block := range strings.Split(string(doc), "```yaml\n")[1:] {
		text, _, _ := strings.Cut(block, "```")
		if !strings.Contains(text, "identity:") {
			continue // a part of one
		}
		path := filepath.Join(t.TempDir(), "config.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := serverconfig.Load(t.Context(), serverconfig.Spec{Path: path, Home: "/home/me", Lookup: func(name string) (string, bool) { return "a-long-enough-secret", name != "GITHUB_API_URL" }})
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		if len(s.Warnings) > 0 {
			t.Errorf("warnings: %v", s.Warnings)
		}
		loaded++
	}
	if loaded == 0 {
		t.Error("docs/server.md shows no configuration")
	}
}

// TestREADMECheck runs the README's command for the server, with no environment.
func TestREADMECheck(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(readme), "<!-- server check -->\n```sh\ngo run ./cmd/foremand ")
	if !ok {
		t.Fatal("the README has no command for the server")
	}
	line, _, _ := strings.Cut(rest, "\n")
	var out, errs bytes.Buffer
	args := strings.Fields(strings.ReplaceAll(line, "testdata/", "../../testdata/"))
	code := foremand.Main(t.Context(), process.Env{Stdout: &out, Stderr: &errs}, args)
	if code != command.ExitOK || !strings.Contains(out.String(), "Codertocat/Hello-World") {
		t.Errorf("exit code %d\n%s%s", code, out.String(), errs.String())
	}
}
