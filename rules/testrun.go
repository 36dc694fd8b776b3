package rules

import (
	"errors"
	"slices"
	"strings"

	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/rules/facts"
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

// Test asks the rules about a test's event. It does no I/O, and gives the same result
// each time. Labels that may not be added or removed stay as they are; nil: all may. All
// else that the rules ask for counts as done, whatever the policy is.
func (s *Set) Test(t Test, may func(label string) bool) TestResult {
	t.facts.May = may
	a := s.aftermath(t)
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

func (s *Set) aftermath(t Test) aftermath {
	f := t.facts
	a := aftermath{labels: slices.Clone(f.Issue.Labels)}
	if a.result, a.err = s.Decide(f); a.err != nil {
		return a
	}
	if a.result.Message.Decision.Writes() {
		a.actions = a.result.Message.Actions
	}
	for _, item := range a.actions {
		a.carryOut(item, f.May)
	}
	a.undo(s, t)
	return a
}

// undo takes back the labels that are the work of rules which take back what they did.
// As in a run, what the decision itself adds stays, and what somebody else touched since.
func (a *aftermath) undo(s *Set, t Test) {
	if len(a.result.Undone) == 0 || a.result.Message.Decision == protocol.Escalate || t.facts.Lookup == nil {
		return
	}
	before, err := t.facts.Lookup.Memory()
	if err != nil {
		a.err = err
		return
	}
	for _, name := range before.Labels {
		if !hasFold(a.labels, name) || !a.undoes(s, name, t.by) || a.wants(name) {
			continue
		}
		past, err := t.facts.Lookup.Past()
		if err != nil {
			a.err = err
			return
		}
		last, found := past.Last(func(c facts.Change) bool {
			return (c.Kind == "labeled" || c.Kind == "unlabeled") && strings.EqualFold(c.Label, name)
		})
		if last.Ours || !found && !past.Partial {
			a.setLabel(name, false, t.facts.May)
		}
	}
}

// undoes reports whether the rule that added a label before takes it back. Which one
// that is tells by; else it must be all those whose text says that they add it.
func (a *aftermath) undoes(s *Set, label string, by map[string]string) bool {
	if id, ok := by[strings.ToLower(label)]; ok {
		return slices.Contains(a.result.Undone, id)
	}
	found := false
	for _, id := range s.IDs() {
		if hasFold(s.Adds(id), label) {
			if found = slices.Contains(a.result.Undone, id); !found {
				return false
			}
		}
	}
	return found
}

// wants reports whether the decision adds a label.
func (a *aftermath) wants(label string) bool {
	return slices.ContainsFunc(a.actions, func(item protocol.ActionItem) bool {
		one, _, _ := item.Texts("label")
		several, _, _ := item.Texts("labels")
		adds := item.Type == protocol.ActionAddLabel || item.Type == protocol.ActionAddLabels
		return adds && hasFold(append(one, several...), label)
	})
}

func (a *aftermath) carryOut(item protocol.ActionItem, may func(string) bool) {
	switch item.Type {
	case protocol.ActionAddLabel, protocol.ActionRemoveLabel:
		label, _, _ := item.Text("label")
		a.setLabel(label, item.Type == protocol.ActionAddLabel, may)
	case protocol.ActionAddLabels:
		labels, _, _ := item.Texts("labels")
		for _, name := range labels {
			a.setLabel(name, true, may)
		}
	case protocol.ActionComment, protocol.ActionUpdateComment:
		body, _, _ := item.Text("body")
		a.comments = append(a.comments, body)
	}
}

// setLabel puts a label on the issue, or takes it off, if it may.
func (a *aftermath) setLabel(name string, on bool, may func(string) bool) {
	switch {
	case hasFold(a.labels, name) == on || may != nil && !may(name):
	case on:
		a.labels = append(a.labels, name)
	default:
		a.labels = slices.DeleteFunc(a.labels, func(l string) bool { return strings.EqualFold(l, name) })
	}
}

func hasFold(list []string, name string) bool {
	return slices.ContainsFunc(list, func(s string) bool { return strings.EqualFold(s, name) })
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
