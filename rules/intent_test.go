package rules_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/internal/ruleset"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/rules"
)

// A rendered action has what its rule states, in the normal form.
func TestRenderedIntent(t *testing.T) {
	t.Parallel()
	set := mustCompile(t, `
version: 1
rules:
  - id: a
    then:
      - add_label: {label: a, confidence: HIGH, suggest: true, rationale: " Two \n words "}
      - add_label: {label: b, confidence: 0.6}
      - comment: {body: "{{ issue.title }}", rationale: "$& %s \\u0000"}
      - lock: {confidence: 0.2, suggest: false}
      - unlock
`)
	want := []protocol.Intent{
		{Rationale: "Two words", Confidence: protocol.ConfidenceHigh, Suggest: true},
		{Confidence: protocol.ConfidenceMedium},
		{Rationale: `$& %s \u0000`},
		{Confidence: protocol.ConfidenceLow},
		{},
	}
	res, err := set.Decide(t.Context(), newIssue())
	if err != nil {
		t.Fatal(err)
	}
	var got []protocol.Intent
	for _, item := range res.Message.Actions {
		in, err := item.Intent()
		if err != nil {
			t.Errorf("%s: %v", item, err)
		}
		got = append(got, in)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("intents (-want +got):\n%s", diff)
	}
}

// Intents returns each combination once, without actions that are never proposed.
func TestIntents(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		then string
		want []ruleset.ActionIntent
	}{
		{"[escalate: x]", nil},
		{"[retriage]", nil},
		{"[lock, lock, unlock]", []ruleset.ActionIntent{{Action: "lock"}, {Action: "unlock"}}},
		{"[lock, {lock: {confidence: low}}, {lock: {confidence: 0.1, rationale: x}}, {lock: {suggest: true}}]", []ruleset.ActionIntent{
			{Action: "lock"}, {Action: "lock", Confidence: protocol.ConfidenceLow}, {Action: "lock", Suggest: true},
		}},
		{"[{add_labels: {labels: issue.assignees, confidence: medium, suggest: true}}]", []ruleset.ActionIntent{
			{Action: "add_labels", Confidence: protocol.ConfidenceMedium, Suggest: true},
		}},
	} {
		set := mustCompile(t, "version: 1\nrules:\n  - {id: a, then: "+tt.then+"}\n  - {id: b, then: "+tt.then+"}\n")
		if diff := cmp.Diff(tt.want, (*ruleset.Set)(set).Rules().Intents()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.then, diff)
		}
	}
	if got := (*ruleset.Set)((*rules.Set)(nil)).Rules().Intents(); got != nil {
		t.Errorf("no rules: got %v", got)
	}
}
