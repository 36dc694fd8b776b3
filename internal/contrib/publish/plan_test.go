package publish

import (
	"strings"
	"testing"
)

func TestCommands(t *testing.T) {
	t.Parallel()
	r := Request{Login: "me", Server: "https://github.com", Branch: "contribflow/issue-1", Base: "main", Title: "Say \"$x\" and `y`\\", BodyFile: "f.md"}
	r.Issue.Owner, r.Issue.Repo, r.Issue.Number = "o", "r", 1
	got := strings.Join(Lines(r.Commands()), "\n")
	want := strings.Join([]string{
		"gh auth status", "gh api user --jq .login", "gh repo fork o/r --clone=false", "git switch contribflow/issue-1", "git add -A",
		"git commit -m \"Say \\\"\\$x\\\" and \\`y\\`\\\\\"", "git remote add contribflow-fork https://github.com/me/r.git",
		"git push contribflow-fork HEAD:contribflow/issue-1",
		"gh pr create --repo o/r --draft --base main --head me:contribflow/issue-1 --title \"Say \\\"\\$x\\\" and \\`y\\`\\\\\" --body-file f.md",
	}, "\n")
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if Owner(Lines(r.Commands())) != "me" {
		t.Errorf("owner %q", Owner(Lines(r.Commands())))
	}
}
