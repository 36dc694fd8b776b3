package rules

import (
	"context"
	"slices"
	"strings"

	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/rules/internal/expression"
)

// Rationale returns why rules match the facts, by id and in one line, such as
//
//	rule crash: issue.text matches "(?i)\\bpanic\\b"; not label("question")
//
// It lists the parts of the condition that are true, as the file has them: the operands of "and", the
// true operands of "or", and "not" with its operand. It contains nothing of the issue and no value of a
// look-up. The text of a rule without a condition is "rule crash: always". If there is nothing to say,
// because the rule does not match or cannot be explained, it is "rule crash". Unknown ids are left out.
//
// Rationale decides again, and evaluates parts one by one: call it only when the text is needed, with the
// facts of [Set.Decide]. It makes the look-ups of Decide again, and no others. The text can be long.
func (s *Set) Rationale(ctx context.Context, f facts.Facts, ids ...string) map[string]string {
	out := make(map[string]string, len(ids))
	if len(ids) == 0 {
		return out
	}
	v := expression.NewEvaluation(ctx, f)
	p := s.plan(f, v)
	failed := p.settle(s.compiled().all(), v)
	e := expression.NewExplainer(s.names(), v)
	for i, r := range s.compiled().all() {
		if !slices.Contains(ids, r.id) {
			continue
		}
		out[r.id] = "rule " + r.id
		var parts []string
		switch {
		case failed != nil || p.result.Trace[i].Outcome != Matched:
			continue
		case r.when == nil:
			parts = []string{"always"}
		default:
			v.SetLabels(p.asked[i].labels)
			e.Doubt = &p.asked[i].doubt
			parts = e.TrueParts(r.when)
		}
		if len(parts) > 0 {
			out[r.id] += ": " + strings.Join(parts, "; ")
		}
	}
	return out
}
