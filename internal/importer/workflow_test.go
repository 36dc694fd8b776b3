package importer_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/org/foreman-action/internal/importer"
	"github.com/org/foreman-action/internal/othertools"
	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/triage"
)

const workflow = `on:
  pull_request_target:
    branches: [main, 'release/**']
jobs:
  label:
    if: github.repository == 'Octo-Org/hello' && !github.event.pull_request.draft
    runs-on: ubuntu-latest
    steps:
      - uses: actions/labeler@v5
        if: "!contains(github.event.pull_request.title, '[Skip]')"
`

// TestWorkflowConditions: the rules add a label only where the job and the step would run.
func TestWorkflowConditions(t *testing.T) {
	t.Parallel()
	pull := func(change func(f *facts.Facts)) facts.Facts {
		f := facts.Facts{
			Event:  triage.Event{Name: "pull_request", Action: "opened"},
			Repo:   triage.Repo{Owner: "octo-org", Name: "hello"},
			Issue:  triage.Issue{Title: "Docs", PullRequest: true},
			Pull:   &triage.PullRequest{Base: "main", ChangedFiles: 1},
			Lookup: facts.Known{Changed: []string{"docs/a.md"}},
		}
		change(&f)
		return f
	}
	tests := []struct {
		name   string
		change func(f *facts.Facts)
		want   string
	}{
		{"all hold", func(*facts.Facts) {}, "docs"},
		{"another branch that matches", func(f *facts.Facts) { f.Pull.Base = "release/1/2" }, "docs"},
		{"a branch that does not", func(f *facts.Facts) { f.Pull.Base = "dev" }, ""},
		{"a draft", func(f *facts.Facts) { f.Pull.Draft = true }, ""},
		{"a fork", func(f *facts.Facts) { f.Repo.Owner = "ann" }, ""},
		{"the title, in another case", func(f *facts.Facts) { f.Issue.Title = "[SKIP] docs" }, ""},
	}
	for _, tt := range tests {
		r := othertools.Request{
			Tool:     "labeler",
			File:     othertools.Source{Name: ".github/labeler.yml", Data: []byte("docs: [{changed-files: [{any-glob-to-any-file: 'docs/**'}]}]")},
			Workflow: othertools.Source{Name: "workflow.yml", Data: []byte(workflow)},
		}
		if got := added(t, r, pull(tt.change)); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestLacking(t *testing.T) {
	t.Parallel()
	const job = "jobs:\n  a:\n    steps: [{uses: actions/labeler@v5}]\n"
	needs := []string{"contents: read", "issues: write", "pull-requests: write"}
	tests := []struct{ name, workflow, want string }{
		{"none given", job, ""},
		{"all", "permissions: write-all\n" + job, ""},
		{"enough", "permissions: {contents: read, issues: write, pull-requests: write}\n" + job, ""},
		{"more than enough", "permissions: {contents: write, issues: write, pull-requests: write}\n" + job, ""},
		{"only reading", "permissions: read-all\n" + job, "1:14: issues: write, pull-requests: write"},
		{"one is missing", "permissions: {contents: read, pull-requests: write}\n" + job, "1:14: issues: write"},
		{"none at all", "permissions: {}\n" + job, "1:14: contents: read, issues: write, pull-requests: write"},
		{"those of the job count", "permissions: write-all\njobs:\n  a:\n    permissions:\n      issues: write\n    steps: [{uses: actions/labeler@v5}]\n", "5:7: contents: read, pull-requests: write"},
		{"another action", "permissions: {}\njobs: {a: {steps: [{uses: actions/stale@v5}]}}\n", ""},
		{"not YAML", "a: [", ""},
	}
	for _, tt := range tests {
		got := ""
		if ps := importer.Lacking("labeler", othertools.Source{Name: "w.yml", Data: []byte(tt.workflow)}, needs); len(ps) > 0 {
			got, _, _ = strings.Cut(ps.Error(), ";")
			got = strings.Replace(strings.TrimPrefix(got, "w.yml:"), "permissions: Foreman also needs ", "", 1)
		}
		if got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestOpen(t *testing.T) {
	t.Parallel()
	const file = "# Imported by foreman rules import from a.yml, a configuration of x.\n" +
		"# A general remark.\n# dir/a.yml:1:2: something\n#   that goes on\n" +
		"rules:\n  # a.yml:3:4: another\n  # Left out: b\n  #   b: c\n  - id: a # not:1:1: this\n"
	var got []string
	for _, p := range importer.Open("f.yml", []byte(file)) {
		got = append(got, strings.SplitN(p.Error(), "\n", 2)[0])
	}
	want := "f.yml:3:1: warning: differs from the original: dir/a.yml:1:2: something that goes on\n" +
		"f.yml:6:3: warning: differs from the original: a.yml:3:4: another"
	if strings.Join(got, "\n") != want {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), want)
	}
	if ps := importer.Open("f.yml", []byte("# a.yml:1:2: somebody's own comment\n")); len(ps) > 0 {
		t.Errorf("a file of one's own has %v", ps)
	}
}

// TestManyFiles evaluates a merged list of labels for a pull request with as many files as GitHub
// lists, each of them renamed. The list must stay within the cost limit of an expression.
func TestManyFiles(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"one_line_each", "monorepo", "long"} {
		ar, err := txtar.ParseFile(filepath.Join("testdata", "labeler", file+".txtar"))
		if err != nil {
			t.Fatal(err)
		}
		var files []string
		for i := range 6000 {
			files = append(files, fmt.Sprintf("some/long/path/of/folders/%d/and/a/file-%d.txt", i%50, i))
		}
		f := facts.Facts{Event: triage.Event{Name: "pull_request", Action: "opened"}, Lookup: facts.Known{Changed: files}}
		f.Issue.PullRequest, f.Pull = true, &triage.PullRequest{ChangedFiles: 3000}
		if got := added(t, othertools.Request{Tool: "labeler", File: othertools.Source{Name: "in.yml", Data: ar.Files[0].Data}}, f); got != "" {
			t.Errorf("%s: got %q", file, got)
		}
	}
}
