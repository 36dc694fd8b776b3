package rules

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/strictyaml"
	"github.com/org/foreman-action/protocol"
)

// A Result is what a set of rules decided, and why.
type Result struct {
	// Message is the decision; its TaskID is left empty.
	Message protocol.DecisionMessage
	// Sources holds the id of the rule behind each of the message's actions.
	Sources []string
	// Fired lists the ids of the rules that matched, in order.
	Fired []string
	// Stopped says that a rule with "stop: true" matched.
	Stopped bool
	// Trace tells about every rule, in order.
	Trace []RuleTrace
}

// An Outcome is what became of a rule.
type Outcome string

// The outcomes of a rule.
const (
	Matched   Outcome = "matched"   // its actions are planned
	NotListed Outcome = "event"     // it does not listen to the event
	False     Outcome = "condition" // its condition is false
	Cut       Outcome = "stopped"   // an earlier rule stopped the evaluation
)

// A RuleTrace tells what became of one rule.
type RuleTrace struct {
	ID        string
	Outcome   Outcome
	Condition string // the text of "when"; empty when the rule has none
	File      string
	Line      int // of the rule's id
}

// An EvalError is a condition or a template that failed for one event.
type EvalError struct {
	Rule    string // id; empty outside of rules
	Problem strictyaml.Problem
}

// Error names the rule and shows the place.
func (e *EvalError) Error() string {
	if e.Rule == "" {
		return "evaluate the condition: " + e.Problem.Error()
	}
	return fmt.Sprintf("evaluate rule %s: %v", e.Rule, e.Problem)
}

// Decide asks the rules, in order, about one event. It does no I/O and gives the
// same result for the same facts. When a condition or a template fails the error
// is an [*EvalError], and no rule's actions are returned.
//
// The decision is skip when no rule matches, escalate when a matching rule
// escalates, close when an action closes the issue, else label_and_respond.
func (s *Set) Decide(f Facts) (Result, error) {
	v := &evaluation{env: newEnv(f)}
	p := plan{result: Result{Trace: slices.Grow([]RuleTrace(nil), s.Len())}}
	for _, r := range s.all() {
		outcome, err := p.add(r, v)
		if err != nil {
			return Result{}, evalError(r.id, err)
		}
		trace := RuleTrace{ID: r.id, Outcome: outcome, File: r.file.Name(), Line: r.node.Line}
		if r.when != nil {
			trace.Condition = r.when.src
		}
		p.result.Trace = append(p.result.Trace, trace)
	}
	p.decide(s.Len(), v.env.Event.Key)
	return p.result, nil
}

// evalError names the rule of a *placedError, which all errors at run time are.
func evalError(rule string, err error) error {
	pe, ok := errors.AsType[*placedError](err)
	if !ok {
		return err
	}
	return &EvalError{Rule: rule, Problem: pe.problem}
}

// A plan is a result in the making.
type plan struct {
	result    Result
	escalated []string // why, one for each rule that escalates
	closes    bool
}

func (p *plan) add(r *rule, v *evaluation) (Outcome, error) {
	switch {
	case p.result.Stopped:
		return Cut, nil
	case !r.listens(v.env.Run.facts):
		return NotListed, nil
	}
	if r.when != nil {
		value, err := v.eval(r.when)
		if err != nil {
			return "", err
		}
		if value != true {
			return False, nil
		}
	}
	for _, a := range r.actions {
		item, ok, err := a.render(v)
		if err != nil {
			return "", err
		}
		if ok {
			p.take(r, item)
		}
	}
	p.result.Fired = append(p.result.Fired, r.id)
	p.result.Stopped = r.stop
	return Matched, nil
}

func (p *plan) take(r *rule, item protocol.ActionItem) {
	switch item.Type {
	case escalate:
		why := "rule " + r.id
		if reason, ok, _ := item.Text("reason"); ok {
			why += ": " + reason
		}
		p.escalated = append(p.escalated, why)
		return
	case protocol.ActionCloseIssue, protocol.ActionMarkDuplicate:
		p.closes = true
	}
	p.result.Message.Actions = append(p.result.Message.Actions, item)
	p.result.Sources = append(p.result.Sources, r.id)
}

// decide sets the decision and its rationale.
func (p *plan) decide(rules int, event string) {
	m := &p.result.Message
	m.Decision = protocol.LabelAndRespond
	m.Rationale = "rules fired: " + strings.Join(p.result.Fired, ", ")
	switch {
	case len(p.result.Fired) == 0:
		m.Decision = protocol.Skip
		m.Rationale = fmt.Sprintf("none of %d rules fired for %s", rules, event)
	case len(p.escalated) > 0:
		m.Decision = protocol.Escalate
		m.Rationale = "escalated by " + strings.Join(p.escalated, "; ")
	case p.closes:
		m.Decision = protocol.Close
	}
}
