package ruletest

import (
	"bytes"
	"path/filepath"
	"reflect"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/org/foreman-action/internal/rulesource"
	"github.com/org/foreman-action/internal/yamlfile"
	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/triage"
)

// FuzzRecord checks that a test recorded from an issue with any text parses to the same facts and
// passes.
func FuzzRecord(f *testing.F) {
	f.Add("Panic at boot", "### Version\n\n1.2.3\n", "bug", "octocat", true)
	f.Add("a: b # c", "\tx\n  y\n\nz  \n \n", "area/net, x", "", false)
	f.Add("true", "<!-- hidden -->\r\nx\x00\x1b[0m\u202e\ufeff\u2028\u0085", "- {a}", "0x10", true)
	f.Add("👩‍💻 emoji", "line 👍\nother", "'\"\\", "~", false)
	f.Add("|", "---\na\n...\n", "", "\n", true)
	f.Add("", "x\n# y\n", "#", "@", true)
	set := fuzzSet(f)
	f.Fuzz(func(t *testing.T, title, body, label, author string, comment bool) {
		facts := recordFacts(title, body, label, author, comment)
		text, err := Record(t.Context(), set, "a test", facts, nil)
		for _, s := range []string{title, body, label, author} {
			if !utf8.ValidString(s) || utf8.RuneCountInString(s) > maxTestTitle {
				return
			}
		}
		if err != nil {
			t.Fatalf("%+v: %v", facts, err)
		}
		for _, before := range []string{"tests:\n", "rules: []\n\ntests:\n- name: other\n  expect: {fired: []}\n"} {
			file, err := yamlfile.Parse("f", []byte(before+text+"after: x\n"))
			if err != nil {
				t.Fatal(err)
			}
			tests := parse(nil, []rulesource.Parts{{File: file, Tests: yamlfile.Child(file.Root(), "tests")}})
			last := tests[len(tests)-1]
			if file.Err() != nil || !reflect.DeepEqual(recordable(last.facts), recordable(facts)) {
				t.Errorf("%s\n%v\n%s", text, file.Err(), cmp.Diff(recordable(facts), recordable(last.facts)))
			}
		}
	})
}

func fuzzSet(tb testing.TB) *rules.Set {
	tb.Helper()
	src, err := rules.Parse("rules.yml", []byte(`version: 1
rules:
  - id: all
    on: [issues.opened, issue_comment.created]
    when: |
      actor.permission != "none" and memory.tasks >= 0 and author.issues + author.pulls + author.merged_pulls + author.closed_pulls >= 0 and contrib.score >= 0
      and len(pr.commit_messages) + len(pr.approved_by) + len(pr.changes_requested_by) >= 0 and len(last_human().login) >= 0 and pr.commits >= 0
    then: [{add_label: "{{ issue.title }}x"}, {comment: "{{ issue.body }}."}, {set_type: "{{ issue.author }}t"}]
  - id: young
    on: [issues.opened, issue_comment.created]
    when: 'now - author.created_at < duration("365d") or author.created_at < now'
    then: [{add_label: young}]
`))
	if err != nil {
		tb.Fatal(err)
	}
	set, err := rules.Compile(src)
	if err != nil {
		tb.Fatal(err)
	}
	return set
}

func recordFacts(title, body, label, author string, comment bool) facts.Facts {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	known := facts.Known{
		Opened: facts.Author{Issues: 3, Pulls: 1},
		Joined: time.Date(2020, 1, 2, 3, 4, 5, 6, time.FixedZone("", 3600)),
		Merged: 5, Closed: 6,
		Scored:      facts.Contrib{Score: 61, DuplicateEvidence: "high", SecuritySensitive: true},
		Permissions: map[string]string{author: "triage"},
		History: facts.Timeline{Changes: []facts.Change{
			{Kind: "labeled", Login: author, Label: label + "x", Human: true, At: at},
			{Kind: "commented", Login: title, Ours: true, At: at.Add(time.Nanosecond)},
			{Kind: "closed", At: at.Add(time.Hour)},
		}},
		Before: facts.Memory{Tasks: 2, Labels: []string{label}, Closing: true},
	}
	if body == "" { // as for an App
		known.Joined = time.Time{}
	}
	if comment { // such a comment is on a pull request
		known.Commits = []string{body, "x\n\ny"}
		known.Reviewed = facts.Reviews{ApprovedBy: []string{author}, ChangesRequestedBy: []string{title, label}}
	}
	f := facts.Facts{
		Lookup: known,
		Now:    time.Date(2026, 4, 5, 6, 7, 8, 9, time.FixedZone("", 3600)),
		Repo:   triage.Repo{Owner: "octo-org", Name: "hello"},
		Issue:  triage.Issue{Number: 7, Title: title, Body: body, Author: author, State: "open", Labels: []string{label, "b"}, Milestone: label, Reactions: triage.Reactions{Total: 1, Heart: 1}},
		Event:  triage.Event{Name: "issues", Action: "opened"},
		Actor:  triage.Actor{Login: author, Type: "Bot"},
	}
	if comment {
		f.Event = triage.Event{Name: "issue_comment", Action: "created", Comment: triage.Comment{Body: body, Author: title, Association: "MEMBER"}}
		f.Issue.PullRequest, f.Issue.Draft = true, body == ""
		known := f.Lookup.(facts.Known)
		known.PullRequest = triage.PullRequest{Head: title, Draft: body == "", Commits: len(body), RequestedReviewers: []string{author}}
		f.Lookup = known
	}
	return f
}

// FuzzInsertTest checks that an item is inserted unchanged or not at all into any file, and that
// nothing else in the file changes.
func FuzzInsertTest(f *testing.F) {
	files, err := filepath.Glob("testdata/insert/*.txtar")
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
		out, err := Insert("f", src, "- name: added\n  expect: {fired: []}\n")
		if err != nil {
			return
		}
		same := 0
		for same < len(src) && out[same] == src[same] {
			same++
		}
		if more := len(out) - len(src); !bytes.HasSuffix(out, src[same:]) || more < len("- name: added") {
			t.Errorf("%q became %q", src, out)
		}
		file, err := yamlfile.Parse("f", out)
		if err != nil {
			t.Fatal(err)
		}
		list := yamlfile.Child(file.Root(), "tests").Content
		if last := yamlfile.Child(list[len(list)-1], "name"); last == nil || last.Value != "added" {
			t.Errorf("%q is not the last", out)
		}
	})
}
