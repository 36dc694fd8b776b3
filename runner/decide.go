package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/text"

	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/triage"
)

// decide asks the rules, and the agent for what they left open.
func (w *work) decide(ctx context.Context) (Decision, error) {
	q := question{facts: w.facts(ctx), event: w.e}
	o, err := w.orders(q.facts)
	if err != nil {
		return Decision{}, err
	}
	d, err := w.askRules(ctx, &q)
	if err != nil {
		return Decision{}, err
	}
	if o.has(commandTriage) || q.res != nil && q.res.Retriage && w.e.Key() != w.e.AsOpened().Key() {
		if d, err = w.retriage(ctx, &q); err != nil {
			return Decision{}, err
		}
	}
	w.rep.Rules = q.res
	if !o.mute || w.retriaged {
		if d, err = w.askToo(ctx, q, d); err != nil {
			return Decision{}, err
		}
	}
	err = w.obey(ctx, o, &d, q)
	return d, err
}

// A question is what is to be decided on.
type question struct {
	event triage.Delivery
	facts facts.Facts
	res   *rules.Result // of the rules; nil: there are none, or nobody asked
}

// askToo asks the agent as well, if it is wanted.
func (w *work) askToo(ctx context.Context, q question, d Decision) (Decision, error) {
	if w.given != nil {
		return w.takeDecision(q, d)
	}
	if w.o.Agent == nil {
		return d, nil
	}
	if q.res != nil {
		q.facts.Issue.Labels = q.res.Labels // what the rules left open
	}
	wanted, err := w.wantsAgent(q.facts, q.res)
	if err != nil || !wanted {
		return d, err
	}
	asked, err := w.askAgent(ctx, q.event)
	if err != nil {
		return Decision{}, err
	}
	return merge(d, asked, q.res), nil
}

// maxExplained is how many rules are explained; more are too many to read.
const maxExplained = 100

// explain tells of the rules part by part, also when one of them fails.
func (w *work) explain(ctx context.Context, facts facts.Facts) {
	if n := w.c.Rules.Len(); !w.o.Explain || n == 0 || n > maxExplained {
		return
	}
	if l, ok := facts.Lookup.(*lookup); ok {
		facts.Lookup = answered{l}
	}
	facts.Effect = w.effect(ctx, false)
	w.rep.Why = w.c.Rules.Explain(facts)
}

// askRules asks the rules, and puts their result into the question.
func (w *work) askRules(ctx context.Context, q *question) (Decision, error) {
	if w.c.Rules == nil {
		return w.decided(nil), nil
	}
	res, err := w.c.Rules.Decide(q.facts)
	w.explain(ctx, q.facts)
	if err != nil {
		return Decision{}, err
	}
	q.res = &res
	return w.decided(q.res), nil
}

// decided is what the rules came to as a decision.
func (r *Runner) decided(res *rules.Result) Decision {
	d := Decision{By: byRules, Message: protocol.DecisionMessage{
		TaskID: r.o.TaskID, Decision: protocol.Skip, Rationale: "there are no rules",
	}}
	if res == nil {
		return d
	}
	d.Message = res.Message
	d.Message.TaskID = r.o.TaskID
	for _, id := range res.Sources {
		d.Sources = append(d.Sources, r.source(id))
	}
	return d
}

// source is a rule as the source of an action.
func (r *Runner) source(id string) triage.Source {
	return triage.Source{Rule: id, OverrideHumans: r.c.Rules.OverridesHumans(id)}
}

// wantsAgent reports whether the rules left anything open: by agent.when, or else
// when none of them fired.
func (r *Runner) wantsAgent(f facts.Facts, res *rules.Result) (bool, error) {
	if res != nil && (res.Stopped || res.Message.Decision == protocol.Escalate) {
		return false, nil
	}
	when := r.c.Agent.When
	if f.Event.Name == triage.EventSchedule && (when == nil || !strings.Contains(when.String(), triage.EventSchedule)) {
		return false, nil // a scheduled run may find a hundred issues
	}
	if r.c.Agent.When != nil {
		return r.c.Agent.When.Eval(f)
	}
	if f.Pull != (triage.PullRequest{}) {
		return false, nil // tasks are about issues, unless the configuration says more
	}
	return res == nil || len(res.Fired) == 0, nil
}

// maxActions bounds the actions of one decision.
const maxActions = 200

// byRules is who decided when no agent was asked.
const byRules = "rules"

// askAgent asks the agent, and falls back on what the configuration says when it
// gives no usable answer.
func (w *work) askAgent(ctx context.Context, e triage.Delivery) (Decision, error) {
	spec := TaskSpec{ID: w.o.TaskID, LLM: w.c.LLM, AllowClose: w.c.Policy.AllowClose}
	if text, ok := w.summary(ctx); ok {
		spec.Memory = &text
	}
	task, err := Task(e, spec)
	if err != nil {
		return Decision{}, err
	}
	m, err := w.o.Agent.Decide(ctx, task)
	w.past.outdate() // people may have done something while the agent was thinking
	if err == nil {
		err = w.usable(m)
	}
	if err == nil {
		return Decision{Message: m, By: w.o.By}, nil
	}
	if ctx.Err() != nil {
		return Decision{}, errors.Join(&AgentError{err}, context.Cause(ctx))
	}
	return w.fallBack(err, &w.rep)
}

// usable says what is wrong with an agent's decision as a whole.
func (w *work) usable(m protocol.DecisionMessage) error {
	if m.TaskID != w.o.TaskID {
		return fmt.Errorf("the agent answered for task %q", text.Quote(m.TaskID))
	}
	if n := len(m.Actions); n > maxActions {
		return fmt.Errorf("the agent asks for %d actions, more than %d", n, maxActions)
	}
	return nil
}

// fallBack is what happens when the agent fails.
func (r *Runner) fallBack(err error, rep *Report) (Decision, error) {
	d := Decision{By: r.o.By, fallback: true, Message: protocol.DecisionMessage{
		TaskID: r.o.TaskID, Decision: protocol.Skip, Rationale: err.Error(),
	}}
	switch {
	case r.c.Agent.OnFailure.Label != "":
		a, aerr := protocol.NewAction(protocol.ActionAddLabel, map[string]any{"label": r.c.Agent.OnFailure.Label})
		if aerr != nil {
			return Decision{}, aerr
		}
		d.Message.Decision = protocol.LabelAndRespond
		d.Message.Actions = []protocol.ActionItem{a}
		d.Sources = []triage.Source{{Rule: config.OnFailureRule}}
	case r.c.Agent.OnFailure.Skip:
	default:
		return Decision{}, &AgentError{err}
	}
	rep.warnf("%v", err)
	return d, nil
}

// merge joins the agent's decision to that of rules that fired. The stronger
// decision wins: escalate, close, label_and_respond, skip.
func merge(byRules, byAgent Decision, res *rules.Result) Decision {
	if res == nil || len(res.Fired) == 0 {
		return byAgent
	}
	d := byRules
	// What the rules decided is worth keeping.
	d.fallback = byAgent.fallback && len(byRules.Message.Actions) == 0
	d.By = "rules, " + byAgent.By
	d.Message.Rationale = byRules.Message.Rationale + "; " + byAgent.Message.Rationale
	d.Message.Decision = stronger(byRules.Message.Decision, byAgent.Message.Decision)
	if !byAgent.Message.Decision.Writes() {
		return d
	}
	d.Message.Actions = slices.Concat(d.Message.Actions, byAgent.Message.Actions)
	sources := make([]triage.Source, 0, len(d.Message.Actions))
	for i := range byRules.Message.Actions {
		sources = append(sources, byRules.source(i))
	}
	for i := range byAgent.Message.Actions {
		sources = append(sources, byAgent.source(i))
	}
	d.Sources = sources
	return d
}

func stronger(a, b protocol.DecisionType) protocol.DecisionType {
	for _, d := range []protocol.DecisionType{protocol.Escalate, protocol.Close, protocol.LabelAndRespond} {
		if a == d || b == d {
			return d
		}
	}
	return protocol.Skip
}
