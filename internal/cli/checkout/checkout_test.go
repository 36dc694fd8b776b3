package checkout_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/org/foreman-action/internal/cli/checkout"
	"github.com/org/foreman-action/internal/cli/process"
)

// TestOfOther compares a repository with the variable of the workflow and with git's remote.
func TestOfOther(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	for _, tt := range []struct {
		variable, remote string
		want             bool
	}{
		{"", "", false},
		{"octo/hello", "", false},
		{"Octo/Hello", "", false},
		{"octo/other", "", true},
		{"", "https://github.com/octo/hello.git", false},
		{"", "git@github.com:octo/other.git", true},
		{"octo/other", "https://github.com/octo/hello", false},
		{"octo/hello", "https://github.com/octo/other", false},
		{"octo/other", "https://github.com/octo/third", true},
		{"", "https://git.example/octo/other", false},
	} {
		dir := t.TempDir()
		for _, name := range []string{"objects", "refs"} {
			if err := os.MkdirAll(filepath.Join(dir, ".git", name), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		text := "[core]\n\trepositoryformatversion = 0\n"
		if tt.remote != "" {
			text += "[remote \"origin\"]\n\turl = " + tt.remote + "\n"
		}
		for name, content := range map[string]string{"HEAD": "ref: refs/heads/main\n", "config": text} {
			if err := os.WriteFile(filepath.Join(dir, ".git", name), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		env := process.Env{Environ: os.Environ, Getenv: func(name string) string {
			if name == "GITHUB_REPOSITORY" {
				return tt.variable
			}
			return ""
		}}
		if got := checkout.OfOther(t.Context(), env, dir, "octo/hello"); got != tt.want {
			t.Errorf("variable %q, remote %q: got %v", tt.variable, tt.remote, got)
		}
	}
}
