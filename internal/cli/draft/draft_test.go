package draft_test

import (
	"strings"
	"testing"
	"time"

	"github.com/org/foreman-action/internal/cli/draft"
	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/rules/ruletest"
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
