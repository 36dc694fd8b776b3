package rules_test

import (
	"testing"

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
		event, action string
		want          bool
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
		if got := tt.set.Names(tt.event, tt.action); got != tt.want {
			t.Errorf("Names(%q, %q): got %v, want %v", tt.event, tt.action, got, tt.want)
		}
	}
}
