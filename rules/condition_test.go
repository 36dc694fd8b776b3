package rules_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/rules/facts"
)

// TestConditionOfText places the mistakes of a condition in its text, when it is compiled and when it
// is evaluated.
func TestConditionOfText(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		want       rules.Problem
	}{
		{"one line", "isue.title == ``", rules.Problem{Line: 1, Column: 1, Source: "isue.title == ``"}},
		{"second line", "issue.number > 1 and\n  \tnot isue.body", rules.Problem{Line: 2, Column: 8, Source: "  \tnot isue.body"}},
		{"leading lines", "\n\n  isue.body", rules.Problem{Line: 3, Column: 3, Source: "  isue.body"}},
		{"characters", `"äö" == isue.title`, rules.Problem{Line: 1, Column: 9, Source: `"äö" == isue.title`}},
		{"empty", "", rules.Problem{Line: 1, Column: 1}},
		{"comment", "true # isue", rules.Problem{Line: 1, Column: 6, Source: "true # isue"}},
		{"when it is evaluated", "true and\n int(issue.title) > 1", rules.Problem{Line: 2, Column: 2, Source: " int(issue.title) > 1"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, err := rules.CompileCondition(tt.text)
			var got rules.Problem
			if ps, ok := errors.AsType[rules.Problems](err); ok && len(ps) == 1 {
				got = ps[0]
			} else if err == nil {
				_, err = c.Eval(t.Context(), facts.Facts{})
				if failed, ok := errors.AsType[*rules.EvalError](err); ok {
					got = failed.Problem
				}
			}
			if got.Message == "" {
				t.Errorf("no message: %v", err)
			}
			tt.want.File, got.Message = "condition", ""
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("want and got differ (-want +got):\n%s\n%v", diff, err)
			}
		})
	}
}
