package ruletest_test

import (
	"slices"
	"testing"

	"github.com/org/foreman-action/policy"
	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/rules/ruletest"
)

// Other rules do not see a label that the policy only proposes.
func TestRunProposes(t *testing.T) {
	t.Parallel()
	src, err := rules.Parse("rules.yml", []byte(`
version: 1
rules:
  - {id: add, then: [{add_label: {label: low, confidence: low}}, {add_label: {label: medium, confidence: medium}}, {add_label: high}]}
  - {id: low, when: label("low"), then: [unlock]}
  - {id: medium, when: label("medium"), then: [unlock]}
  - {id: high, when: label("high"), then: [unlock]}
tests:
  - {name: a, expect: {labels: [low, medium, high]}}
`))
	if err != nil {
		t.Fatal(err)
	}
	set, err := rules.Compile(src)
	if err != nil {
		t.Fatal(err)
	}
	tests, err := ruletest.Parse(src)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name   string
		policy ruletest.Policy
		want   []string
	}{
		{"none", nil, []string{"add", "medium", "high"}},
		{"the default", policy.Policy{}, []string{"add", "medium", "high"}},
		{"cautious", policy.Policy{Automation: policy.AutomationCautious}, []string{"add", "high"}},
		{"full control", policy.Policy{Automation: policy.AutomationFullControl}, []string{"add"}},
		{"approval of labels", policy.Policy{Approve: []string{"add_labels"}}, []string{"add"}},
	} {
		r := ruletest.Run(t.Context(), set, tests[0], tt.policy)
		if !r.Passed() || !slices.Equal(r.Fired, tt.want) {
			t.Errorf("%s: fired %v, want %v; %v", tt.name, r.Fired, tt.want, r.Mismatches)
		}
	}
}
