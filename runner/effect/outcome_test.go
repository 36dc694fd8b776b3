package effect_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/runner/effect"
	"github.com/org/foreman-action/triage"
)

// TestOutcomes has a case for each type of action that leaves a revertible outcome.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	type list = []effect.Outcome
	tests := []struct {
		typ        string
		values     []string
		recordOnly bool
		want       list
	}{
		{"add_label", []string{"a"}, false, list{{effect.Label, "a", true}}},
		{"add_labels", []string{"a", "", "b"}, false, list{{effect.Label, "a", true}, {effect.Label, "b", true}}},
		{"add_labels", nil, false, nil},
		{"remove_label", []string{"a"}, false, list{{effect.Label, "a", false}}},
		{"assign", []string{"x", "y"}, false, list{{effect.Assignee, "x", true}, {effect.Assignee, "y", true}}},
		{"unassign", []string{"x"}, false, list{{effect.Assignee, "x", false}}},
		{"close_issue", []string{"completed"}, false, list{{effect.Openness, "", false}}},
		{"close_issue", nil, false, list{{effect.Openness, "", false}}},
		{"mark_duplicate", []string{"3"}, false, list{{effect.Openness, "", false}}},
		{"reopen_issue", nil, false, list{{effect.Openness, "", true}}},
		{"close_issue", []string{"completed"}, true, list{{effect.Scheduled, "rule", true}}},
		{"keep_open", []string{"r"}, true, list{{effect.Scheduled, "r", false}}},
		{"keep_open", nil, true, list{{effect.Scheduled, "", false}}},
		{"never_again", []string{"a"}, true, list{{effect.Forbidden, "a", true}}},
		{"allow_again", []string{"a"}, true, list{{effect.Forbidden, "a", false}}},
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
		{"make_coffee", []string{"a"}, false, nil},
	}
	seen := map[string]bool{}
	for _, tt := range tests {
		seen[tt.typ] = true
		got := effect.Outcomes(tt.typ, tt.values, "rule", tt.recordOnly)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s %q, recordOnly %v (-want +got):\n%s", tt.typ, tt.values, tt.recordOnly, diff)
		}
		for _, o := range got {
			if o.RecordOnly() != tt.recordOnly {
				t.Errorf("%s %q: %v recordOnly %v", tt.typ, tt.values, o, o.RecordOnly())
			}
		}
		if !tt.recordOnly && len(tt.values) > 0 && effect.Revertible(tt.typ) != (len(tt.want) > 0) {
			t.Errorf("%s: revertible %v", tt.typ, effect.Revertible(tt.typ))
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
		for _, o := range effect.Outcomes(a.Type, effect.Values(tt.effect), "r", tt.recordOnly) {
			inverse, ok, err := o.Inverse()
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				if canceled := o.RecordOnly() && !o.There; !canceled && o != (effect.Outcome{Thing: effect.Openness, There: true}) {
					t.Errorf("%s: %v has no inverse", a, o)
				}
				continue
			}
			reverts, err := effect.Parse(inverse)
			if err != nil {
				t.Fatalf("%s: its inverse %s: %v", a, inverse, err)
			}
			back := effect.Outcomes(inverse.Type, effect.Values(reverts), "another", o.RecordOnly())
			if len(back) != 1 || back[0].Key() != o.Key() || back[0].There == o.There {
				t.Errorf("%s left %v; its inverse %s leaves %v", a, o, inverse, back)
				continue
			}
			if o.RecordOnly() {
				if !effect.Cancels(inverse.Type) || !effect.RecordOnly(reverts) {
					t.Errorf("%s: its inverse %s is not for the memory", a, inverse)
				}
				continue
			}
			for _, issue := range states() {
				s := effect.StateOf(issue)
				effect.Change(tt.effect, s)
				if !o.Holds(s) {
					t.Errorf("%s on %+v: %v does not hold", a, issue, o)
				}
				after := shown(s)
				effect.Change(reverts, s)
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
				twice, err := effect.Parse(again)
				if err != nil {
					t.Fatal(err)
				}
				effect.Change(twice, s)
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
	one := effect.Outcome{Thing: effect.Label, Name: "Bug", There: true}
	tests := []struct {
		other effect.Outcome
		same  bool
	}{
		{effect.Outcome{Thing: effect.Label, Name: "bug"}, true},
		{effect.Outcome{Thing: effect.Assignee, Name: "Bug", There: true}, false},
		{effect.Outcome{Thing: effect.Forbidden, Name: "Bug", There: true}, false},
		{effect.Outcome{Thing: effect.Label, Name: "bugs", There: true}, false},
	}
	for _, tt := range tests {
		if got := one.Key() == tt.other.Key(); got != tt.same {
			t.Errorf("%v and %v: same thing %v, want %v", one, tt.other, got, tt.same)
		}
	}
}

func TestOutcomeHolds(t *testing.T) {
	t.Parallel()
	s := effect.StateOf(triage.Issue{State: "closed", Labels: []string{"Bug"}, Assignees: []string{"mona"}})
	tests := []struct {
		outcome effect.Outcome
		want    bool
	}{
		{effect.Outcome{Thing: effect.Label, Name: "bug", There: true}, true},
		{effect.Outcome{Thing: effect.Label, Name: "bug"}, false},
		{effect.Outcome{Thing: effect.Label, Name: "docs"}, true},
		{effect.Outcome{Thing: effect.Assignee, Name: "MONA", There: true}, true},
		{effect.Outcome{Thing: effect.Assignee, Name: "bug", There: true}, false},
		{effect.Outcome{Thing: effect.Openness}, true},
		{effect.Outcome{Thing: effect.Openness, There: true}, false},
	}
	for _, tt := range tests {
		if got := tt.outcome.Holds(s); got != tt.want {
			t.Errorf("%v: got %v", tt.outcome, got)
		}
	}
}
