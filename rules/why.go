package rules

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/rules/internal/expression"
)

// A RuleWhy explains why a rule matched an event or did not.
type RuleWhy struct {
	RuleTrace
	// Why explains the rule's condition part by part. It is nil for a rule that has no condition or
	// does not listen to the event.
	Why *Why
}

// A Why is a part of a condition with its value. Parts are the operands of "and", "or" and "not".
// For a comparison or another operation they are the operands that are not constants.
type Why struct {
	Text  string // the part as an expression
	Value string // the value as an expression, cut when it is long; empty when Error is set
	Error string // why the part has no value; empty when it has one
	// Missing are the values that nobody supplied and without which the part has no value.
	Missing []string
	// Idle is true when the evaluation stopped before this part. Value is hypothetical then.
	Idle  bool
	Parts []Why
}

// All returns the part and all parts below it, each before its own parts, with their depths from 0.
func (w Why) All() iter.Seq2[int, Why] {
	return func(yield func(int, Why) bool) { w.each(0, yield) }
}

func (w Why) each(depth int, yield func(int, Why) bool) bool {
	return yield(depth, w) && !slices.ContainsFunc(w.Parts, func(p Why) bool { return !p.each(depth+1, yield) })
}

// Shown returns the value for people: in parentheses if the part is idle, "! " before an error, and
// "? " if values are missing. It can contain untrusted text.
func (w Why) Shown() string {
	value := w.Value
	switch {
	case len(w.Missing) > 0:
		value = "? " + w.Error
	case w.Error != "":
		value = "! " + w.Error
	}
	if w.Idle {
		value = "(" + value + ")"
	}
	return value
}

// String returns the part as lines "value  text", with the parts below it indented. The values are
// those of [Why.Shown].
func (w Why) String() string {
	var b strings.Builder
	for depth, p := range w.All() {
		fmt.Fprintf(&b, "%s%s  %s\n", strings.Repeat("  ", depth), p.Shown(), p.Text)
	}
	return b.String()
}

// Explain returns for every rule, in order, why it matches the facts or does not. Unlike
// [Set.Decide] it evaluates each part of each condition, even after a rule that stops the
// evaluation. It is slow: use it to answer people, not for every event. A part that fails has its
// error and does not affect the others. If the rules cannot be decided at all, every rule is Failed.
func (s *Set) Explain(ctx context.Context, f facts.Facts) []RuleWhy {
	v := expression.NewEvaluation(ctx, f)
	p := s.plan(f, v)
	undecided := p.settle(s.compiled().all(), v)
	out := make([]RuleWhy, 0, s.Len())
	e := expression.NewExplainer(s.names(), v)
	for i, r := range s.compiled().all() {
		w := RuleWhy{RuleTrace: p.result.Trace[i]}
		if r.when != nil && r.listens(v.Facts(), p.event) {
			v.SetLabels(p.asked[i].labels)
			e.Doubt = &p.asked[i].doubt
			w.Why = whyOf(e.Explain(r.when))
		}
		if undecided != nil {
			w.Outcome, w.Error = Failed, undecided.Error()
		}
		out = append(out, w)
	}
	return out
}

// whyOf returns the explanation of a condition; nil for nil.
func whyOf(p *expression.Part) *Why {
	if p == nil {
		return nil
	}
	w := &Why{Text: p.Text, Value: p.Value, Error: p.Error, Missing: p.Missing, Idle: p.Idle}
	for i := range p.Parts {
		w.Parts = append(w.Parts, *whyOf(&p.Parts[i]))
	}
	return w
}
