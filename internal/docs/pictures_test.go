package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/internal/docs"
)

// TestSummaryPicture compares the text of docs/pictures/summary.png with the job summary of
// the README's workflow and rules. "make pictures" makes both again.
func TestSummaryPicture(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, b := range docs.Parse(pages(t)["README.md"]).Blocks {
		if b.File() == "" {
			continue
		}
		path := filepath.Join(dir, b.File())
		err := os.MkdirAll(filepath.Dir(path), 0o750)
		if err == nil {
			err = os.WriteFile(path, []byte(b.Text), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	r, err := runWorkflow(dir, "42", "panic at boot", "", "needs-info")
	if err != nil {
		t.Fatal(err)
	}
	if len(r.issue.Labels) != 2 || len(r.issue.Comments) != 1 {
		t.Errorf("the issue has the labels %q and %d comments, want bug, needs-info and a comment", r.issue.Labels, len(r.issue.Comments))
	}
	got := regexp.MustCompile(`foreman \S+</sub>`).ReplaceAllString(steady(r.summary), "foreman v1</sub>")
	path := filepath.Join(root, "docs", "pictures", "summary.markdown")
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
		t.Errorf("the picture is out of date; run make pictures (-picture +now):\n%s", diff)
	}
}
