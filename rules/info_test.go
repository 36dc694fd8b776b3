package rules_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/internal/ruleset"
	"github.com/org/foreman-action/rules"
)

func TestInfos(t *testing.T) {
	t.Parallel()
	set := mustCompile(t, `version: 1
tables: {of: {a: area/a}} # is not looked at
rules:
  - {id: a, on: [issues.edited, issues.*], then: [{add_label: bug}, lock, {add_label: docs}, {add_labels: [bug, "x y"]}]}
  - {id: b, on: issues.opened, when: issue.locked, then: [{add_label: "{{ issue.type }}"}, {remove_label: gone}]}
  - {id: c, on: issues.opened, when: issue.locked, then: [{add_labels: issue.assignees}, escalate]}
`)
	want := []rules.Info{
		{ID: "a", File: "rules.yml", Line: 4, On: []string{"issues.edited", "issues.*"}, Actions: []string{"add_label", "lock", "add_labels"}, Labels: []string{"bug", "docs", "x y"}},
		{ID: "b", File: "rules.yml", Line: 5, On: []string{"issues.opened"}, Actions: []string{"add_label", "remove_label"}, Computed: true},
		{ID: "c", File: "rules.yml", Line: 6, On: []string{"issues.opened"}, Actions: []string{"add_labels", "escalate"}, Computed: true},
	}
	if diff := cmp.Diff(want, rules.Infos(set)); diff != "" {
		t.Errorf("infos (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"a", "c"}, (*rules.Set)((*ruleset.Set)(set).Rules().Without("b")).IDs()); diff != "" {
		t.Errorf("without b (-want +got):\n%s", diff)
	}
	if n := (*rules.Set)((*ruleset.Set)(set).Rules().Without("nope")).Len(); n != 3 || set.Len() != 3 {
		t.Error("without a rule that is not there: another set, or a changed one")
	}
	var none *rules.Set
	if (*ruleset.Set)(none).Rules().Without("a") != nil || len(rules.Infos(none)) != 0 {
		t.Error("no rules: got some")
	}
}

// TestExempt checks which labels keep an issue from a scan.
func TestExempt(t *testing.T) {
	t.Parallel()
	const scan, add = "on: schedule, scan: q", "then: [{add_label: x}]"
	tests := []struct{ name, rules, want string }{
		{"not label", `{id: a, ` + scan + `, when: 'idle() > duration("1d") and not label("Pinned") and not any_label("a", "b*")', ` + add + `}`, "Pinned a"},
		{"not with signs", `{id: a, ` + scan + `, when: '!label("a") && (issue.locked and !any_label("b"))', ` + add + `}`, "a b"},
		{"or", `{id: a, ` + scan + `, when: 'not label("a") or issue.locked', ` + add + `}`, ""},
		{"not of a larger part", `{id: a, ` + scan + `, when: 'not (label("a") and issue.locked)', ` + add + `}`, ""},
		{"a computed name", `{id: a, ` + scan + `, when: 'not label(issue.title) and not label("b")', ` + add + `}`, "b"},
		{"no condition", `{id: a, ` + scan + `, ` + add + `}`, ""},
		{"another search", `{id: a, on: schedule, scan: p, when: 'not label("a")', ` + add + `}`, ""},
		{"undone", `{id: a, ` + scan + `, when: 'not label("a")', else_undo: true, ` + add + `}`, ""},
		{"stops", `{id: a, ` + scan + `, when: 'not label("a")', stop: true, ` + add + `}`, ""},
		{"two rules", `{id: a, ` + scan + `, when: 'not label("a") and not label("b")', ` + add + `}, {id: b, ` + scan + `, when: 'not label("B")', then: [lock]}`, "b"},
		{"another rule without it", `{id: a, ` + scan + `, when: 'not label("a")', ` + add + `}, {id: b, ` + scan + `, then: [lock]}`, ""},
		{"a rule removes it", `{id: a, ` + scan + `, when: 'not label("a") and not label("b")', ` + add + `}, {id: b, on: issues.opened, then: [{remove_label: A}]}`, "b"},
		{"a rule may remove any", `{id: a, ` + scan + `, when: 'not label("a")', ` + add + `}, {id: b, on: issues.opened, then: [{remove_label: '{{ issue.title }}'}]}`, ""},
	}
	for _, tt := range tests {
		set := mustCompile(t, "version: 1\nrules: ["+tt.rules+"]\n")
		if got := strings.Join((*ruleset.Set)(set).Rules().Exempt("q"), " "); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}
