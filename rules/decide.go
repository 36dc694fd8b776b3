package rules

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/rules/internal/action"
	"github.com/org/foreman-action/rules/internal/events"
	"github.com/org/foreman-action/rules/internal/expression"
	"github.com/org/foreman-action/rules/internal/symbols"
)

// A Result is the decision of a set of rules, with the reasons.
type Result struct {
	// Message is the decision; its TaskID is left empty.
	Message protocol.DecisionMessage
	// Sources holds the id of the rule behind each of the message's actions.
	Sources []string
	// Digests holds a digest for each of the message's actions: 16 hexadecimal digits of what the rule
	// decides on, and of the entry of its "then". The digest does not depend on the id, the rationale,
	// the confidence and the place of the rule, nor on the form in which it is written.
	Digests []string
	// Skipped lists the actions of the rules that matched which are not part of the message,
	// because a required parameter is empty.
	Skipped []Skipped
	// Fired lists the ids of the rules that matched, in order.
	Fired []string
	// Stopped is true when a rule with "stop: true" matched, or could not be judged.
	Stopped bool
	// Undone lists the ids of the rules with "else_undo: true" whose condition is false. The caller
	// has to revert their earlier actions.
	Undone []string
	// Labels are the labels that the issue has after the rules' changes.
	Labels []string
	// Retriage is true when a rule asks for a new decision, as if the issue were newly opened.
	Retriage bool
	// Trace describes the result of every rule, in order.
	Trace []RuleTrace
}

// Summaries returns for each rule why it fired or did not; nil if r is nil. event is the event for
// which the rules were evaluated.
func (r *Result) Summaries(event string) []Summary {
	if r == nil {
		return nil
	}
	list := make([]Summary, 0, len(r.Trace))
	for _, t := range r.Trace {
		list = append(list, Summary{t.ID, t.Outcome == Matched, t.Reason(event)})
	}
	return list
}

// A Summary is the result of one rule, as reports contain it.
type Summary struct {
	ID    string `json:"id"`
	Fired bool   `json:"fired"`
	Why   string `json:"why"` // one line for people
}

// An Outcome is the result of a rule's evaluation.
type Outcome string

// The outcomes of a rule.
const (
	Matched   Outcome = "matched"   // the rule's actions are planned
	NotListed Outcome = "event"     // the rule does not listen to the event
	False     Outcome = "condition" // the rule's condition is false
	Later     Outcome = "later"     // the condition became true only after the event; see [facts.Facts]
	Cut       Outcome = "stopped"   // an earlier rule stopped the evaluation
	Failed    Outcome = "failed"    // the rule's condition or a template failed
	Unknown   Outcome = "unknown"   // the rule needs a value that is not known; see [facts.UnknownError]
	// Undecided means that the result depends on values that nobody supplied; see
	// [facts.UnsuppliedError].
	Undecided Outcome = "undecided"
)

// Unjudged reports whether the rule could not be judged. Then it does nothing: its actions are not
// planned, and its earlier actions are not reverted.
func (o Outcome) Unjudged() bool { return o == Failed || o == Unknown || o == Undecided }

// A Skipped is an action that cannot be carried out.
type Skipped struct {
	Action protocol.ActionItem
	Rule   string // the id of its rule
	Digest string // as in [Result.Digests]
	Lacks  string // the required parameter that is empty
}

// Prevents reports whether the action keeps the others of its rule from being carried out together. An
// empty list does not, because there is nothing to do.
func (s Skipped) Prevents() bool {
	list, isList, err := s.Action.Texts(s.Lacks)
	return !isList || err != nil || len(list) > 0
}

// A RuleTrace describes the evaluation of one rule.
type RuleTrace struct {
	ID        string
	Outcome   Outcome
	Condition string // the text of "when"; empty when the rule has none
	File      string
	Line      int    // the line of the rule's id
	Error     string // why the rule could not be judged; empty when it was judged
	// Missing are the values without which the rule is Undecided, such as "author.issues".
	Missing []string
}

// Reason returns why the rule fired or did not, in one line for people. event is the event for
// which the rules were evaluated.
func (t RuleTrace) Reason(event string) string {
	condition := strings.Join(strings.Fields(t.Condition), " ")
	switch t.Outcome {
	case Matched:
		if condition == "" {
			return "it has no condition"
		}
		return "true: " + condition
	case NotListed:
		return "it does not listen to " + event
	case False:
		return "false: " + condition
	case Later:
		return "true only since the event: " + condition
	case Cut:
		return "an earlier rule stopped the evaluation"
	case Failed, Unknown, Undecided:
		why, _, _ := strings.Cut(t.Error, "\n") // without the line of the file
		return string(t.Outcome) + ": " + why
	}
	return string(t.Outcome)
}

// An EvalError reports a condition or a template that failed for one event.
type EvalError struct {
	Rule    string // the rule's id; empty for a [Condition]
	Problem Problem
}

// Error names the rule and shows the place.
func (e *EvalError) Error() string {
	if e.Rule == "" {
		return "evaluate the condition: " + e.Problem.Error()
	}
	return fmt.Sprintf("evaluate rule %s: %v", e.Rule, e.Problem)
}

// Decide evaluates the rules, in order, for one event. It does no I/O except through f.Lookup, and
// returns the same result for the same facts. Look-ups get ctx. When ctx ends, the rules that follow
// are not evaluated.
//
// A rule that fails, or that needs a value which is not known, does nothing. The other rules go on,
// except that a rule with "stop: true" ends the list as if it had fired: it may guard against later
// rules. If rules failed, the error joins an [*EvalError] for each of them, and the result is that of
// the others. After any other error the result is empty.
//
// A rule with "stop: true" can be Undecided. Then a later rule is decided only if it does nothing, and
// is Undecided otherwise. So is a rule whose condition or text depends on a label that an Undecided rule
// may change.
//
// A rule sees the labels that earlier rules added and removed. After labels changed, Decide
// evaluates the false conditions that read them again, in order, until no label changes any more.
// Each rule fires at most once.
//
// The decision is the first one that applies: skip when no rule matches, escalate when a matching
// rule escalates, close when an action closes the issue without a grace period, else
// label_and_respond.
func (s *Set) Decide(ctx context.Context, f facts.Facts) (Result, error) {
	v := expression.NewEvaluation(ctx, f)
	p := s.plan(f, v)
	if err := p.settle(s.compiled().all(), v); err != nil {
		return Result{}, err
	}
	var failed []error
	for i, r := range s.compiled().all() {
		switch p.result.Trace[i].Outcome {
		case False:
			if r.undo {
				p.result.Undone = append(p.result.Undone, r.id)
			}
		case Failed:
			failed = append(failed, p.asked[i].err)
		case Matched, NotListed, Later, Cut, Unknown, Undecided:
		}
	}
	p.result.Labels = v.Labels()
	p.decide(s.Len(), p.event.Key)
	return p.result, errors.Join(failed...)
}

// plan returns an undecided plan: its trace has every rule, without outcomes.
func (s *Set) plan(f facts.Facts, v *expression.Evaluation) *plan {
	p := &plan{event: events.Of(f.Event.Name, f.Event.Action), asked: make([]asking, s.Len()), result: Result{Trace: make([]RuleTrace, 0, s.Len())}}
	p.names = s.names()
	p.explainer = expression.NewExplainer(p.names, v)
	p.explainer.Doubt = &p.doubt
	for _, r := range s.compiled().all() {
		trace := RuleTrace{ID: r.id, File: r.file.Name(), Line: r.node.Line}
		if r.when != nil {
			trace.Condition = r.when.Source()
		}
		p.result.Trace = append(p.result.Trace, trace)
	}
	return p
}

// names returns the names that the rules declare.
func (s *Set) names() *symbols.Table {
	if c := s.compiled(); c != nil {
		return c.names
	}
	return symbols.New()
}

// An asking records the last evaluation of a rule.
type asking struct {
	changed int // number of label changes before it
	labels  []string
	doubt   expression.Doubt
	err     error // why the rule failed
}

// maxAgain limits the total number of repeated evaluations of the rules for one event. Up to 400
// rules never reach it, in any order: each round fires at least one more rule, so there are at most
// 400·399/2 = 79,800.
const maxAgain = 100_000

// settle evaluates the rules until no label changes any more. It always ends: a rule is evaluated
// again only after labels changed, only a rule that fires changes labels, and each rule fires once.
func (p *plan) settle(rules []*rule, v *expression.Evaluation) error {
	times := 0
	for round := 0; ; round++ {
		again := false
		for i, r := range rules {
			if err := v.Context().Err(); err != nil {
				return fmt.Errorf("evaluate the rules: %w", err)
			}
			trace, asked := &p.result.Trace[i], &p.asked[i]
			if round > 0 {
				if trace.Outcome != False || asked.changed == len(p.changed) {
					continue
				}
				times++
				concerned := p.concerns(r, asked.changed)
				if asked.changed = len(p.changed); !concerned {
					continue
				}
			}
			again = true
			*asked = asking{changed: len(p.changed), labels: v.Labels(), doubt: p.doubt.Clone()}
			trace.Outcome, asked.err = p.add(r, v)
			if undecided, ok := errors.AsType[*expression.UndecidedError](asked.err); ok {
				trace.Outcome, trace.Error, trace.Missing, asked.err = Undecided, undecided.Why, undecided.Missing, nil
				p.suspect(r, v, undecided)
			} else if asked.err != nil {
				trace.Outcome, trace.Error, asked.err = unjudged(r.id, asked.err)
				p.result.Stopped = p.result.Stopped || r.stop
			}
		}
		switch {
		case p.result.Stopped || !again:
			return nil
		case times > maxAgain:
			return fmt.Errorf("the rules were evaluated again more than %d times; put rules that add a label before the rules that test for it", maxAgain)
		}
	}
}

// unjudged returns the outcome of a rule whose evaluation returned err, and the reason. failed is
// the error of a rule that failed.
func unjudged(rule string, err error) (o Outcome, why string, failed error) {
	if unknown, ok := errors.AsType[*facts.UnknownError](err); ok {
		return Unknown, unknown.Reason, nil
	}
	failed = evalError(rule, err)
	return Failed, failed.Error(), failed
}

// evalError adds the rule's id to err, which is an [*expression.PlacedError] for every failed
// evaluation.
func evalError(rule string, err error) error {
	pe, ok := errors.AsType[*expression.PlacedError](err)
	if !ok {
		return err
	}
	return &EvalError{Rule: rule, Problem: pe.Problem}
}

// A plan is a result that is not complete yet.
type plan struct {
	event     events.Event
	result    Result
	asked     []asking // one for each rule
	escalated []string // the reasons, one for each rule that escalates
	closes    bool
	// changed are the labels that were added or removed, or may be by undecided rules, in order and in
	// lower case. anyLabel stands for all labels.
	changed   []string
	doubt     expression.Doubt             // labels that undecided rules may change
	halt      []*expression.UndecidedError // the undecided rules with "stop: true"
	explainer *expression.Explainer
	names     *symbols.Table
}

// anyLabel is no name of a label, and stands for all of them.
const anyLabel = ""

// concerns reports whether the condition of a rule reads labels that changed after the first changes.
func (p *plan) concerns(r *rule, after int) bool {
	changed := p.changed[after:]
	return r.when.AffectedBy(changed) || r.when.ReadsLabels() && slices.Contains(changed, anyLabel)
}

// suspect notes what an undecided rule may do: the labels that it may change, and whether it may stop.
func (p *plan) suspect(r *rule, v *expression.Evaluation, why *expression.UndecidedError) {
	if r.stop && !p.result.Stopped {
		p.halt = append(p.halt, &expression.UndecidedError{Why: "the rule " + r.id + " may stop before it, which is undecided", Missing: why.Missing})
	}
	for _, a := range r.actions {
		if a.Spec().Thing != protocol.ThingLabel {
			continue
		}
		item, _, _, err := p.render(a, v)
		if err != nil {
			p.doubts(anyLabel, r, why)
			continue
		}
		names, adds := labelsOf(item)
		for _, name := range names {
			has := slices.ContainsFunc(v.Labels(), func(l string) bool { return text.SameLabel(l, name) })
			may := v.Facts().May
			if (has != adds || p.doubt.Has(name)) && (may == nil || may(name)) {
				p.doubts(name, r, why)
			}
		}
	}
}

// doubts notes a label that an undecided rule may change.
func (p *plan) doubts(label string, r *rule, why *expression.UndecidedError) {
	p.doubt.Add(label, r.id, why.Missing)
	p.changed = append(p.changed, strings.ToLower(label))
}

func (p *plan) add(r *rule, v *expression.Evaluation) (Outcome, error) {
	switch {
	case p.result.Stopped:
		return Cut, nil
	case !r.listens(v.Facts(), p.event):
		return NotListed, nil
	}
	if r.when != nil {
		value, err := p.explainer.Judge(r.when)
		switch {
		case err != nil:
			return "", err
		case !value && r.undo && len(p.halt) > 0:
			return "", p.halt[0] // it reverts its actions only if it is reached
		case !value:
			return False, nil
		}
		if slices.Contains(v.Facts().FalseBefore, r.id) {
			p.result.Stopped = r.stop // a rule that guards those after it still does
			return Later, nil
		}
	}
	if len(p.halt) > 0 {
		p.result.Stopped = r.stop // this rule or an earlier one stops
		return "", p.halt[0]
	}
	before, labels := *p, v.Labels()
	before.doubt = p.doubt.Clone()
	for i, a := range r.actions {
		item, lacks, ok, err := p.render(a, v)
		if err != nil {
			*p = before // none of the rule's actions is planned
			v.SetLabels(labels)
			if _, undecided := errors.AsType[*expression.UndecidedError](err); undecided {
				p.result.Stopped = r.stop // the condition is true
			}
			return "", err
		}
		switch {
		case lacks != "":
			p.result.Skipped = append(p.result.Skipped, Skipped{Action: item, Rule: r.id, Digest: r.digest(p.names, i), Lacks: lacks})
		case ok:
			p.take(r, i, item)
			p.relabel(v, item)
		}
	}
	if r.together { // whether the labels change depends on all actions of the rule
		p.changed, p.doubt = before.changed, before.doubt
		v.SetLabels(labels)
		p.relabelTogether(v, len(before.result.Sources), slices.ContainsFunc(p.result.Skipped[len(before.result.Skipped):], Skipped.Prevents))
	}
	p.result.Fired = append(p.result.Fired, r.id)
	p.result.Stopped = r.stop
	return Matched, nil
}

// render renders an action. The error is an [*expression.UndecidedError] if the action depends on
// values that nobody supplied, or on labels that undecided rules may change.
func (p *plan) render(a action.Action, v *expression.Evaluation) (item protocol.ActionItem, lacks string, ok bool, err error) {
	if err := p.doubt.Of(a.Expressions()); err != nil {
		return item, "", false, err
	}
	item, lacks, ok, err = a.Render(v)
	if unsupplied, missing := errors.AsType[*facts.UnsuppliedError](err); missing {
		err = &expression.UndecidedError{Why: unsupplied.Error(), Missing: unsupplied.Names}
	}
	return item, lacks, ok, err
}

// take plans the action of a rule with that index.
func (p *plan) take(r *rule, index int, item protocol.ActionItem) {
	switch item.Type {
	case action.Escalate:
		why := "rule " + r.id
		if reason, ok, _ := item.Text("reason"); ok {
			why += ": " + reason
		}
		p.escalated = append(p.escalated, why)
		return
	case action.Retriage:
		p.result.Retriage = true
		return
	}
	if spec, _ := protocol.SpecOf(item.Type); spec.Closes() {
		_, later := item.Param("after")
		p.closes = p.closes || !later
	}
	p.result.Message.Actions = append(p.result.Message.Actions, item)
	p.result.Sources = append(p.result.Sources, r.id)
	p.result.Digests = append(p.result.Digests, r.digest(p.names, index))
}

// planned returns the actions that are planned so far.
func (p *plan) planned() []facts.Planned {
	list := make([]facts.Planned, len(p.result.Sources))
	for i, item := range p.result.Message.Actions {
		list[i] = facts.Planned{Rule: p.result.Sources[i], Digest: p.result.Digests[i], Action: item}
	}
	return list
}

// relabel applies the label changes of the action that was planned last, so that later conditions see
// them.
func (p *plan) relabel(v *expression.Evaluation, item protocol.ActionItem) {
	names, adds := labelsOf(item)
	if len(names) == 0 {
		return
	}
	may := v.Facts().May
	if effect := v.Facts().Effect; effect != nil {
		all := effect(v.Context(), p.planned())
		names, may = all[len(all)-1], nil
	}
	p.change(v, names, adds, may)
}

// relabelTogether applies the label changes of the planned actions from an index on, which are
// carried out together; none if lacking, because one more action of their rule is skipped.
func (p *plan) relabelTogether(v *expression.Evaluation, from int, lacking bool) {
	items := p.result.Message.Actions
	if lacking || !slices.ContainsFunc(items[from:], func(i protocol.ActionItem) bool { names, _ := labelsOf(i); return len(names) > 0 }) {
		return
	}
	var all [][]string
	if effect := v.Facts().Effect; effect != nil {
		all = effect(v.Context(), p.planned())
	}
	for i := from; i < len(items); i++ {
		names, adds := labelsOf(items[i])
		if all != nil {
			p.change(v, all[i], adds, nil)
			continue
		}
		p.change(v, names, adds, v.Facts().May)
	}
}

// labelsOf returns the labels that an action names, and whether it adds them.
func labelsOf(item protocol.ActionItem) (names []string, adds bool) {
	spec, _ := protocol.SpecOf(item.Type)
	if spec.Thing != protocol.ThingLabel {
		return nil, true
	}
	names, _, _ = item.Texts(spec.Main)
	return names, spec.AddsLabels()
}

// change adds or removes labels; may reports whether a label may change, nil: all may.
func (p *plan) change(v *expression.Evaluation, names []string, adds bool, may func(string) bool) {
	for _, name := range names {
		same := func(l string) bool { return text.SameLabel(l, name) }
		labels := v.Labels()
		if may != nil && !may(name) {
			continue
		}
		if p.doubt.Settle(name) {
			p.changed = append(p.changed, strings.ToLower(name))
		}
		if slices.ContainsFunc(labels, same) == adds {
			continue
		}
		labels = slices.Clone(labels)
		if adds {
			labels = append(labels, name)
		} else {
			labels = slices.DeleteFunc(labels, same)
		}
		v.SetLabels(labels)
		p.changed = append(p.changed, strings.ToLower(name))
	}
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
	for _, o := range []Outcome{Failed, Unknown, Undecided} {
		if ids := p.result.With(o); len(ids) > 0 {
			m.Rationale += fmt.Sprintf("; %s: %s", o, strings.Join(ids, ", "))
		}
	}
}

// With returns the ids of the rules with an outcome, in order.
func (r Result) With(o Outcome) []string {
	var ids []string
	for _, t := range r.Trace {
		if t.Outcome == o {
			ids = append(ids, t.ID)
		}
	}
	return ids
}
