package rules_test

import (
	"testing"

	"github.com/org/foreman-action/internal/ruleset"
	"github.com/org/foreman-action/rules"
)

func TestNames(t *testing.T) {
	t.Parallel()
	set := mustCompile(t, `version: 1
rules:
  - {id: a, on: [issues.edited, issue_comment.*], then: [lock]}
  - {id: b, on: [issues.*, repository_dispatch.sync], then: [lock]}
`)
	byDefault := mustCompile(t, "version: 1\nrules:\n  - {id: a, then: [lock]}\n")
	tests := []struct {
		set           *rules.Set
		event, Action string
		Type          bool
	}{
		{set, "issues", "edited", true},
		{set, "issues", "opened", false},
		{set, "issues", "*", false},
		{set, "issue_comment", "created", false},
		{set, "repository_dispatch", "sync", true},
		{set, "repository_dispatch", "other", false},
		{byDefault, "issues", "opened", true},
		{byDefault, "issues", "edited", false},
		{byDefault, "repository_dispatch", "any", true},
		{nil, "issues", "opened", false},
	}
	for _, tt := range tests {
		if got := (*ruleset.Set)(tt.set).Rules().Names(tt.event, tt.Action); got != tt.Type {
			t.Errorf("Names(%q, %q): got %v, want %v", tt.event, tt.Action, got, tt.Type)
		}
	}
}

// TestRemembers checks which parts of the memory a set needs.
func TestRemembers(t *testing.T) {
	t.Parallel()
	tests := []struct {
		then         string
		never, later bool
	}{
		{"lock", false, false},
		{"close_issue", false, false},
		{"close_issue: {after: 72h}", false, true},
		{"never_again: bug", true, false},
	}
	for _, tt := range tests {
		set := (*ruleset.Set)(mustCompile(t, "version: 1\nrules:\n  - {id: a, then: [lock]}\n  - id: b\n    on: [issues.closed]\n    then:\n      - "+tt.then+"\n")).Rules()
		if set.NeverAgain() != tt.never || set.ClosesLater() != tt.later {
			t.Errorf("%s: got %t and %t", tt.then, set.NeverAgain(), set.ClosesLater())
		}
	}
	none := (*ruleset.Set)(nil).Rules()
	if none.NeverAgain() || none.ClosesLater() {
		t.Error("a nil set needs nothing")
	}
}
