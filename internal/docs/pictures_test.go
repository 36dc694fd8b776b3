package docs_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/internal/cli"
	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/docs"
)

// TestSummaryPicture compares the text of docs/pictures/summary.png with the job summary of the
// README's workflow and rules. "make pictures" updates the picture and its text.
func TestSummaryPicture(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFiles(t, dir, "README.md")
	r, err := runWorkflow(dir, "42", "panic at boot", "")
	if err != nil {
		t.Fatal(err)
	}
	if len(r.issue.Labels) != 2 || len(r.issue.Comments) != 1 {
		t.Errorf("the issue has the labels %q and %d comments, want bug, needs-info and a comment", r.issue.Labels, len(r.issue.Comments))
	}
	got := regexp.MustCompile(`foreman \S+</sub>`).ReplaceAllString(steady(r.summary), "foreman v1</sub>")
	comparePicture(t, "summary.markdown", got)
}

// TestProposalsPicture compares the texts of docs/pictures/proposals.png and proposals-summary.png with the
// comment and the job summary of the files on docs/suggestions.md.
func TestProposalsPicture(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFiles(t, dir, "docs/suggestions.md")
	r, err := runWorkflow(dir, "7", "It crashes", "a panic")
	if err != nil {
		t.Fatal(err)
	}
	if r.proposals == "" || len(r.issue.Labels) != 1 {
		t.Errorf("the issue has the labels %q and the proposals %q", r.issue.Labels, r.proposals)
	}
	comparePicture(t, "proposals.comment", r.proposals)
	got := regexp.MustCompile(`foreman \S+</sub>`).ReplaceAllString(steady(r.summary), "foreman v1</sub>")
	comparePicture(t, "proposals-summary.markdown", got)
}

// explained is the event of docs/pictures/explanation.png.
const explained = `{
  "action": "opened",
  "repository": {"full_name": "octo-org/hello", "name": "hello", "owner": {"login": "octo-org"}},
  "sender": {"login": "mona", "type": "User"},
  "issue": {
    "number": 7, "title": "How do I read a stack trace?", "body": "Where is it?", "state": "open",
    "user": {"login": "mona", "type": "User"}, "labels": [{"name": "kind/question"}]
  }
}`

// TestExplanationPicture compares the text of docs/pictures/explanation.png with the output of
// foreman on a terminal for the first file of docs/rules.md.
func TestExplanationPicture(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFiles(t, dir, "docs/rules.md")
	if err := os.WriteFile(filepath.Join(dir, "event.json"), []byte(explained), 0o600); err != nil {
		t.Fatal(err)
	}
	const command = "rules explain --event event.json"
	var screen bytes.Buffer
	fmt.Fprintf(&screen, "\x1b[1m$ foreman %s\x1b[0m\n", command)
	env := process.Env{Dir: dir, Stdout: &screen, Stderr: &screen}
	if code := cli.Main(t.Context(), env, strings.Fields("--color always "+command)); code != 0 {
		t.Fatalf("exit code %d\n%s", code, &screen)
	}
	comparePicture(t, "explanation.ansi", screen.String())
}

// writeFiles writes the first block of each file that a page shows.
func writeFiles(t *testing.T, dir, page string) {
	t.Helper()
	written := map[string]bool{}
	for _, b := range docs.Parse(pages(t)[page]).Blocks {
		if b.File() == "" || written[b.File()] {
			continue
		}
		written[b.File()] = true
		path := filepath.Join(dir, b.File())
		err := os.MkdirAll(filepath.Dir(path), 0o750)
		if err == nil {
			err = os.WriteFile(path, []byte(b.Text), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// comparePicture compares a text with the text of a picture. With -update it replaces the
// picture's text.
func comparePicture(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join(root, "docs", "pictures", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("the picture of docs/pictures/%s is out of date; run make pictures (-picture +now):\n%s", name, diff)
	}
}
