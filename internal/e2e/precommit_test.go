package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestPreCommit runs the hook for the installed program with the real pre-commit, as docs/command-line.md
// configures it.
func TestPreCommit(t *testing.T) {
	t.Parallel()
	preCommit, err := exec.LookPath("pre-commit")
	if err != nil {
		if os.Getenv("FOREMAN_E2E_REQUIRE_PRECOMMIT") != "" {
			t.Fatal("pre-commit is not installed, and must be")
		}
		t.Skip("pre-commit is needed, and not installed")
	}
	bin, hooks, work := t.TempDir(), t.TempDir(), t.TempDir()
	output(t, root, "go", "build", "-o", filepath.Join(bin, "foreman"), "./cmd/foreman")
	run := func(dir, name string, args ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "PRE_COMMIT_HOME="+filepath.Join(bin, "home"),
			"GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	must := func(dir, name string, args ...string) string {
		t.Helper()
		out, err := run(dir, name, args...)
		if err != nil {
			t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
		}
		return strings.TrimSpace(out)
	}
	write := func(dir, name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	manifest, err := os.ReadFile(filepath.Join(root, ".pre-commit-hooks.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	write(hooks, ".pre-commit-hooks.yaml", string(manifest))
	must(hooks, preCommit, "validate-manifest", ".pre-commit-hooks.yaml")
	for _, dir := range []string{hooks, work} {
		must(dir, "git", "init", "--quiet", "--initial-branch=main")
	}
	must(hooks, "git", "add", ".")
	must(hooks, "git", "commit", "--quiet", "--message=hooks")
	page, err := os.ReadFile(filepath.Join(root, "docs/command-line.md"))
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```yaml\n(repos:\n.*?)```").FindStringSubmatch(string(page))
	if block == nil {
		t.Fatal("docs/command-line.md shows no configuration of pre-commit")
	}
	config := strings.NewReplacer("https://github.com/org/foreman-action", hooks, "v1.2.3", must(hooks, "git", "rev-parse", "HEAD"),
		"id: foreman-rules-check", "id: foreman-rules-check-system").Replace(block[1])
	write(work, ".pre-commit-config.yaml", config)

	for _, tt := range []struct{ name, file, text, want string }{
		{"another file", "README.md", "# Hello\n", "Skipped"},
		{"rules", ".github/foreman.yml", "version: 1\nrules:\n  - id: crash\n    when: issue.title contains \"panic\"\n    then:\n      - add_label: bug\n", "Passed"},
		{"an included file with a mistake", ".github/foreman/more.yml", "version: 1\nrulse: []\n", "Passed"}, // no file includes it
		{"a mistake", ".github/foreman.yml", "version: 1\nrulse: []\n", `.github/foreman.yml:2:1: unknown key "rulse"`},
	} {
		write(work, tt.file, tt.text)
		must(work, "git", "add", ".")
		out, err := run(work, preCommit, "run")
		if (err != nil) != (tt.name == "a mistake") || !strings.Contains(out, tt.want) {
			t.Errorf("%s: got %v, want %q in\n%s", tt.name, err, tt.want, out)
		}
		must(work, "git", "commit", "--quiet", "--no-verify", "--message=x")
	}
}
