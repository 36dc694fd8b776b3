package rules_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/org/foreman-action/rules"
)

// Rules that test for each other's labels in a circle are rejected, however the condition writes
// the test. Conditions that do not depend on the label of the other rule are accepted.
func TestCircles(t *testing.T) {
	t.Parallel()
	tests := []struct {
		when        string // of a rule that adds x; the other tests for x and writes y
		Added, gone bool   // want a circle when the other adds y, or removes y
	}{
		{when: `label("y")`, Added: true},
		{when: `not label("y")`, gone: true},
		{when: `label("y") == true`, Added: true},
		{when: `true == label("y")`, Added: true},
		{when: `label("y") == false`, gone: true},
		{when: `label("y") != false`, Added: true},
		{when: `label("y") ? true : false`, Added: true},
		{when: `label("y") ? false : true`, gone: true},
		{when: `label("y") ? issue.locked : false`, Added: true},
		{when: `label("y") ? true : issue.locked`, Added: true},
		{when: `issue.locked ? label("y") : false`, Added: true},
		{when: `label("y") ? true : true`},
		{when: `label("y") ? issue.locked : not issue.locked`},
		{when: `any(issue.labels, # == "y")`, Added: true},
		{when: `any(issue.labels, "y" == #)`, Added: true},
		{when: `none(issue.labels, # == "y")`, gone: true},
		{when: `any(issue.labels, # != "y")`},
		{when: `any(issue.labels, not (# == "y") and # != "z")`},
		{when: `none(issue.labels, # != "y")`},
		{when: `all(issue.labels, # == "y")`},
		{when: `all(issue.labels, # != "y")`, gone: true},
		{when: `not all(issue.labels, # != "y")`, Added: true},
		{when: `any(issue.labels, # in ["w", "y"])`, Added: true},
		{when: `any(issue.assignees, # == "y")`},
		{when: `any(["y"], # in issue.labels)`},
		{when: `len(filter(issue.labels, # == "y")) > 0`, Added: true},
		{when: `len(filter(issue.labels, # == "y")) == 0`, gone: true},
		{when: `count(issue.labels, # == "y") >= 1`, Added: true},
		{when: `count(issue.labels, # == "y") < 1`, gone: true},
		{when: `count(issue.labels, # == "y") > 1`},
		{when: `len(issue.labels) > 0`},
		{when: `"y" in issue["labels"]`, Added: true},
		{when: `label("y") and issue.number % issue.comments >= 0`, Added: true},
		{when: `any_label("y" + "*")`, Added: true},
	}
	for _, tt := range tests {
		for _, verb := range []string{"add_label", "remove_label"} {
			src, err := rules.Parse("rules.yml", fmt.Appendf(nil, "version: 1\nrules:\n  - id: a\n    when: |\n      %s\n    then: [add_label: x]\n  - {id: b, when: label(\"x\"), then: [%s: y]}\n", tt.when, verb))
			if err != nil {
				t.Fatal(err)
			}
			_, err = rules.Compile(src)
			want := tt.Added && verb == "add_label" || tt.gone && verb == "remove_label"
			if err != nil && !strings.Contains(err.Error(), "in a circle") {
				t.Errorf("%s: %v", tt.when, err)
			} else if (err != nil) != want {
				t.Errorf("%s, when the other does %s: a circle: %v, want %v", tt.when, verb, err != nil, want)
			}
		}
	}
}
