package ruletest_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/rules/ruletest"
	"github.com/org/foreman-action/triage"
)

var caseTime = time.Date(2025, 3, 1, 12, 0, 0, 0, time.UTC)

func received(t *testing.T, payload string) *triage.Delivery {
	t.Helper()
	d, err := triage.ParseEvent(triage.EventSource{Payload: []byte(payload)})
	if err != nil {
		t.Fatal(err)
	}
	return &d
}

const (
	openedEvent = `{"action": "opened", "issue": {"number": 7, "title": "x", "user": {"login": "mona"}, "labels": [{"name": "a"}]}, "sender": {"login": "mona"}, "repository": {"full_name": "o/r"}}`
	pullEvent   = `{"action": "synchronize", "number": 8, "pull_request": {"number": 8, "title": "x", "additions": 3, "user": {"login": "mona"}, "head": {"ref": "h"}, "base": {"ref": "main"}}, "sender": {"login": "mona"}, "repository": {"full_name": "o/r"}}`
	answerEvent = `{"action": "created", "issue": {"number": 8, "title": "x", "pull_request": {}}, "comment": {"body": "b", "user": {"login": "mona"}}, "sender": {"login": "mona"}, "repository": {"full_name": "o/r"}}`
)

// TestParseCase checks the event of each case, and which look-ups are supplied.
func TestParseCase(t *testing.T) {
	t.Parallel()
	field := func(name string, value any) ruletest.Field {
		return ruletest.Field{Name: name, Value: value, From: "--" + name}
	}
	opened := []string{"memory", "past"}
	tests := []struct {
		name     string
		spec     ruletest.CaseSpec
		key      string
		issue    string // author: title [labels]
		actor    string
		supplied []string
	}{
		{"nothing", ruletest.CaseSpec{}, "issues.opened", "octocat:  []", "octocat", opened},
		{"fields", ruletest.CaseSpec{Fields: []ruletest.Field{field("issue.title", "x: [y]"), field("issue.labels", []string{"a", "- b"}), field("issue.author", "mona")}}, "issues.opened", "mona: x: [y] [a - b]", "mona", opened},
		{"a field before the file", ruletest.CaseSpec{Source: []byte("issue:\n  title: file\n  author: mona\n"), Fields: []ruletest.Field{field("issue.title", "flag")}}, "issues.opened", "mona: flag []", "mona", opened},
		{"an item of tests", ruletest.CaseSpec{Source: []byte("- name: n\n  event: issues.edited\n  issue:\n    title: x\n  expect:\n    fired: [a]\n")}, "issues.edited", "octocat: x []", "octocat", nil},
		{"label", ruletest.CaseSpec{Fields: []ruletest.Field{field("event", "issues.labeled"), field("issue.labels", []string{"a", "b"})}}, "issues.labeled b", "octocat:  [a b]", "octocat", nil},
		{"unlabeled", ruletest.CaseSpec{Fields: []ruletest.Field{field("event", "issues.unlabeled"), field("issue.labels", []string{"a", "b"})}}, "issues.unlabeled b", "octocat:  [a]", "octocat", nil},
		{"comment", ruletest.CaseSpec{Fields: []ruletest.Field{field("comment.body", "/foreman close"), field("actor.login", "hubot"), field("actor.permission", "write")}}, "issue_comment.created by hubot", "octocat:  []", "hubot", []string{"permission of hubot"}},
		{"comment on a pull request", ruletest.CaseSpec{Fields: []ruletest.Field{field("comment.body", "x"), field("pr.files", []string{"a"})}}, "issue_comment.created by octocat", "octocat:  []", "octocat", []string{"pr.changed_files", "pr.draft", "pr.files"}},
		{"pull request", ruletest.CaseSpec{Fields: []ruletest.Field{field("issue.pull_request", true)}}, "pull_request.opened", "octocat:  []", "octocat", append(opened, "pr.approved_by", "pr.changes_requested_by", "pr.draft", "pr.merged")},
		{"files", ruletest.CaseSpec{Fields: []ruletest.Field{field("pr.files", []string{"a.go"})}}, "pull_request.opened", "octocat:  []", "octocat", append(opened, "pr.approved_by", "pr.changed_files", "pr.changes_requested_by", "pr.draft", "pr.files", "pr.merged")},
		{"author", ruletest.CaseSpec{Fields: []ruletest.Field{field("author.issues", 0)}}, "issues.opened", "octocat:  []", "octocat", append([]string{"author.issues"}, opened...)},
		{"a received event", ruletest.CaseSpec{Event: received(t, openedEvent), Fields: []ruletest.Field{field("author.issues", 3), field("actor.permission", "read")}}, "issues.opened", "mona: x [a]", "mona", append([]string{"author.issues"}, append(opened, "permission of mona")...)},
		{"a received pull request", ruletest.CaseSpec{Event: received(t, pullEvent), Fields: []ruletest.Field{field("pr.files", []string{"a"})}}, "pull_request.synchronize", "mona: x []", "mona", []string{"pr.additions", "pr.base", "pr.changed_files", "pr.commits", "pr.deletions", "pr.draft", "pr.files", "pr.head", "pr.merged", "pr.requested_reviewers", "pr.requested_teams"}},
		{"a received comment without its pull request", ruletest.CaseSpec{Event: received(t, answerEvent)}, "issue_comment.created by mona", ": x []", "mona", []string{"pr.draft"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.spec.Name, tt.spec.Now = "case.yml", caseTime
			c, err := ruletest.ParseCase(tt.spec)
			if err != nil {
				t.Fatal(err)
			}
			key := c.Event.Key()
			if c.Event.Label != "" {
				key += " " + c.Event.Label
			}
			if c.Event.Comment.Author != "" {
				key += " by " + c.Event.Comment.Author
			}
			i := c.Event.Issue
			issue := i.Author + ": " + i.Title + " [" + strings.Join(i.Labels, " ") + "]"
			if key != tt.key || issue != tt.issue || c.Event.Sender.Login != tt.actor || !c.Now.Equal(caseTime) {
				t.Errorf("got %q, %q by %s at %s", key, issue, c.Event.Sender.Login, c.Now)
			}
			var got []string
			for _, name := range c.Lookup.Names {
				if len(got) == 0 || got[len(got)-1] != name {
					got = append(got, name)
				}
			}
			for login := range c.Lookup.Known.Permissions {
				got = append(got, "permission of "+login)
			}
			if diff := cmp.Diff(tt.supplied, got); diff != "" {
				t.Errorf("supplied values (-want +got):\n%s", diff)
			}
		})
	}
}

// TestParseCaseMistakes checks that all mistakes are reported with their places.
func TestParseCaseMistakes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		spec ruletest.CaseSpec
		want []string
	}{
		{"a file", ruletest.CaseSpec{Source: []byte("event: issues.opend\nissue:\n  titel: x\n  comments: many\nauthor:\n  issues: -1\nactor:\n  permission: boss\npast: 3\n")}, []string{
			`case.yml:1:8: event: unknown event "issues.opend"; did you mean issues.opened?`,
			`case.yml:3:3: unknown key "titel"; did you mean title?`,
			`case.yml:4:13: issue.comments: want a whole number, got the text "many"`,
			`case.yml:6:11: author.issues: want 0 or more, got -1`,
			`case.yml:8:15: actor.permission: want`,
			`case.yml:9:7: past: want a list of events, got the number 3`,
		}},
		{"a list", ruletest.CaseSpec{Source: []byte("- {}\n- {}\n")}, []string{"case.yml:1:1: want one case, a mapping with the keys of a test, got a list"}},
		{"no YAML", ruletest.CaseSpec{Source: []byte("issue: {")}, []string{"case.yml:1:"}},
		{"fields", ruletest.CaseSpec{Fields: []ruletest.Field{
			{Name: "issue.association", Value: "boss", From: "--association"}, {Name: "author.issues", Value: -1, From: "--author-issues"},
			{Name: "author.created_at", Value: "yesterday", From: "--author-created-at"}, {Name: "event", Value: "issues.assigned", From: "--event-name"},
		}}, []string{
			"--association: want COLLABORATOR, CONTRIBUTOR",
			"--author-created-at: want a time like",
			"--author-issues: want 0 or more, got -1",
			"case.yml: a case of issues.assigned needs assignee",
		}},
		{"another association of the author", ruletest.CaseSpec{Source: []byte("event: issues.labeled\nlabel: bug\nissue: {author: mona, association: MEMBER}\nactor:\n  login: mona\n  association: OWNER\n")}, []string{
			"case.yml:6:16: actor.association: the actor wrote the issue or the comment, so set issue.association or comment.association",
		}},
		{"a field in no mapping", ruletest.CaseSpec{Source: []byte("issue: 3\n"), Fields: []ruletest.Field{{Name: "issue.title", Value: "x", From: "--title"}}}, []string{"case.yml:1:8: issue: want a mapping"}},
		{"beside an event", ruletest.CaseSpec{Event: received(t, openedEvent), Source: []byte("issue:\n  title: x\n"), Fields: []ruletest.Field{{Name: "comment.body", Value: "x", From: "--comment"}, {Name: "actor.login", Value: "x", From: "--actor"}, {Name: "pr.files", Value: []string{"x"}, From: "--file"}}}, []string{
			"--actor: the event's payload has it",
			"--comment: comment: the event's payload has it",
			"--file: pr: the event is about an issue",
			"case.yml:2:3: issue: the event's payload has it",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.spec.Name, tt.spec.Now = "case.yml", caseTime
			_, err := ruletest.ParseCase(tt.spec)
			list, _ := errors.AsType[rules.Problems](err)
			var got []string
			for _, p := range list {
				line, _, _ := strings.Cut(p.Error(), "\n")
				got = append(got, line)
			}
			if len(got) != len(tt.want) {
				t.Fatalf("got %d mistakes, want %d:\n%s", len(got), len(tt.want), strings.Join(got, "\n"))
			}
			for i, want := range tt.want {
				if !strings.HasPrefix(got[i], want) {
					t.Errorf("got %s, want %s", got[i], want)
				}
			}
		})
	}
}

// TestParseCaseLong checks that a body of 1 MB, and one that looks like YAML, stay what they are.
func TestParseCaseLong(t *testing.T) {
	t.Parallel()
	for _, body := range []string{strings.Repeat("a\u00e9\n", 1<<18), "&a [*a, !!int 3]\n---\n\t%TAG", "a\x00\xffb", "null", "~"} {
		c, err := ruletest.ParseCase(ruletest.CaseSpec{Now: caseTime, Fields: []ruletest.Field{{Name: "issue.body", Value: body, From: "--body"}}})
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Event.Issue.Body; got != strings.ToValidUTF8(body, "\ufffd") {
			t.Errorf("got %.40q, want %.40q", got, body)
		}
	}
}

// FuzzParseCase checks that every case is parsed or has mistakes, and that what it supplies can be
// looked up.
func FuzzParseCase(f *testing.F) {
	f.Add("event: issue_comment.created\ncomment:\n  body: x\n", "issue.title", "a: b", false)
	f.Add("pr:\n  files: [a]\nauthor:\n  issues: 3\n", "author.created_at", "2020-01-31", false)
	f.Add("past:\n- event: labeled\n  label: a\n  at: 2020-01-01\n", "actor.permission", "write", true)
	f.Fuzz(func(t *testing.T, source, name, value string, beside bool) {
		spec := ruletest.CaseSpec{Name: "case.yml", Source: []byte(source), Now: caseTime, Fields: []ruletest.Field{{Name: name, Value: value, From: "--flag"}}}
		if beside {
			spec.Event = received(t, openedEvent)
		}
		c, err := ruletest.ParseCase(spec)
		if err != nil {
			if list, ok := errors.AsType[rules.Problems](err); !ok || len(list) == 0 {
				t.Errorf("got %v, want mistakes", err)
			}
			return
		}
		if c.Event.Issue == nil {
			t.Fatal("the case has no issue")
		}
		for _, s := range facts.LookupSpecs() {
			_ = c.Lookup.Read(t.Context(), s.Part, &facts.Known{})
		}
	})
}
