package rules_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

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
	if diff := cmp.Diff([]string{"a", "c"}, rules.Without(set, "b").IDs()); diff != "" {
		t.Errorf("without b (-want +got):\n%s", diff)
	}
	if rules.Without(set, "nope") != set || set.Len() != 3 {
		t.Error("without a rule that is not there: another set, or a changed one")
	}
	var none *rules.Set
	if rules.Without(none, "a") != nil || len(rules.Infos(none)) != 0 {
		t.Error("no rules: got some")
	}
}
