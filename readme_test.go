package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/cli"
	"github.com/org/foreman-action/internal/cli/process"
)

// block returns the fenced text that follows a marker in the README.
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

// TestREADMETestCommand keeps the command by which everything is tested.
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

// TestREADMEFiles loads every configuration that the README shows.
func TestREADMEFiles(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	files := 0
	for _, m := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(data), -1) {
		if !strings.Contains(m[1], "version: 1") {
			continue
		}
		files++
		src := strings.NewReplacer("include: [.github/foreman/*.yml]", "", "extends: octo-org/.github:foreman.yml@v1", "", "disable: [crash]", "").Replace(m[1])
		if c, err := config.Parse("README.md", []byte(src), nil); err != nil || len(c.Warnings) > 0 {
			t.Errorf("%v, warnings %v", err, c)
		}
	}
	if files < 2 {
		t.Errorf("only %d configurations in the README", files)
	}
}

// TestDemoRules loads the files that the repository shows off with.
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

// TestInitWorkflow keeps the workflow that "foreman init" writes at the README's version,
// and at the least that it takes.
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

// TestREADMETests runs the tests that the README shows, on the rules that it shows first.
func TestREADMETests(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, file, _ := strings.Cut(string(data), "```yaml\n# .github/foreman.yml\n")
	file, _, _ = strings.Cut(file, "```\n")
	_, tests, ok := strings.Cut(string(data), "```yaml\ntests:\n")
	tests, _, _ = strings.Cut(tests, "```\n")
	if file == "" || !ok {
		t.Fatal("the README shows no rules, or no tests")
	}
	name := filepath.Join(t.TempDir(), "foreman.yml")
	if err := os.WriteFile(name, []byte(file+"tests:\n"+tests), 0o644); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	code := cli.Main(t.Context(), process.Env{Stdout: &out, Stderr: &errs}, []string{"rules", "test", name})
	if code != 0 || !strings.Contains(out.String(), "2 tests, 0 failed") {
		t.Errorf("exit code %d: %s%s", code, out.String(), errs.String())
	}
}
