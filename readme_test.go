package main

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/cli"
	"github.com/org/foreman-action/internal/cli/process"
)

// block returns the code block that follows a marker in the README.
func block(t *testing.T, readme, marker string) string {
	t.Helper()
	_, rest, ok := strings.Cut(readme, "<!-- "+marker+" -->\n```")
	if !ok {
		t.Fatalf("README.md has no block behind <!-- %s -->", marker)
	}
	_, rest, _ = strings.Cut(rest, "\n")
	text, _, _ := strings.Cut(rest, "```\n")
	return text
}

// TestREADMERun runs the README's first command and compares its output with the README's. The
// program gets an empty environment and no network.
func TestREADMERun(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	readme := string(data)
	args, ok := strings.CutPrefix(strings.TrimSpace(block(t, readme, "run")), "go run . ")
	if !ok {
		t.Fatal("the README's first command is not: go run . …")
	}
	var out, errs bytes.Buffer
	code := cli.Main(t.Context(), process.Env{Stdout: &out, Stderr: &errs}, strings.Fields(args))
	if code != 0 || errs.Len() > 0 {
		t.Fatalf("exit code %d: %s", code, errs.String())
	}
	want := block(t, readme, "run output")
	if *update {
		readme = strings.Replace(readme, "<!-- run output -->\n```text\n"+want, "<!-- run output -->\n```text\n"+out.String(), 1)
		if err := os.WriteFile("README.md", []byte(readme), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if out.String() != want {
		t.Errorf("the README says:\n%s\nthe program prints:\n%s", want, out.String())
	}
}

// TestREADMETestCommand checks the command in the README that runs all tests.
func TestREADMETestCommand(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.TrimSpace(block(t, string(data), "test")); got != "go test ./..." {
		t.Errorf("got %q", got)
	}
}

// TestDemoRules loads the example rule files of the repository.
func TestDemoRules(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"testdata/demo/foreman.yml", ".github/foreman.yml"} {
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if c, err := config.Parse(name, src, nil); err != nil || c.Rules.Len() == 0 || len(c.Warnings) > 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestInitWorkflow compares the workflow that "foreman init" writes with the README. The version
// must be the same, and the permissions must be the minimum.
func TestInitWorkflow(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	workflow, err := os.ReadFile("internal/cli/starter/workflow.yml")
	if err != nil {
		t.Fatal(err)
	}
	uses := regexp.MustCompile(`- uses: (\S+)`)
	if got, want := uses.FindAllString(string(workflow), -1), uses.FindString(string(readme)); len(got) != 1 || got[0] != want {
		t.Errorf("the workflow has %q, the README %q", got, want)
	}
	if permissions := regexp.MustCompile(`(?m)^  [a-z-]+: (read|write)\b`).FindAllString(string(workflow), -1); strings.Join(permissions, ",") != "  contents: read,  actions: read,  issues: read" {
		t.Errorf("the workflow has the permissions %q", permissions)
	}
}
