package publish

import (
	"strings"
	"testing"
)

func TestCommands(t *testing.T) {
	t.Parallel()
	r := Request{Fork: Fork{Owner: "me", Name: "r"}, Server: "https://github.com", Branch: "contribflow/issue-1", Base: "main", Title: "Say \"$x\" and `y`\\", BodyFile: "f.md"}
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
	if f := Planned(Lines(r.Commands())); f != r.Fork {
		t.Errorf("planned %+v", f)
	}
}

// TestForkName plans a fork whose name is not that of the repository.
func TestForkName(t *testing.T) {
	t.Parallel()
	for _, created := range []bool{false, true} {
		r := Request{Fork: Fork{Owner: "me", Name: "r.fork", New: created}, Server: "https://github.com", Branch: "b", Base: "main"}
		r.Issue.Owner, r.Issue.Repo, r.Issue.Number = "o", "r", 1
		lines := Lines(r.Commands())
		if got := Planned(lines); got != r.Fork {
			t.Errorf("planned %+v, want %+v", got, r.Fork)
		}
		if named := strings.HasSuffix(lines[2], " --fork-name r.fork"); named != created {
			t.Errorf("got %s", lines[2])
		}
	}
}
