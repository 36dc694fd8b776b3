package shadow_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/runner/internal/shadow"
	"github.com/org/foreman-action/triage"
)

var at = time.Date(2026, 4, 10, 12, 0, 0, 0, time.UTC)

func TestPredict(t *testing.T) {
	t.Parallel()
	tests := []struct {
		action string
		state  triage.State
		source triage.Source
		want   string // "rule type value, …"
	}{
		{`{"type": "add_label", "label": "bug"}`, triage.Planned, triage.Source{Rule: "r"}, "r add_label bug"},
		{`{"type": "add_labels", "labels": ["bug", "docs", "BUG"]}`, triage.Planned, triage.Source{}, "(agent) add_label bug, (agent) add_label docs"},
		{`{"type": "remove_label", "label": "bug"}`, triage.Planned, triage.Source{Rule: "r", Undo: true}, "r/else_undo remove_label bug"},
		{`{"type": "close_issue", "reason": "not_planned"}`, triage.Planned, triage.Source{Rule: "r"}, "r close_issue not_planned"},
		{`{"type": "close_issue"}`, triage.Planned, triage.Source{Rule: "r"}, "r close_issue "},
		{`{"type": "close_issue", "after": "3d"}`, triage.Planned, triage.Source{Rule: "r"}, "r close_issue "},
		{`{"type": "add_label", "label": "bug"}`, triage.Planned, triage.Source{Command: "undo"}, ""},
		{`{"type": "add_label", "label": "bug"}`, triage.Skipped, triage.Source{Rule: "r"}, ""},
		{`{"type": "add_label", "label": "bug"}`, triage.Refused, triage.Source{Rule: "r"}, ""},
		{`{"type": "add_label", "label": "bug"}`, triage.Suggested, triage.Source{Rule: "r"}, ""},
		{`{"type": "add_label", "label": "bug"}`, triage.Done, triage.Source{Rule: "r"}, ""},
		{`{"type": "comment", "body": "x"}`, triage.Planned, triage.Source{Rule: "r"}, ""},
		{`{"type": "mark_duplicate", "of": 3}`, triage.Planned, triage.Source{Rule: "r"}, ""},
		{`{"type": "assign", "assignees": ["mona"]}`, triage.Planned, triage.Source{Rule: "r"}, ""},
		{`{"type": "make_coffee"}`, triage.Planned, triage.Source{Rule: "r"}, ""},
	}
	for _, tt := range tests {
		r := triage.ActionResult{State: tt.state, Source: tt.source}
		if err := r.Action.UnmarshalJSON([]byte(tt.action)); err != nil {
			t.Fatal(err)
		}
		for _, r.Verdict = range []triage.Verdict{triage.Do, triage.Suggest} {
			var got []string
			for _, p := range shadow.Predict([]triage.ActionResult{r}, 7, at) {
				if p.Issue != 7 || !p.At.Equal(at) {
					t.Errorf("%s: got %+v", tt.action, p)
				}
				got = append(got, fmt.Sprintf("%s %s %s", p.Rule, p.Type, p.Value))
			}
			if s := strings.Join(got, ", "); s != tt.want {
				t.Errorf("%s %s by %s, %s: got %q, want %q", r.Verdict, tt.action, tt.source, tt.state, s, tt.want)
			}
		}
	}
}

func TestSettle(t *testing.T) {
	t.Parallel()
	open := &triage.Issue{State: "open", Labels: []string{"Bug"}}
	closed := &triage.Issue{State: "closed", StateReason: "NOT_PLANNED"}
	tests := []struct {
		typ, value   string
		issue        *triage.Issue
		agreed, gone bool
	}{
		{"add_label", "bug", open, true, false},
		{"add_label", "docs", open, false, false},
		{"remove_label", "bug", open, false, false},
		{"remove_label", "docs", open, true, false},
		{"close_issue", "", open, false, false},
		{"close_issue", "", closed, true, false},
		{"close_issue", "not_planned", closed, true, false},
		{"close_issue", "completed", closed, false, false},
		{"add_label", "bug", nil, false, true},
		{"remove_label", "bug", nil, false, true},
	}
	for _, tt := range tests {
		p := memory.Prediction{Type: tt.typ, Value: tt.value}
		got := shadow.Settle(p, tt.issue)
		if want := (shadow.Settled{Prediction: p, Agreed: tt.agreed, Gone: tt.gone}); got != want {
			t.Errorf("%s %q: got %+v", tt.typ, tt.value, got)
		}
	}
}

// TestUpdate counts settled predictions, drops those of issues that no longer exist, and adds new
// ones.
func TestUpdate(t *testing.T) {
	t.Parallel()
	p := func(issue int, value string) memory.Prediction {
		return memory.Prediction{At: at.Add(time.Duration(issue) * time.Minute), Issue: issue, Rule: "r", Type: "add_label", Value: value}
	}
	s := shadow.Update(nil, nil, []memory.Prediction{p(1, "a"), p(2, "b"), p(3, "c")})
	if len(s.Open) != 3 {
		t.Fatalf("got %+v", s)
	}
	s = shadow.Update(s, []shadow.Settled{
		{Prediction: p(1, "a"), Agreed: true}, {Prediction: p(2, "b")}, {Prediction: p(3, "c"), Gone: true},
	}, []memory.Prediction{p(4, "d")})
	if diff := cmp.Diff([]memory.Prediction{p(4, "d")}, s.Open); diff != "" {
		t.Errorf("open (-want +got):\n%s", diff)
	}
	if got := s.Rules["r"]; len(s.Rules) != 1 || got.Agreed != 1 || got.Disagreed != 1 {
		t.Errorf("got %+v", s.Rules)
	}
}
