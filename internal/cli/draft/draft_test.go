package draft_test

import (
	"strings"
	"testing"
	"time"

	"github.com/org/foreman-action/internal/cli/draft"
	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/rules/ruletest"
	"github.com/org/foreman-action/triage"
)

// TestCase checks the event of a description for each form of its name.
func TestCase(t *testing.T) {
	t.Parallel()
	now := time.Date(2025, 3, 1, 12, 0, 0, 0, time.UTC)
	title := ruletest.Field{Name: "issue.title", Value: "x", From: "--title"}
	association := ruletest.Field{Name: "issue.association", Value: "member", From: "--association"}
	tests := []struct{ event, key string }{
		{"", "issues.opened"}, {"issues", "issues.opened"}, {"issues.edited", "issues.edited"}, {"issue_comment", "issue_comment.created"},
		{"pull_request", "pull_request.opened"}, {"pull_request_target.closed", "pull_request.closed"}, {"schedule", "schedule"},
	}
	for _, tt := range tests {
		c, err := draft.Draft{Values: []ruletest.Field{title, association}}.Case(ruletest.CaseSpec{Now: now}, tt.event)
		if err != nil || c.Event.Key() != tt.key || c.Event.Issue.Title != "x" || c.Event.Issue.Association != "MEMBER" {
			t.Errorf("%q: got %s, %v", tt.event, c.Event.Key(), err)
		}
	}
	if association.Value != "member" {
		t.Error("Case changed the values of the draft")
	}
}

// TestSupplies checks that each value that rules look up has a flag, or a key of a case.
func TestSupplies(t *testing.T) {
	t.Parallel()
	if got := draft.Supplies([]string{"author.issues", "pr.files", "pr.merged", facts.PermissionName, "contrib.score", facts.TimelineName}); got !=
		"--author-issues 0, --file src/a.go, --merged or --merged=false, --permission write, --case FILE, with contrib.score, --case FILE, with past" {
		t.Errorf("got %s", got)
	}
	for _, spec := range facts.LookupSpecs() {
		for _, f := range spec.Fields {
			if got := draft.Supplies([]string{"pr." + f.Name}); spec.Root == "pr" && strings.HasPrefix(got, "--case") {
				t.Errorf("pr.%s has no flag", f.Name)
			}
		}
	}
	for _, v := range draft.Values() {
		if _, err := (draft.Draft{Values: []ruletest.Field{{Name: v.Name, From: "--" + v.Flag, Value: map[draft.Kind]any{
			draft.Text: "write", draft.Texts: []string{"a"}, draft.Number: 0, draft.Switch: true,
		}[v.Kind]}}}).Case(ruletest.CaseSpec{}, ""); err != nil && v.Name != "issue.association" && v.Name != "author.created_at" {
			t.Errorf("%s: %v", v.Flag, err)
		}
	}
}

// TestHint checks for which comments the hint is about a command without /foreman.
func TestHint(t *testing.T) {
	t.Parallel()
	source, err := rules.Parse("rules.yml", []byte(`
version: 1
rules:
  - {id: close, on: [issue_comment.created], when: command("close"), then: [close_issue]}
  - {id: nightly, on: schedule, scan: "is:open", then: [{add_label: stale}]}
`))
	if err != nil {
		t.Fatal(err)
	}
	set, err := rules.Compile(source)
	if err != nil {
		t.Fatal(err)
	}
	const command, schedule = "/close is not read as a command; write /foreman close", "nightly: scheduled runs"
	for comment, want := range map[string]string{
		"/close": command, "thanks\n /Close it\n": command, "/closed": schedule, "no": schedule,
		"/foreman close\n/close": schedule, "```\n/close\n```": schedule, "> /close": schedule,
	} {
		d := triage.Delivery{Event: triage.Event{Name: triage.EventIssueComment}}
		d.Comment.Body = comment
		if got := draft.Hint(set, d); !strings.HasPrefix(got, want) {
			t.Errorf("%q: got %q, want %q", comment, got, want)
		}
	}
}
