package evidence

import (
	"bytes"
	"encoding/json"
	"flag"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/internal/testkit/golden"
	"github.com/org/foreman-action/triage"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestFind finds the evidence in the facts of each case.
func TestFind(t *testing.T) {
	t.Parallel()
	golden.Each(t, "testdata/found", *update, func(t *testing.T, c *golden.Case) {
		var f Facts
		d := json.NewDecoder(strings.NewReader(string(c.Get("facts.json"))))
		d.DisallowUnknownFields()
		if err := d.Decode(&f); err != nil {
			t.Fatal(err)
		}
		f.Ref = triage.Ref{Owner: "owner", Repo: "repo", Number: 123}
		f.Now = time.Date(2026, 6, 4, 0, 0, 0, 0, time.UTC)
		var out bytes.Buffer
		e := json.NewEncoder(&out)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		if err := e.Encode(append([]Evidence{}, Find(f)...)); err != nil {
			t.Fatal(err)
		}
		c.Want(t, "evidence.json", out.String())
	})
}

func TestCites(t *testing.T) {
	t.Parallel()
	ref := triage.Ref{Owner: "Owner", Repo: "repo", Number: 123}
	tests := map[string]bool{
		"Fixes #123": true, "fixes owner/Repo#123.": true, "see https://github.com/owner/repo/issues/123": true, "(#123)": true, "GH-123": true,
		"#123": true, "x#123": false, "#1234": false, "x/y#123": false, "https://github.com/owner/repo/issues/1234": false,
		"https://github.com/other/repo/issues/123": false, "&#123;": false, "##123": false, "123": false, "": false, "#123-4": false, "höhe#123": false,
	}
	for s, want := range tests {
		if got := cites(s, ref); got != want {
			t.Errorf("cites(%q) = %v, want %v", s, got, want)
		}
	}
}

func TestNamesIssue(t *testing.T) {
	t.Parallel()
	for branch, want := range map[string]bool{
		"issue-123": true, "fix/issue-123-typo": true, "contribflow/issue-123": true, "issue123": true, "issues/123": true,
		"issue-1234": false, "release-123": false, "123": false, "": false,
	} {
		if got := namesIssue(branch, 123); got != want {
			t.Errorf("namesIssue(%q) = %v, want %v", branch, got, want)
		}
	}
}

func TestSensitive(t *testing.T) {
	t.Parallel()
	tests := []struct {
		issue triage.Issue
		want  bool
	}{
		{triage.Issue{Title: "CVE-2026-1"}, true},
		{triage.Issue{Title: "cve-2026-1 in the parser"}, true},
		{triage.Issue{Title: "Add a source map"}, false},
		{triage.Issue{Title: "Force a refresh"}, false},
		{triage.Issue{Body: "This is an RCE."}, true},
		{triage.Issue{Body: "possible XSS in the preview"}, true},
		{triage.Issue{Body: "sql injection"}, true},
		{triage.Issue{Body: "an auth bypass"}, true},
		{triage.Issue{Body: "prints the private key"}, true},
		{triage.Issue{Body: "a credential leak"}, true},
		{triage.Issue{Body: "can be exploited"}, true},
		{triage.Issue{Labels: []string{"type: security"}}, true},
		{triage.Issue{Labels: []string{"Vulnerability"}}, true},
		{triage.Issue{Labels: []string{"insecurity"}}, false},
		{triage.Issue{Labels: []string{"not security"}}, false},
	}
	for _, tt := range tests {
		if got := Sensitive(tt.issue); got != tt.want {
			t.Errorf("Sensitive(%+v) = %v, want %v", tt.issue, got, tt.want)
		}
	}
}

func TestLabels(t *testing.T) {
	t.Parallel()
	for label, want := range map[string]bool{
		"good first issue": true, "Good-First-Issue": true, "D: good_first_issue 🎉": true, "good": false, "not a good first issue": false, "": false,
	} {
		if got := HasLabel([]string{"other", label}, "good first issue"); got != want {
			t.Errorf("HasLabel(%q) = %v, want %v", label, got, want)
		}
	}
}

func TestCompared(t *testing.T) {
	t.Parallel()
	tree := []Path{{"README.md", 10}, {"content/quotes.json", 100}, {"vendor/quotes.json", 1}, {"img/quote.png", 1}, {"big/quote.txt", MaxFileSize + 1}, {"docs/setup.md", 5}}
	issue := triage.Issue{Title: "Add a quote", Body: "Please add \"I will keep moving forward until the end\" beside those in setup.md."}
	if diff := cmp.Diff([]string{"docs/setup.md", "content/quotes.json"}, Compared(issue, tree)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	issue.Title = "Wrong quote"
	if got := Compared(issue, tree); got != nil {
		t.Errorf("an issue about a mistake is compared with %v", got)
	}
	issue.Title, issue.Body = "Add a quote", "A short one."
	if got := Compared(issue, tree); got != nil {
		t.Errorf("an issue that asks for no text is compared with %v", got)
	}
}

// FuzzFind checks that any text gives at most five pieces of evidence, with short texts and no
// control characters.
func FuzzFind(f *testing.F) {
	f.Add("Improve the README examples section", "Add \"I will keep moving forward until the end\"", "Improve README examples", "Fixes #123", "i will keep moving forward until the end")
	f.Add("Add `a quote of more than twenty characters`", "> a\n> b\n```\nx\n```\nkey: value of more than twenty", "\u202ea", "x/y#123 #1234 &#123;", "\x00")
	f.Fuzz(func(t *testing.T, title, body, pull, pullBody, content string) {
		got := Find(Facts{
			Ref: triage.Ref{Owner: "owner", Repo: "repo", Number: 123}, Issue: triage.Issue{Title: title, Body: body, Assignees: []string{pull}},
			Pulls: []Pull{{1, pull, pullBody, title, "u"}}, Files: []File{{title, "u", content}},
			Comments: []triage.Comment{{Body: body}},
		})
		if len(got) > Max {
			t.Fatalf("%d pieces of evidence", len(got))
		}
		for _, e := range got {
			for _, s := range []string{e.Title, e.Reason} {
				if strings.ContainsFunc(s, unicode.IsControl) || !utf8.ValidString(s) || utf8.RuneCountInString(s) > 1000 {
					t.Errorf("not fit for a document: %q", s)
				}
			}
		}
		NamedPaths(body, []Path{{title, 1}})
		Sensitive(triage.Issue{Title: title, Body: body})
	})
}
