package ruletest

import (
	"context"
	"slices"

	"github.com/org/foreman-action/rules"
)

// A Result is the result of a test.
type Result struct {
	Test Test
	// Fired lists the rules that fired; nil when a condition failed.
	Fired []string
	// Mismatches are the failed expectations. Empty: the test passed.
	Mismatches []Mismatch
	// Rules explains the rules that fired but should not have, those that should have fired but did
	// not, and the one that failed.
	Rules []rules.RuleWhy
	// Refused lists the actions that are not carried out: the policy refuses them, or the issue or
	// another action of the same rule prevents them.
	Refused []Refusal
	// Scans are the results of the rules' searches for a schedule event.
	Scans []Scan
}

// Passed reports whether everything is as expected.
func (r Result) Passed() bool { return len(r.Mismatches) == 0 }

// A Mismatch is one difference from the expectation of a test.
type Mismatch struct {
	Key          string // a key of "expect"; empty: a condition failed unexpectedly
	Line, Column int    // of the expectation in the test's file
	Want, Got    string // as text for people; lists of actions have several lines
}

// A Refusal is an action that is not carried out.
type Refusal struct {
	Action string // in the form of a rule file
	Reason string
}

// Run evaluates the rules for a test's event. It does no I/O, and returns the same result each
// time. Actions count as carried out, except those that the policy refuses by its lists of labels
// and actions and by its limits for an event; nil refuses nothing. An issue gets no actions for pull
// requests, and "together: true" is observed. A proposed action counts as accepted, but other rules do not
// see its labels.
func Run(ctx context.Context, s *rules.Set, t Test, p Policy) Result {
	if p == nil {
		p = permitsAll{}
	}
	t.facts.Effect = effect(s, t.facts.Issue, p)
	var scans []Scan
	t.facts.Scans, scans = scanned(ctx, s, t.facts)
	t.facts.Lookup = t.lookup()
	a := decide(ctx, s, t.facts, t.by, p)
	r := Result{Test: t, Fired: a.result.Fired, Scans: scans}
	for _, no := range a.refused {
		r.Refused = append(r.Refused, Refusal{actionText(no.action), no.reason})
	}
	explained := map[string]bool{}
	for _, id := range a.result.With(rules.Failed) {
		explained[id] = true
	}
	if a.err != nil && !slices.ContainsFunc(t.expect, func(e expectation) bool { return e.key == "error" }) {
		r.Mismatches = []Mismatch{{Line: t.Line, Column: 1, Want: "no error", Got: a.err.Error()}}
	} else {
		r.Mismatches = t.mismatches(a, explained)
	}
	if !r.Passed() && len(explained) > 0 {
		r.Rules = slices.DeleteFunc(s.Explain(ctx, t.facts), func(w rules.RuleWhy) bool { return !explained[w.ID] })
	}
	return r
}

// mismatches lists the failed expectations. It adds the rules that fired unexpectedly, or did not
// fire, to explained.
func (t Test) mismatches(a issueState, explained map[string]bool) []Mismatch {
	var out []Mismatch
	for _, e := range t.expect {
		want, got, ok := e.meet(a)
		if ok {
			continue
		}
		out = append(out, Mismatch{e.key, e.node.Line, e.node.Column, want, got})
		if e.key != "fired" {
			continue
		}
		for _, id := range slices.Concat(t.fired, a.result.Fired) {
			if slices.Contains(t.fired, id) != slices.Contains(a.result.Fired, id) {
				explained[id] = true
			}
		}
	}
	return out
}
