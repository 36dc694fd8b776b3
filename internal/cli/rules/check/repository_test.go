package check

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/github/githubtest"
)

// TestOwnersForms checks the headings of a repository that has the forms of its owner.
func TestOwnersForms(t *testing.T) {
	t.Parallel()
	const form = "body:\n  - {type: input, attributes: {label: Version}}\n"
	tests := []struct {
		name  string
		files map[string]string // by repository and path
		fault string
		code  int
		want  string
	}{
		{"none", nil, "", command.ExitOK, "0 mistakes, 0 warnings"},
		{"of the owner", map[string]string{"octo-org/.github .github/ISSUE_TEMPLATE/a.yml": form}, "", command.ExitUsage, `"Verison"; did you mean "Version"?`},
		{"its own wins", map[string]string{
			"octo-org/.github .github/ISSUE_TEMPLATE/a.yml": form,
			"octo-org/widgets .github/ISSUE_TEMPLATE/a.yml": strings.ReplaceAll(form, "Version", "Verison"),
		}, "", command.ExitOK, "0 mistakes, 0 warnings"},
		{"a file where a folder would stand", map[string]string{"octo-org/widgets .github/ISSUE_TEMPLATE": "x", "octo-org/widgets .github/workflows": "x"}, "", command.ExitOK, "0 mistakes, 0 warnings"},
		{"a large file", map[string]string{"octo-org/widgets .github/workflows/a.yml": strings.Repeat("#", 1<<20+1)}, "", command.ExitOK, "a.yml: warning: left out of the check: it cannot be read"},
		{"a folder that cannot be read", nil, "GET /repos/*/*/contents/*/* status=403 body={\"message\":\"Resource_not_accessible_by_integration\"}", command.ExitFailed, "give the token contents: read"},
		{"trouble", nil, "GET /repos/*/*/contents/*/* status=501", command.ExitFailed, "try again later"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			gh := githubtest.New(t, githubtest.Config{Token: "s3cret-token"})
			gh.Repo("octo-org/widgets").AddLabel("bug")
			for at, content := range tt.files {
				repo, path, _ := strings.Cut(at, " ")
				gh.Repo(repo).AddFile(path, content)
			}
			if tt.fault != "" {
				f, err := githubtest.ParseFault(strings.Fields(tt.fault))
				if err != nil {
					t.Fatal(err)
				}
				gh.Fault(f)
			}
			dir := t.TempDir()
			rules := "version: 1\nforms: {version: {heading: Verison}}\nrules: []\n"
			if err := os.WriteFile(filepath.Join(dir, "rules.yml"), []byte(rules), 0o600); err != nil {
				t.Fatal(err)
			}
			var out strings.Builder
			env := map[string]string{"GITHUB_TOKEN": "s3cret-token", "GITHUB_API_URL": gh.URL}
			o := Options{Files: []string{"rules.yml"}, Format: "text", Repository: "octo-org/widgets"}
			o.Env = process.Env{Dir: dir, Getenv: func(name string) string { return env[name] }, Stdout: &out, Stderr: &out}.Complete()
			err := Run(t.Context(), o)
			if code := command.ExitCode(err); code != tt.code || !strings.Contains(out.String()+fmt.Sprint(err), tt.want) {
				t.Errorf("got exit code %d, want %d with %s:\n%s", command.ExitCode(err), tt.code, tt.want, out.String())
			}
		})
	}
}
