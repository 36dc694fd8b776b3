package rules

import (
	"errors"
	"slices"
	"strings"

	"github.com/org/foreman-action/protocol"
)

// A TestResult is what became of a test.
type TestResult struct {
	Test Test
	// Fired lists the rules that fired; nil when a condition failed.
	Fired []string
	// Mismatches is what is not as the test expects; empty: the test passed.
	Mismatches []Mismatch
	// Rules explains those that fired and should not have, or the other way round, and
	// the one that failed.
	Rules []RuleWhy
}

// Passed reports whether everything is as expected.
func (r TestResult) Passed() bool { return len(r.Mismatches) == 0 }

// A Mismatch is one thing that is not as a test expects it.
type Mismatch struct {
	Key          string // of expect; empty: a condition failed, which the test does not expect
	Line, Column int    // of the expectation in the test's file
	Want, Got    string // for people; of several lines where they are lists of actions
}

// Test asks the rules about a test's event. Like [Set.Decide] it does no I/O, and it
// gives the same result each time. It is no check against a policy: what the rules ask
// for counts as done.
func (s *Set) Test(t Test) TestResult {
	a := s.aftermath(t.facts)
	r := TestResult{Test: t, Fired: a.result.Fired}
	explained := map[string]bool{}
	if failed, ok := errors.AsType[*EvalError](a.err); ok {
		explained[failed.Rule] = true
	}
	if a.err != nil && !slices.ContainsFunc(t.expect, func(e expectation) bool { return e.key == "error" }) {
		r.Mismatches = []Mismatch{{Line: t.Line, Column: 1, Want: "no error", Got: a.err.Error()}}
	} else {
		r.Mismatches = t.mismatches(a, explained)
	}
	if !r.Passed() && len(explained) > 0 {
		r.Rules = slices.DeleteFunc(s.Explain(t.facts), func(w RuleWhy) bool { return !explained[w.ID] })
	}
	return r
}

// mismatches lists what is not as expected; into explained go the rules whose firing is
// not.
func (t Test) mismatches(a aftermath, explained map[string]bool) []Mismatch {
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

// An aftermath is what is after the rules have decided, and all that they ask for is
// done.
type aftermath struct {
	err      error // of Decide; then the rest is zero
	result   Result
	actions  []protocol.ActionItem // none for a decision that writes nothing
	labels   []string              // of the issue
	comments []string              // that were written
}

func (s *Set) aftermath(f Facts) aftermath {
	a := aftermath{labels: slices.Clone(f.Issue.Labels)}
	if a.result, a.err = s.Decide(f); a.err != nil {
		return a
	}
	if a.result.Message.Decision.Writes() {
		a.actions = a.result.Message.Actions
	}
	for _, item := range a.actions {
		a.carryOut(item)
	}
	return a
}

func (a *aftermath) carryOut(item protocol.ActionItem) {
	label, _, _ := item.Text("label")
	switch item.Type {
	case protocol.ActionAddLabel:
		a.addLabel(label)
	case protocol.ActionAddLabels:
		labels, _, _ := item.Texts("labels")
		for _, name := range labels {
			a.addLabel(name)
		}
	case protocol.ActionRemoveLabel:
		a.labels = slices.DeleteFunc(a.labels, func(l string) bool { return strings.EqualFold(l, label) })
	case protocol.ActionComment, protocol.ActionUpdateComment:
		body, _, _ := item.Text("body")
		a.comments = append(a.comments, body)
	}
}

func (a *aftermath) addLabel(name string) {
	if !slices.ContainsFunc(a.labels, func(l string) bool { return strings.EqualFold(l, name) }) {
		a.labels = append(a.labels, name)
	}
}

// closed returns "false", or the reason that the issue is closed for: completed when
// the rule does not say.
func (a aftermath) closed() string {
	for _, item := range a.actions {
		switch item.Type {
		case protocol.ActionMarkDuplicate:
			return "duplicate"
		case protocol.ActionCloseIssue:
			if reason, ok, _ := item.Text("reason"); ok {
				return reason
			}
			return "completed"
		}
	}
	return "false"
}
