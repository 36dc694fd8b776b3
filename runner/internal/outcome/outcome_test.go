package outcome_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/runner/effect"
	"github.com/org/foreman-action/runner/internal/outcome"
	"github.com/org/foreman-action/triage"
)

// TestOutcomes has a case for each type of action that leaves a revertible outcome.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	type list = []outcome.Outcome
	tests := []struct {
		typ        string
		values     []string
		recordOnly bool
		want       list
	}{
		{"add_label", []string{"a"}, false, list{{outcome.Label, "a", true}}},
		{"add_labels", []string{"a", "", "b"}, false, list{{outcome.Label, "a", true}, {outcome.Label, "b", true}}},
		{"add_labels", nil, false, nil},
		{"remove_label", []string{"a"}, false, list{{outcome.Label, "a", false}}},
		{"assign", []string{"x", "y"}, false, list{{outcome.Assignee, "x", true}, {outcome.Assignee, "y", true}}},
		{"unassign", []string{"x"}, false, list{{outcome.Assignee, "x", false}}},
		{"close_issue", []string{"completed"}, false, list{{outcome.Openness, "", false}}},
		{"close_issue", nil, false, list{{outcome.Openness, "", false}}},
		{"mark_duplicate", []string{"3"}, false, list{{outcome.Openness, "", false}}},
		{"reopen_issue", nil, false, list{{outcome.Openness, "", true}}},
		{"close_issue", []string{"completed"}, true, list{{outcome.Scheduled, "rule", true}}},
		{"keep_open", []string{"r"}, true, list{{outcome.Scheduled, "r", false}}},
		{"keep_open", nil, true, list{{outcome.Scheduled, "", false}}},
		{"never_again", []string{"a"}, true, list{{outcome.Forbidden, "a", true}}},
		{"allow_again", []string{"a"}, true, list{{outcome.Forbidden, "a", false}}},
		{"never_again", []string{"a"}, false, nil},
		{"keep_open", []string{"r"}, false, nil},
		{"add_label", []string{"a"}, true, nil},
		{"comment", []string{"key"}, false, nil},
		{"update_comment", nil, false, nil},
		{"set_milestone", []string{"v1"}, false, nil},
		{"remove_milestone", nil, false, nil},
		{"set_type", []string{"Bug"}, false, nil},
		{"lock", []string{"spam"}, false, nil},
		{"unlock", nil, false, nil},
		{"react", []string{"+1"}, false, nil},
		{"hide_comment", nil, false, nil},
		{"request_review", []string{"mona"}, false, nil},
		{"make_coffee", []string{"a"}, false, nil},
	}
	seen := map[string]bool{}
	for _, tt := range tests {
		seen[tt.typ] = true
		got := outcome.Outcomes(tt.typ, tt.values, "rule", tt.recordOnly)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s %q, recordOnly %v (-want +got):\n%s", tt.typ, tt.values, tt.recordOnly, diff)
		}
		for _, o := range got {
			if o.RecordOnly() != tt.recordOnly {
				t.Errorf("%s %q: %v recordOnly %v", tt.typ, tt.values, o, o.RecordOnly())
			}
		}
		if !tt.recordOnly && len(tt.values) > 0 && outcome.Revertible(tt.typ) != (len(tt.want) > 0) {
			t.Errorf("%s: revertible %v", tt.typ, outcome.Revertible(tt.typ))
		}
	}
	for _, spec := range protocol.ActionSpecs() {
		if !seen[spec.Name] {
			t.Errorf("the table lacks the action %s", spec.Name)
		}
	}
}

// TestInverse carries out each revertible action, reverts every outcome, and then reverts the
// reversal.
func TestInverse(t *testing.T) {
	t.Parallel()
	for _, tt := range examples() {
		a := item(t, tt.action)
		for _, o := range outcome.Outcomes(a.Type, effect.Values(tt.effect), "r", tt.recordOnly) {
			inverse, ok, err := o.Inverse()
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				if canceled := o.RecordOnly() && !o.There; !canceled && o != (outcome.Outcome{Thing: outcome.Openness, There: true}) {
					t.Errorf("%s: %v has no inverse", a, o)
				}
				continue
			}
			reverts, err := outcome.Parse(inverse)
			if err != nil {
				t.Fatalf("%s: its inverse %s: %v", a, inverse, err)
			}
			back := outcome.Outcomes(inverse.Type, effect.Values(reverts), "another", o.RecordOnly())
			if len(back) != 1 || back[0].Key() != o.Key() || back[0].There == o.There {
				t.Errorf("%s left %v; its inverse %s leaves %v", a, o, inverse, back)
				continue
			}
			if o.RecordOnly() {
				if !outcome.Cancels(inverse.Type) || !outcome.RecordOnly(reverts) {
					t.Errorf("%s: its inverse %s is not for the memory", a, inverse)
				}
				continue
			}
			for _, issue := range states() {
				s := outcome.StateOf(issue)
				outcome.Change(tt.effect, s)
				if !o.Holds(s) {
					t.Errorf("%s on %+v: %v does not hold", a, issue, o)
				}
				after := shown(s)
				outcome.Change(reverts, s)
				if o.Holds(s) || !back[0].Holds(s) {
					t.Errorf("%s on %+v, reverted by %s: %v holds", a, issue, inverse, o)
				}
				again, ok, err := back[0].Inverse()
				if err != nil {
					t.Fatal(err)
				}
				if !ok { // opening an issue is not reverted automatically
					continue
				}
				twice, err := outcome.Parse(again)
				if err != nil {
					t.Fatal(err)
				}
				outcome.Change(twice, s)
				if diff := cmp.Diff(after, shown(s)); diff != "" {
					t.Errorf("%s on %+v, reverted twice (-once +twice):\n%s", a, issue, diff)
				}
			}
		}
	}
}

// TestOutcomeKey checks that all outcomes of a thing have the same key.
func TestOutcomeKey(t *testing.T) {
	t.Parallel()
	one := outcome.Outcome{Thing: outcome.Label, Name: "Bug", There: true}
	tests := []struct {
		other outcome.Outcome
		same  bool
	}{
		{outcome.Outcome{Thing: outcome.Label, Name: "bug"}, true},
		{outcome.Outcome{Thing: outcome.Assignee, Name: "Bug", There: true}, false},
		{outcome.Outcome{Thing: outcome.Forbidden, Name: "Bug", There: true}, false},
		{outcome.Outcome{Thing: outcome.Label, Name: "bugs", There: true}, false},
	}
	for _, tt := range tests {
		if got := one.Key() == tt.other.Key(); got != tt.same {
			t.Errorf("%v and %v: same thing %v, want %v", one, tt.other, got, tt.same)
		}
	}
}

func TestOutcomeHolds(t *testing.T) {
	t.Parallel()
	s := outcome.StateOf(triage.Issue{State: "closed", Labels: []string{"Bug"}, Assignees: []string{"mona"}})
	tests := []struct {
		outcome outcome.Outcome
		want    bool
	}{
		{outcome.Outcome{Thing: outcome.Label, Name: "bug", There: true}, true},
		{outcome.Outcome{Thing: outcome.Label, Name: "bug"}, false},
		{outcome.Outcome{Thing: outcome.Label, Name: "docs"}, true},
		{outcome.Outcome{Thing: outcome.Assignee, Name: "MONA", There: true}, true},
		{outcome.Outcome{Thing: outcome.Assignee, Name: "bug", There: true}, false},
		{outcome.Outcome{Thing: outcome.Openness}, true},
		{outcome.Outcome{Thing: outcome.Openness, There: true}, false},
	}
	for _, tt := range tests {
		if got := tt.outcome.Holds(s); got != tt.want {
			t.Errorf("%v: got %v", tt.outcome, got)
		}
	}
}
