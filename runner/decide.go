package runner

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/ruleset"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/runner/effect"
	"github.com/org/foreman-action/runner/internal/command"
	"github.com/org/foreman-action/runner/internal/history"
	"github.com/org/foreman-action/runner/internal/outcome"
	"github.com/org/foreman-action/runner/internal/plan"
	"github.com/org/foreman-action/runner/internal/proposal"
	"github.com/org/foreman-action/triage"
)

// An AgentError means that the agent did not return a usable decision.
type AgentError struct{ Err error }

// Error returns the agent's own message.
func (e *AgentError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *AgentError) Unwrap() error { return e.Err }

const (
	// byRules and byCommand name the decider if no agent was asked.
	byRules   = "rules"
	byCommand = "command"
	// onFailureID is the id in place of a rule's, for the action in the configuration's
	// agent.on_failure.
	onFailureID = "agent.on_failure"
	// whenID is the id in place of a rule's, for the condition in the configuration's agent.when.
	whenID = "agent.when"
	// maxActions is the maximum number of actions in one decision.
	maxActions = 200
	// maxExplained is the maximum number of rules that are explained, because people read the
	// explanation.
	maxExplained = 100
)

// errOutdated means that the agent was not asked, because the issue must be read again first.
var errOutdated = errors.New("the issue must be read again before the agent is asked")

// decided is a decision with the data that led to it.
type decided struct {
	plan.Decision

	At    time.Time     // UTC
	Rules *rules.Result // nil: no rules were evaluated
	Why   []rules.RuleWhy
	// Summaries belong to Rules.
	Summaries []rules.Summary
	Retriaged bool // the decision treats the issue as newly opened
	// Asks means that the decision is not complete: the agent was not asked, because the issue must be
	// read again first.
	Asks bool
	// Undecided are the parts that depend on values which nobody supplied, and Unasked is why the agent
	// was not asked; see [Report].
	Undecided []Undecided
	Unasked   string
	// Answers are a person's answers to proposals, and ignored what of them was not carried out.
	Answers proposal.Answers
	ignored []string
	// Failed is the error of the rules that failed, or of agent.when; nil: none failed. The decision is
	// that of the other rules.
	Failed error
}

// A decider decides on the event of an attempt. Nothing is written.
type decider struct{ attempt }

// decide evaluates the rules, asks the agent if the rules leave the decision open, and adds the
// actions of commands and reversals. With an error, only Why, Retriaged and Failed are set.
func (a decider) decide(ctx context.Context) (decided, error) {
	var dec decided
	f := a.facts(ctx)
	commands, err := a.commands(ctx, &dec)
	if err != nil {
		return dec, err
	}
	asked := a.d
	res, err := a.askRules(ctx, f, &dec)
	if err != nil {
		return dec, err
	}
	opened := a.d.AsOpened()
	if commands.Has(command.Triage) || res != nil && res.Retriage && a.d.Key() != opened.Key() {
		dec.Retriaged = true
		asked, f = opened, asOpened(opened, f)
		f.Effect = a.effect(!a.first, true)
		if res != nil {
			f.Issue.Labels = res.Labels
			again, err := a.askRules(ctx, f, &dec)
			if err != nil {
				return dec, err
			}
			both := joined(*res, *again)
			res = &both
		}
	}
	dec.Rules, dec.Summaries = res, res.Summaries(asked.Key())
	a.warnUnknown(res)
	dec.addUndecided(res)
	d := a.ofRules(res)
	if commands.Mute && !dec.Retriaged {
		dec.unask(a, "the comment is a command")
	} else {
		d, err = a.withAgent(ctx, asked, f, &dec, d)
		if err != nil {
			dec.Decision, dec.Asks = d, errors.Is(err, errOutdated)
			return dec, err
		}
	}
	if d, err = a.withReversals(ctx, d, res); err != nil {
		return dec, err
	}
	if d, err = a.withCommands(ctx, &dec, d, commands, f); err != nil {
		return dec, err
	}
	dec.Decision, dec.At = d, a.o.Clock.Now().UTC()
	return dec, nil
}

// facts returns the event in the form that rules read, with the look-ups.
func (a decider) facts(ctx context.Context) facts.Facts {
	f := facts.Of(a.d, a.o.Clock.Now().UTC())
	f.Lookup, f.Effect, f.ByTimes = a.lookup(false), a.effect(!a.first, false), a.first
	f.FalseBefore = a.falseBefore
	if a.o.Supplied != nil {
		// The times of the issue stand for a timeline that nobody supplied, and the look-ups know the pull
		// request.
		_, err := a.o.Supplied.Timeline(ctx)
		f.ByTimes, f.Pull = err != nil, nil
	}
	return f
}

// asOpened returns the facts of the event opened, with the look-ups of f. It is used to decide on
// an issue as if it were newly opened.
func asOpened(opened triage.Delivery, f facts.Facts) facts.Facts {
	out := facts.Of(opened, f.Now)
	out.Lookup, out.Effect = f.Lookup, f.Effect
	if f.Pull == nil {
		out.Pull = nil
	}
	return out
}

// askRules returns the decision of the rules, or nil if there are none. It stores their explanation
// in dec, and the errors of the rules that failed.
func (a decider) askRules(ctx context.Context, f facts.Facts, dec *decided) (*rules.Result, error) {
	if a.c.Rules == nil {
		return nil, nil
	}
	res, err := a.c.Rules.Decide(ctx, f)
	if n := a.c.Rules.Len(); a.o.Explain && n > 0 && n <= maxExplained {
		f.Lookup, f.Effect = a.lookup(true), a.effect(false, dec.Retriaged)
		dec.Why = a.c.Rules.Explain(ctx, f)
	}
	if _, failed := errors.AsType[*rules.EvalError](err); err != nil && !failed {
		return nil, err
	}
	dec.fail(err)
	return &res, nil
}

// unask notes why the agent was not asked, in a dry run that has an agent to ask.
func (dec *decided) unask(a decider, why string) {
	if a.dry && a.given == nil && a.o.Agent.Agent != nil {
		dec.Unasked = why
	}
}

// incomplete reports whether rules failed, so that the decision is only that of the others.
func (dec *decided) incomplete() bool { return dec.Failed != nil }

// fail adds the error of rules that failed, once; nil: none failed.
func (dec *decided) fail(err error) {
	if dec.Failed == nil || err != nil && err.Error() != dec.Failed.Error() {
		dec.Failed = errors.Join(dec.Failed, err)
	}
}

// warnUnknown warns of the rules that need a value which is not known, once for each reason.
func (a decider) warnUnknown(res *rules.Result) {
	if res == nil {
		return
	}
	ids, order := map[string][]string{}, []string(nil)
	for _, t := range res.Trace {
		if t.Outcome == rules.Unknown {
			if ids[t.Error] == nil {
				order = append(order, t.Error)
			}
			ids[t.Error] = append(ids[t.Error], t.ID)
		}
	}
	for _, why := range order {
		a.warn("%s; rules that need it did nothing: %s", why, strings.Join(ids[why], ", "))
	}
}

// addUndecided adds the rules that depend on values which nobody supplied.
func (dec *decided) addUndecided(res *rules.Result) {
	if res == nil {
		return
	}
	for _, t := range res.Trace {
		if t.Outcome == rules.Undecided {
			dec.Undecided = append(dec.Undecided, Undecided{t.ID, t.Error, t.Missing})
		}
	}
}

// ofRules converts the result of the rules into a decision.
func (a decider) ofRules(res *rules.Result) plan.Decision {
	d := plan.Decision{By: byRules, Message: protocol.DecisionMessage{
		TaskID: a.id.ID, Decision: protocol.Skip, Rationale: "there are no rules",
	}}
	if res == nil {
		return d
	}
	d.Message = res.Message
	d.Message.TaskID = a.id.ID
	for i, id := range res.Sources {
		d.Sources = append(d.Sources, a.source(id, res.Digests[i]))
	}
	for _, s := range res.Skipped { // the plan skips them with the reason
		d.Message.Actions = append(slices.Clip(d.Message.Actions), s.Action)
		d.Sources = append(d.Sources, a.source(s.Rule, s.Digest))
	}
	return d
}

// withAgent combines the decision of the agent with that of the rules. It does so if an agent is
// wanted, or if the agent's decision was given. An agent does not decide in place of a rule that
// failed.
func (a decider) withAgent(ctx context.Context, e triage.Delivery, f facts.Facts, dec *decided, d plan.Decision) (plan.Decision, error) {
	res := dec.Rules
	stopped := res != nil && (res.Stopped || res.Message.Decision == protocol.Escalate)
	if a.given != nil {
		switch m := a.given.message; {
		case m == nil:
			return d, nil
		case stopped:
			a.warn("the agent's decision is ignored: a rule with stop fired, or a rule escalated")
			return d, nil
		case dec.incomplete():
			a.warn("the agent's decision is ignored: a rule failed")
			return d, nil
		default:
			if err := a.usable(*m); err != nil {
				return plan.Decision{}, &AgentError{err}
			}
			return join(d, a.byAgent(*m), res), nil
		}
	}
	switch {
	case dec.incomplete():
		dec.unask(a, "a rule failed")
		return d, nil
	case stopped:
		dec.unask(a, "a rule with stop fired, or a rule escalated")
		return d, nil
	case a.o.Agent.Agent == nil:
		return d, nil
	}
	if res != nil {
		f.Issue.Labels = res.Labels // includes the labels that the rules add
	}
	wanted, err := a.wantsAgent(ctx, f, res)
	if unsupplied, ok := errors.AsType[*facts.UnsuppliedError](err); ok {
		dec.Undecided = append(dec.Undecided, Undecided{whenID, err.Error(), unsupplied.Names})
		dec.unask(a, "agent.when is undecided: "+err.Error())
		return d, nil
	}
	if unknown, ok := errors.AsType[*facts.UnknownError](err); ok {
		a.warn("%v; the agent was not asked", unknown)
		dec.unask(a, unknown.Error())
		return d, nil
	}
	if _, failed := errors.AsType[*rules.EvalError](err); failed {
		dec.fail(fmt.Errorf("agent.when: %w", err))
		dec.unask(a, "agent.when failed")
		return d, nil
	}
	if err != nil {
		return d, err
	}
	if why := a.unasked(f, res, wanted); why != "" {
		dec.unask(a, why)
		return d, nil
	}
	if a.outdated() != "" {
		return d, errOutdated
	}
	if a.waits(ctx, e) {
		dec.unask(a, "proposals of the agent wait for an answer")
		return d, nil
	}
	asked, err := a.askAgent(ctx, e)
	if err != nil {
		return plan.Decision{}, err
	}
	return join(d, asked, res), nil
}

// waits reports whether the agent is not asked because its proposals wait for an answer; see [AgentWaits].
func (a decider) waits(ctx context.Context, e triage.Delivery) bool {
	if asksAnyway(e) {
		return false
	}
	rec, err := a.reads.stored(ctx)
	return err == nil && AgentWaits(rec, e, false)
}

// wantsAgent reports whether the agent is asked: as agent.when decides, or by default if no rule
// fired.
func (a decider) wantsAgent(ctx context.Context, f facts.Facts, res *rules.Result) (bool, error) {
	when := a.c.Agent.When
	switch {
	case f.Event.Name == triage.EventSchedule && (when == nil || !strings.Contains(when.String(), triage.EventSchedule)):
		return false, nil // a scheduled run may find a hundred issues
	case when != nil:
		return when.Eval(ctx, f)
	case f.Issue.PullRequest:
		return false, nil // tasks are about issues, unless agent.when is configured
	}
	return res == nil || len(res.Fired) == 0, nil
}

// unasked returns why the agent is not asked, after [decider.wantsAgent]; empty: it is asked. An agent
// decides after the rules, so it is not asked before these are decided.
func (a decider) unasked(f facts.Facts, res *rules.Result, wanted bool) string {
	var undecided []string
	if res != nil {
		undecided = res.With(rules.Undecided)
	}
	switch {
	case a.c.Agent.When == nil && res != nil && len(res.Fired) > 0:
		return "rules fired: " + strings.Join(res.Fired, ", ")
	case len(undecided) > 0:
		return "rules are undecided, and decide before the agent: " + strings.Join(undecided, ", ")
	case wanted:
		return ""
	case f.Event.Name == triage.EventSchedule:
		return "agent.when does not name schedule"
	case a.c.Agent.When == nil:
		return "without agent.when, agents are not asked about pull requests"
	}
	return "agent.when is false: " + a.c.Agent.When.String()
}

// askAgent asks the agent. If the agent returns no usable decision, it returns the configured
// fallback.
func (a decider) askAgent(ctx context.Context, e triage.Delivery) (plan.Decision, error) {
	spec := TaskSpec{ID: a.id.ID, LLM: a.c.LLM, AllowClose: a.c.Policy.AllowClose}
	if summary, ok := a.summary(ctx); ok {
		spec.Memory = &summary
	}
	task, err := Task(e, spec)
	if err != nil {
		return plan.Decision{}, err
	}
	m, err := a.o.Agent.Agent.Decide(ctx, task)
	a.reads.outdate()                    // people may have changed the issue in the meantime
	m.TaskID = cmp.Or(m.TaskID, a.id.ID) // as documented at Agent
	if err == nil {
		err = a.usable(m)
	}
	if err == nil {
		return a.byAgent(m), nil
	}
	if ctx.Err() != nil {
		return plan.Decision{}, errors.Join(&AgentError{err}, context.Cause(ctx))
	}
	return a.fallBack(err)
}

// summary returns the summary of earlier tasks for the agent; ok is false if there is none. Earlier
// attempts at this task are left out, and so are old comments, which must not suppress new ones.
func (a decider) summary(ctx context.Context) (text string, ok bool) {
	r := a.reads.Record(ctx)
	r.Tasks = slices.DeleteFunc(slices.Clone(r.Tasks), a.reads.isThis)
	r = r.Faded(a.o.Clock.Now())
	if a.o.Memory.Summarize != nil {
		return a.o.Memory.Summarize(ctx, r)
	}
	return memory.Summary(r)
}

// usable returns an error if the agent's decision is for another task or has too many actions.
func (a decider) usable(m protocol.DecisionMessage) error {
	if m.TaskID != a.id.ID {
		return fmt.Errorf("the agent answered for task %q", text.Quote(m.TaskID))
	}
	if n := len(m.Actions); n > maxActions {
		return fmt.Errorf("the agent requested %d actions; at most %d are allowed", n, maxActions)
	}
	return nil
}

// byAgent returns the decision of the agent. An agent that names no version has another track record with
// another model.
func (a decider) byAgent(m protocol.DecisionMessage) plan.Decision {
	version := m.AgentVersion
	if model := a.c.LLM; version == "" && model.Provider != "" && model.Model != "" {
		version = model.Provider + "/" + model.Model
	}
	return plan.Decision{Message: m, By: a.o.Agent.Name, AgentWhy: m.Rationale, AgentPair: memory.AgentSource(a.o.Agent.Record, version)}
}

// fallBack returns the configured decision for a failure of the agent.
func (a decider) fallBack(err error) (plan.Decision, error) {
	d := plan.Decision{By: a.o.Agent.Name, Fallback: true, Message: protocol.DecisionMessage{
		TaskID: a.id.ID, Decision: protocol.Skip, Rationale: err.Error(),
	}}
	switch on := a.c.Agent.OnFailure; {
	case on.Label != "":
		item, aerr := protocol.NewAction(protocol.ActionAddLabel, map[string]any{"label": on.Label})
		if aerr != nil {
			return plan.Decision{}, aerr
		}
		d.Message.Decision = protocol.LabelAndRespond
		d.Message.Actions = []protocol.ActionItem{item}
		digest := sha256.Sum256([]byte(onFailureID + "\x00" + on.Label))
		d.Sources = []triage.Source{{Rule: onFailureID, Digest: hex.EncodeToString(digest[:8])}}
	case on.Skip:
	default:
		return plan.Decision{}, &AgentError{err}
	}
	a.warn("%v", err)
	return d, nil
}

// join combines the agent's decision with that of the rules, if any rule fired. The stronger
// decision type is used, in this order: escalate, close, label_and_respond, skip.
func join(byRules, byAgent plan.Decision, res *rules.Result) plan.Decision {
	if res == nil || len(res.Fired) == 0 {
		return byAgent
	}
	d := byRules
	// If the rules have actions, the decision is not a fallback, and a later attempt must not
	// decide again.
	d.Fallback = byAgent.Fallback && len(byRules.Message.Actions) == 0
	d.By, d.AgentWhy, d.AgentPair = "rules, "+byAgent.By, byAgent.AgentWhy, byAgent.AgentPair
	d.Message.Rationale = byRules.Message.Rationale + "; " + byAgent.Message.Rationale
	d.Message.Decision = stronger(byRules.Message.Decision, byAgent.Message.Decision)
	if !byAgent.Message.Decision.Writes() {
		return d
	}
	d.Message.Actions = slices.Concat(d.Message.Actions, byAgent.Message.Actions)
	sources := make([]triage.Source, 0, len(d.Message.Actions))
	for i := range byRules.Message.Actions {
		sources = append(sources, byRules.Source(i))
	}
	for i := range byAgent.Message.Actions {
		sources = append(sources, byAgent.Source(i))
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

// joined combines the rules' result for the event with their result for the issue as if newly
// opened. A rule fires only once. The second result determines whether the agent is asked.
func joined(first, second rules.Result) rules.Result {
	out := second
	out.Retriage = false
	fired := func(id string) bool { return slices.Contains(first.Fired, id) }
	out.Message.Actions, out.Sources, out.Digests = slices.Clone(first.Message.Actions), slices.Clone(first.Sources), slices.Clone(first.Digests)
	for i, id := range second.Sources {
		if !fired(id) {
			out.Message.Actions = append(out.Message.Actions, second.Message.Actions[i])
			out.Sources, out.Digests = append(out.Sources, id), append(out.Digests, second.Digests[i])
		}
	}
	out.Skipped = slices.Concat(first.Skipped, slices.DeleteFunc(slices.Clone(second.Skipped), func(s rules.Skipped) bool { return fired(s.Rule) }))
	out.Fired = slices.Concat(first.Fired, slices.DeleteFunc(slices.Clone(second.Fired), fired))
	out.Trace = slices.Clone(second.Trace)
	var unjudged []string
	for i, t := range first.Trace {
		if t.Outcome == rules.Matched || t.Outcome.Unjudged() && out.Trace[i].Outcome != rules.Matched {
			out.Trace[i] = t
		}
		if out.Trace[i].Outcome.Unjudged() {
			unjudged = append(unjudged, t.ID)
		}
	}
	out.Undone = nil
	for _, id := range slices.Concat(first.Undone, second.Undone) {
		if !slices.Contains(slices.Concat(out.Fired, out.Undone, unjudged), id) {
			out.Undone = append(out.Undone, id)
		}
	}
	out.Message.Decision = stronger(first.Message.Decision, second.Message.Decision)
	if first.Message.Decision != protocol.Skip {
		out.Message.Rationale = first.Message.Rationale + "; then, as if newly opened, " + second.Message.Rationale
	}
	return out
}

// commands returns the commands in the event's comment that its author may give. Bots may give
// none.
func (a decider) commands(ctx context.Context, dec *decided) (command.Commands, error) {
	c := a.d.Comment
	if !mayCommand(a.d) {
		return command.Commands{}, nil
	}
	list := command.Parse(c.Body, a.ruleset().Knows)
	if list.Empty() {
		return list, nil
	}
	if list.OnlyAnswers() { // a permission is not looked up for a command that has no effect
		rec, err := a.reads.forAnswer(ctx)
		if err != nil {
			return list, err
		}
		if !answerable(rec, c) {
			return list.Unanswerable(len(rec.Proposals) > 0), nil
		}
	}
	permission, err := a.lookup(false).Permission(ctx, c.Author)
	if unsupplied, ok := errors.AsType[*facts.UnsuppliedError](err); ok {
		dec.Undecided = append(dec.Undecided, Undecided{"/foreman " + list.First(), err.Error(), unsupplied.Names})
		return command.Commands{Mute: list.Mute}, nil
	}
	if err != nil {
		return list, fmt.Errorf("look up whether %s may give commands: %w", text.Quote(c.Author), err)
	}
	return list.Permit(c.Author, permission, a.ruleset().Commands()), nil
}

// withCommands adds the actions of commands to a decision. They are carried out even if the rest of
// the decision writes nothing.
func (a decider) withCommands(ctx context.Context, dec *decided, d plan.Decision, list command.Commands, f facts.Facts) (plan.Decision, error) {
	for _, c := range list.List {
		var err error
		switch c.Name {
		case command.Why:
			why := command.Explain(a.c.Rules.Explain(ctx, asOpened(a.d.AsOpened(), f)), a.c.Policy.MaxLength())
			d, err = answer(d, command.Why, why)
		case command.Undo:
			d, err = a.withUndo(ctx, d, c.Rest)
		case command.Accept, command.Reject:
			d, err = a.withAnswer(ctx, dec, d, c.Name, list)
		case command.Triage: // the rules and the agent have already decided on the issue
		}
		if err != nil {
			return d, fmt.Errorf("carry out /foreman %s: %w", c.Name, err)
		}
	}
	if list.Refused != "" {
		item, err := protocol.NewAction(protocol.ActionReact, map[string]any{"content": command.Refusal})
		if err != nil {
			return d, err
		}
		d = d.With(command.By(list.Refused), item)
	}
	byPerson := func(i int) bool { _, yes := d.Accepted[i]; return yes || d.Source(i).Command != "" }
	indexes := make([]int, len(d.Message.Actions))
	for i := range indexes {
		indexes[i] = i
	}
	switch n := slices.IndexFunc(indexes, byPerson); {
	case n < 0:
	case n == 0 && d.By == byRules:
		d.By = byCommand
	default:
		d.By += ", " + byCommand
	}
	for _, part := range []string{summaryOf(dec.Answers, dec.ignored), list.Reason} {
		if part != "" {
			d.Message.Rationale = part + "; " + d.Message.Rationale
		}
	}
	return d, nil
}

// answer adds the comment that answers a command.
func answer(d plan.Decision, name, body string) (plan.Decision, error) {
	item, err := protocol.NewAction(protocol.ActionComment, map[string]any{"body": strings.TrimSpace(body)})
	if err != nil {
		return d, err
	}
	return d.With(command.By(name), item), nil
}

// withUndo adds the actions that revert one of our tasks on the issue, and a comment with the
// result. rest is the text after the command.
func (a decider) withUndo(ctx context.Context, d plan.Decision, rest string) (plan.Decision, error) {
	r := a.reads.RecordOrRebuild(ctx)
	r.Tasks = slices.DeleteFunc(slices.Clone(r.Tasks), a.reads.isThis)
	task, why := command.FindTask(r, a.later, rest)
	if why != "" {
		return answer(d, command.Undo, "Nothing was undone: "+why+".")
	}
	made := slices.DeleteFunc(history.LastMade(r, nil), func(m history.Made) bool { return m.Task != task.ID })
	h, ok := a.reads.History(ctx, made...)
	if !ok {
		return answer(d, command.Undo, "Nothing was undone: the issue's timeline, with the changes of people, cannot be read.")
	}
	reversal, err := h.Revert(r, made)
	if err != nil {
		return d, err
	}
	n := len(d.Message.Actions)
	if d.Message.Decision == protocol.Skip {
		n = 0
	}
	d = d.With(command.By(command.Undo), reversal.Items...)
	// The answer lists the actions that the policy permits.
	p := plan.Make(plan.Input{Decision: d, Issue: *a.d.Issue, Policy: a.c.Policy, Own: ownSpecs(a.o.Actions), MayComment: true, Earned: a.earned(ctx)})
	return answer(d, command.Undo, command.UndoAnswer(task, reversal, p.Steps[n:]))
}

// later reports whether a task came after the comment. The author of the comment cannot have meant
// such a task.
func (a decider) later(t memory.Task) bool {
	return a.d.Happened() && t.At.Truncate(time.Second).After(a.d.Time())
}

// withReversals adds actions that revert the effects of rules whose condition is now false
// (else_undo). It reads nothing if the issue cannot have such an effect, and does not revert
// actions of the decision itself.
func (a decider) withReversals(ctx context.Context, d plan.Decision, res *rules.Result) (plan.Decision, error) {
	if res == nil || d.Message.Decision == protocol.Escalate {
		return d, nil
	}
	d, err := a.withLabelsOff(d, res)
	if err != nil || a.reads.early() {
		return d, err
	}
	rest := *a.d.Issue // without the labels that the decision removes anyway
	rest.Labels = slices.DeleteFunc(slices.Clone(rest.Labels), func(name string) bool {
		return d.Wants(outcome.Outcome{Thing: outcome.Label, Name: name})
	})
	ids := slices.DeleteFunc(slices.Clone(res.Undone), func(id string) bool { return !a.ruleset().MayHaveEffect(id, rest) })
	labels := a.labelsOf(ids)
	if len(ids) == 0 || a.o.Memory.Store == nil && (len(labels) == 0 || !a.d.Issue.PullRequest) {
		return d, nil
	}
	r := a.reads.Record(ctx)
	list := history.LastMade(r, a.reads.isThis)
	made := slices.DeleteFunc(slices.Clone(list), func(m history.Made) bool { return !slices.Contains(ids, m.By) })
	if len(made)+len(labels) == 0 {
		return d, nil
	}
	h, ok := a.reads.History(ctx, slices.Concat(made, labels)...)
	if !ok {
		return d, nil // History has already warned
	}
	for _, m := range labels {
		if h.Recognizes(list, m.Outcome) {
			made = append(made, m)
		}
	}
	reversal, err := h.Revert(r, made)
	if err != nil {
		return d, err
	}
	wanted := d
	var reverted []string
	for i, m := range reversal.Made {
		against := m.Outcome
		against.There = !against.There
		if wanted.Wants(m.Outcome) || wanted.Wants(against) || m.Thing == outcome.Label && m.There && a.mayAdd(res, m.Name) {
			continue
		}
		d = d.With(triage.Source{Rule: m.By, Undo: true, Digest: a.ruleset().UndoDigest(m.By)}, reversal.Items[i])
		if !slices.Contains(reverted, m.By) {
			reverted = append(reverted, m.By)
		}
	}
	if len(reverted) > 0 {
		d.Message.Rationale += "; reverted the actions of rules whose condition is false now: " + strings.Join(reverted, ", ")
	}
	return d, nil
}

// labelsOf returns those labels of the issue that only rules with these ids add. Each is returned
// as an outcome of the first such rule; the caller checks in the timeline that we added it.
func (a decider) labelsOf(ids []string) []history.Made {
	var list []history.Made
	for _, name := range a.d.Issue.Labels {
		adders := a.ruleset().Adders(name)
		if len(adders) > 0 && !slices.ContainsFunc(adders, func(id string) bool { return !slices.Contains(ids, id) }) {
			list = append(list, history.Made{
				Outcome: outcome.Outcome{Thing: outcome.Label, Name: name, There: true}, Type: protocol.ActionAddLabel, By: adders[0],
			})
		}
	}
	return list
}

// mayAdd reports whether a rule that could not be judged adds the label by name.
func (a decider) mayAdd(res *rules.Result, label string) bool {
	unjudged := slices.Concat(res.With(rules.Failed), res.With(rules.Unknown), res.With(rules.Undecided))
	return len(unjudged) > 0 && slices.ContainsFunc(a.ruleset().Adders(label), func(id string) bool { return slices.Contains(unjudged, id) })
}

// withLabelsOff removes the labels of rules that override people and whose condition is now false,
// no matter who added the labels. Labels that the decision itself adds stay, and those of rules that
// could not be judged.
func (a decider) withLabelsOff(d plan.Decision, res *rules.Result) (plan.Decision, error) {
	wanted := d
	for _, id := range res.Undone {
		for _, label := range a.ruleset().LabelsOff(id, *a.d.Issue) {
			if wanted.Wants(outcome.Outcome{Thing: outcome.Label, Name: label, There: true}) || d.Wants(outcome.Outcome{Thing: outcome.Label, Name: label}) || a.mayAdd(res, label) {
				continue
			}
			item, err := protocol.NewAction(protocol.ActionRemoveLabel, map[string]any{"label": label})
			if err != nil {
				return d, err
			}
			from := a.source(id, a.ruleset().UndoDigest(id))
			from.Undo = true
			d = d.With(from, item)
		}
	}
	return d, nil
}

// effect returns a function that computes which labels planned actions will really add or remove.
// Later rules see the result, and must not act on a label that is never added. The function applies
// the policy and its limits, and drops the labels of rules whose actions are only carried out
// together. If any rule asks for labels, it also applies human overrides, labels that are never added
// again, and the labels of the repository; the review needs the same data later. If asks is false,
// nothing is looked up, and data that was not read counts as absent. With retriaged, the decision
// treats the issue as newly opened.
func (a decider) effect(asks, retriaged bool) func(ctx context.Context, planned []facts.Planned) [][]string {
	asked := a.ruleset().UsesLabels() || a.o.Agent.Agent != nil && (*ruleset.Condition)(a.c.Agent.When).UsesLabels()
	matters := asked && a.o.Host.Issues != nil
	return func(ctx context.Context, planned []facts.Planned) [][]string {
		d := plan.Decision{Message: protocol.DecisionMessage{Decision: protocol.LabelAndRespond}}
		for _, one := range planned {
			d.Message.Actions, d.Sources = append(d.Message.Actions, one.Action), append(d.Sources, a.source(one.Rule, one.Digest))
		}
		p := plan.Make(input(ctx, a.attempt, decided{Decision: d, Retriaged: retriaged}))
		list, dropped := make([][]string, len(planned)), map[string]bool{}
		for i := range p.Steps {
			s := &p.Steps[i]
			spec, _ := protocol.SpecOf(s.Action.Type)
			o := outcome.Outcome{Thing: outcome.Label, There: spec.AddsLabels()}
			if s.Verdict != triage.Do || spec.Thing != outcome.Label {
				continue
			}
			list[i] = slices.DeleteFunc(slices.Clone(effect.Values(s.Effect)), func(name string) bool {
				o.Name = name
				return matters && !a.takesEffect(ctx, o, asks || a.reads.timeline.asked, s.Source) || o.There && a.forbids(ctx, name)
			})
			if s.Grouped() && len(list[i]) < len(effect.Values(s.Effect)) {
				dropped[s.Source.Rule] = true
			}
		}
		for i := range p.Steps {
			if s := &p.Steps[i]; s.Grouped() && dropped[s.Source.Rule] {
				list[i] = nil
			}
		}
		return list
	}
}

// takesEffect reports whether a label that the policy permits will really be added or removed. A
// failed look-up means false.
func (a decider) takesEffect(ctx context.Context, o outcome.Outcome, asks bool, from triage.Source) bool {
	if !from.OverrideHumans && !a.reads.early() {
		if !asks {
			return false
		}
		h, err := a.reads.reach(ctx, history.About(o))
		if err != nil {
			return false
		}
		against := h.AddedBack
		if o.There {
			against = h.RemovedBefore
		}
		if against(o, "") != "" {
			return false
		}
		former, ok := h.RemovedFormerly(o.Name)
		ok = ok && o.There && !a.c.Policy.CreateLabels && len(a.ruleset().Adders(former.Label)) == 0
		if ok && (a.reads.labels.Try(ctx, a.d.Ref(), o.Name, former.Label) != nil || a.reads.labels.Known[text.Fold(former.Label)] == "") {
			return false
		}
	}
	if !o.There || a.c.Policy.CreateLabels {
		return true
	}
	if asks && a.reads.labels.Try(ctx, a.d.Ref(), o.Name) != nil {
		return false
	}
	label := a.reads.labels.Known[text.Fold(o.Name)]
	return label != "" && a.c.Policy.MayLabel(label)
}

// forbids reports whether the memory forbids adding a label again. If the memory was not
// configured, it is consulted only if its record was loaded anyway, or if a rule or an agent can
// have forbidden labels.
func (a decider) forbids(ctx context.Context, label string) bool {
	m := a.o.Memory
	if m.Store == nil || m.Discards || a.reads.record == nil && m.Implicit && !a.forbidsLabels() {
		return false
	}
	r := a.reads.Record(ctx)
	return r.Forbids(label)
}

// input returns the data for the plan of a decision.
func input(ctx context.Context, a attempt, dec decided) plan.Input {
	in := plan.Input{
		Decision: dec.Decision, Issue: *a.d.Issue, Policy: a.c.Policy, Own: ownSpecs(a.o.Actions),
		MayComment: dec.Retriaged || mayComment(a), AgentMayComment: a.o.Agent.AnswersAll, AcceptedClose: a.o.AcceptedClose,
		CommentID: a.d.Comment.ID, Earned: a.earned(ctx),
	}
	if a.dry {
		return in
	}
	switch m := a.o.Memory; {
	case m.Store == nil || m.Discards:
		in.NoNotes = "no memory is configured to record it: set memory.store (input memory)"
	case m.ReadOnly:
		in.NoNotes = "the memory is read-only on this event: see memory.store (input memory)"
	case m.Unscheduled:
		in.NoSchedule = "no scheduled run would carry it out when it is due"
	case m.Agenda == nil:
		in.NoSchedule = "later runs cannot read this memory: memory.store (input memory) must be artifact or file"
	}
	return in
}

// mayComment reports whether a comment may answer the event. Edits, label events and comments are
// answered only if a rule names the event.
func mayComment(a attempt) bool {
	quiet := a.d.Name == triage.EventIssueComment
	switch a.d.Action {
	case "edited", "labeled", "unlabeled", "synchronize":
		quiet = quiet || a.d.Happened()
	}
	return !quiet || a.ruleset().Names(a.d.RuleName(), a.d.Action)
}
