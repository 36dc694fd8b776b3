package ruletest_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/org/foreman-action/internal/rulesource"
	"github.com/org/foreman-action/internal/yamlfile"
	"github.com/org/foreman-action/policy"
	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/rules/ruletest"
)

var update = flag.Bool("update", false, "rewrite the expected parts of testdata")

// TestTests runs every archive in testdata/tests: rule files with tests, and in want the result of
// each test, or the mistakes. The label "forbidden" may not be added or removed.
func TestTests(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("testdata", "tests", "*.txtar"))
	if err != nil || len(files) < 12 {
		t.Fatalf("%d files, want at least 12: %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			ar, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := testOutcome(t, ar)
			if *update {
				setFile(ar, "want", got)
				if err := os.WriteFile(file, txtar.Format(ar), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(getFile(ar, "want"), got); diff != "" {
				t.Errorf("want and got differ (-want +got):\n%s", diff)
			}
		})
	}
}

func testOutcome(t *testing.T, ar *txtar.Archive) string {
	t.Helper()
	var sources []rules.Source
	var files []*yamlfile.File
	for _, f := range ar.Files {
		if f.Name == "want" {
			continue
		}
		s, err := rules.Parse(f.Name, f.Data)
		if err != nil {
			t.Fatal(err)
		}
		sources, files = append(sources, s), append(files, rulesource.Source(s).Parts().File)
	}
	tests, _ := ruletest.Parse(sources...) // Compile returns the mistakes, too
	set, err := rules.Compile(sources...)
	var b strings.Builder
	if err != nil {
		b.WriteString(err.Error() + "\n")
	}
	for _, f := range files {
		for _, w := range f.Warnings() {
			b.WriteString(w.Error() + "\n")
		}
	}
	if err != nil {
		return b.String()
	}
	for _, test := range tests {
		writeResult(&b, ruletest.Run(t.Context(), set, test, policy.Policy{Labels: policy.Labels{Deny: []string{"forbidden"}}}))
	}
	return b.String()
}

func writeResult(b *strings.Builder, r ruletest.Result) {
	word := "FAIL"
	if r.Passed() {
		word = "ok  "
	}
	fmt.Fprintf(b, "%s %s:%d %s\n", word, r.Test.File, r.Test.Line, r.Test.Name)
	for _, m := range r.Mismatches {
		fmt.Fprintf(b, "  %d:%d %q\n    want %s\n    got  %s\n", m.Line, m.Column, m.Key,
			strings.ReplaceAll(m.Want, "\n", "\n         "), strings.ReplaceAll(m.Got, "\n", "\n         "))
	}
	for _, w := range r.Rules {
		fmt.Fprintf(b, "  rule %s %s\n", w.ID, w.Outcome)
	}
}

// A test can set every name that conditions use, except names that are computed from others.
func TestTestsCanSayEverything(t *testing.T) {
	t.Parallel()
	given := map[string]string{ // the keys of names whose path in a test differs
		"event.name": "", "event.action": "", "event.key": "event", "event.label": "label", "event.assignee": "assignee", "event.milestone": "milestone",
		"event.comment.body": "comment.body", "event.comment.author": "comment.author", "event.comment.association": "comment.association",
		"issue.text": "", "pr.reviewers": "", "repo.owner": "", "repo.name": "", "repo.full_name": "repo",
	}
	for _, n := range rules.Reference() {
		root, _, _ := strings.Cut(n.Name, ".")
		if !slices.Contains([]string{"issue", "event", "actor", "repo", "pr", "memory", "now"}, root) {
			continue
		}
		path, other := given[n.Name]
		if !other {
			path = n.Name
		}
		if path == "" || path == "memory" {
			continue
		}
		key, field, nested := strings.Cut(path, ".")
		value := "{wrong: {}}"
		if nested {
			value = "{" + strings.ReplaceAll(field, ".", ": {") + ": {wrong: 1}" + strings.Repeat("}", strings.Count(field, ".")+1)
		}
		src := fmt.Sprintf("version: 1\nrules: []\ntests: [{name: a, event: %s, %s: %s, expect: {fired: []}}]\n", eventWith(key), key, value)
		if key == "event" {
			src = "version: 1\nrules: []\ntests: [{name: a, event: {}, expect: {fired: []}}]\n"
		}
		s, err := rules.Parse("f", []byte(src))
		if err != nil {
			t.Fatalf("%s: %v", src, err)
		}
		_, err = ruletest.Parse(s)
		ps, _ := errors.AsType[rules.Problems](err)
		if len(ps) != 1 || strings.Contains(ps[0].Message, "unknown key") && !strings.Contains(ps[0].Message, `"wrong"`) {
			t.Errorf("%s cannot be given: %v", n.Name, err)
		}
	}
}

// eventWith returns an event for which a test may have that key.
func eventWith(key string) string {
	switch key {
	case "label":
		return "issues.labeled"
	case "assignee":
		return "issues.assigned"
	case "milestone":
		return "issues.milestoned"
	case "comment":
		return "issue_comment.created"
	case "pr":
		return "pull_request.opened"
	}
	return "issues.opened"
}

// FuzzTests checks that no section tests makes parsing or running its tests panic, and that
// mistakes have positions.
func FuzzTests(f *testing.F) {
	files, err := filepath.Glob(filepath.Join("testdata", "tests", "*.txtar"))
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		ar, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(ar.Files[0].Data)
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		s, err := rules.Parse("rules.yml", src)
		if err != nil {
			return
		}
		tests, _ := ruletest.Parse(s) // the mistakes of Compile include these
		set, err := rules.Compile(s)
		ps, _ := errors.AsType[yamlfile.Problems](err)
		for _, p := range ps {
			if p.Line < 1 || p.Message == "" {
				t.Errorf("a problem without place or text: %v", p)
			}
		}
		for _, test := range tests {
			if set == nil || test.Name == "" || test.Line < 1 {
				continue
			}
			first, second := ruletest.Run(t.Context(), set, test, nil), ruletest.Run(t.Context(), set, test, nil)
			if diff := cmp.Diff(first.Mismatches, second.Mismatches); diff != "" {
				t.Errorf("two runs differ:\n%s", diff)
			}
		}
	})
}

// TestInsertTest runs every archive in testdata/insert: a file, an item, and in want the file with
// the item, or the error.
func TestInsertTest(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("testdata", "insert", "*.txtar"))
	if err != nil || len(files) < 8 {
		t.Fatalf("%d files, want at least 8: %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			ar, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			// The archive's comment lists changes to file.yml that an archive cannot contain, such
			// as CRLF.
			src := getFile(ar, "file.yml")
			if strings.Contains(string(ar.Comment), "CRLF") {
				src = strings.ReplaceAll(src, "\n", "\r\n")
			}
			if strings.Contains(string(ar.Comment), "no newline") {
				src = strings.TrimSuffix(src, "\n")
			}
			out, err := ruletest.Insert("file.yml", []byte(src), item)
			got := string(out)
			if err != nil {
				got = "error: " + err.Error() + "\n"
			}
			if strings.Contains(string(ar.Comment), "CRLF") {
				if strings.Count(got, "\n") != strings.Count(got, "\r\n") {
					t.Errorf("mixed line ends: %q", got)
				}
				got = strings.ReplaceAll(got, "\r\n", "\n")
			}
			if *update {
				setFile(ar, "want", got)
				if err := os.WriteFile(file, txtar.Format(ar), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(getFile(ar, "want"), got); diff != "" {
				t.Errorf("want and got differ (-want +got):\n%s", diff)
			}
		})
	}
}

const item = `- name: added
  issue:
    body: |
      first

        # no comment
  expect:
    fired: []
`

func getFile(ar *txtar.Archive, name string) string {
	for _, f := range ar.Files {
		if f.Name == name {
			return string(f.Data)
		}
	}
	return ""
}

func setFile(ar *txtar.Archive, name, text string) {
	for i := range ar.Files {
		if ar.Files[i].Name == name {
			ar.Files[i].Data = []byte(text)
			return
		}
	}
	ar.Files = append(ar.Files, txtar.File{Name: name, Data: []byte(text)})
}
