package rules

import (
	"cmp"
	"errors"

	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/rules/internal/expression"
	"github.com/org/foreman-action/rules/internal/symbols"
)

// A RuleWhy tells why a rule matched an event or did not.
type RuleWhy struct {
	RuleTrace
	// Why is the rule's condition, part by part; nil for a rule that has none, or that
	// does not listen to the event.
	Why *Why
	// Error is why the condition or a template of the rule fails; empty when none does.
	// A run then carries out no rule at all.
	Error string
}

// A Why is a part of a condition with its value. "and", "or" and "not" have the parts that they
// join; a comparison and the like have those of their sides that are not constants.
type Why struct {
	Text  string // the part as an expression
	Value string // as an expression too, cut when it is long; empty when Error is not
	Error string // why it has no value; empty when it has one
	// Idle is whether the evaluation stopped before the part: the value is hypothetical then.
	Idle  bool
	Parts []Why
}

// Explain returns for every rule, in order, why it matches the facts or does not. Unlike
// [Set.Decide] it evaluates each part of each condition, and rules behind one that
// stops too; it is meant for people who wait, and not for every event. A part that
// fails has its error and does not affect the others. A rule that a run did not reach, as
// [facts.ErrUnasked] shows, is [Unreached].
func (s *Set) Explain(f facts.Facts) []RuleWhy {
	names := symbols.New()
	if s != nil && s.names != nil {
		names = s.names
	}
	v := expression.NewEvaluation(f)
	p := s.plan(f)
	p.goesOn = true
	unsettled := p.settle(s.all(), v)
	out := make([]RuleWhy, 0, s.Len())
	e := expression.NewExplainer(names, v)
	for i, r := range s.all() {
		w := RuleWhy{RuleTrace: p.result.Trace[i]}
		asked := p.asked[i]
		if r.when != nil && r.listens(v.Facts(), p.event) {
			v.SetLabels(asked.labels)
			w.Why = whyOf(e.Explain(r.when))
		}
		if err := cmp.Or(asked.err, unsettled); errors.Is(err, facts.ErrUnasked) {
			w.Outcome = Unreached
			w.Why.idle()
		} else if err != nil {
			w.Error = evalError(r.id, err).Error()
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
	w := &Why{Text: p.Text, Value: p.Value, Error: p.Error, Idle: p.Idle}
	for i := range p.Parts {
		w.Parts = append(w.Parts, *whyOf(&p.Parts[i]))
	}
	return w
}

// idle marks a condition as one that the run did not reach.
func (w *Why) idle() {
	if w == nil {
		return
	}
	w.Idle = true
	for i := range w.Parts {
		w.Parts[i].idle()
	}
}
