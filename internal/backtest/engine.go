package backtest

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/ruleset"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/triage"
)

// An engine evaluates the rules of one configuration.
type engine struct {
	config  *config.Config
	infos   []rules.Info      // of all rules, in their order
	set     *rules.Set        // without the rules that cannot be replayed
	unable  map[string]string // why a rule cannot be replayed, by the rule's id
	labels  map[string]bool   // labels that rules add by name, in lower case
	refused map[string]bool   // labels that the policy does not allow
}

func newEngine(c *config.Config) *engine {
	e := &engine{config: c, infos: rules.Infos(c.Rules), set: c.Rules, unable: map[string]string{}, labels: map[string]bool{}, refused: map[string]bool{}}
	for _, info := range e.infos {
		if !listens(info.On) {
			e.unable[info.ID] = "it does not listen to " + replayedEvent
			continue
		}
		for _, name := range info.Labels {
			e.labels[text.LabelKey(name)] = true
		}
	}
	return e
}

// proposes reports whether actions of the rules are proposed to people. The agent is not asked.
func (e *engine) proposes() bool {
	c := *e.config
	c.Agent.URL = ""
	return c.Proposes()
}

// opened is the activity that is replayed.
const opened = "opened"

// replayedEvent is the key of the event that is replayed.
const replayedEvent = triage.EventIssues + "." + opened

func listens(on []string) bool {
	return slices.Contains(on, replayedEvent) || slices.Contains(on, triage.EventIssues+".*")
}

// adds reports whether a rule adds one of the labels by name.
func (e *engine) adds(labels []string) bool {
	return slices.ContainsFunc(labels, func(l string) bool { return e.labels[text.LabelKey(l)] })
}

// A decision is the result of an engine's rules on one issue.
type decision struct {
	fired    []string
	effects  map[string]*effect // of the rules that fired
	err      error              // the rules could not be decided, so no rule fired
	unjudged []rules.RuleTrace  // of the rules that failed or are unknown
}

// An effect is the effect of one rule.
type effect struct {
	labels  []string
	closes  string // the reason for closing; empty: it does not close
	actions string // all actions as text, for comparison
	adds    []addition
}

// An addition is a label that an action of a rule adds.
type addition struct {
	digest string // of the rule and the action
	label  string
}

// matters reports whether the issue's timeline is worth reading.
func (d decision) matters() bool { return len(d.fired)+len(d.unjudged) > 0 || d.err != nil }

// decide evaluates the rules for an event. A rule that needs data which is unknown for past events
// is removed for the rest of the replay.
func (e *engine) decide(ctx context.Context, event triage.Delivery, timeline facts.Timeline) decision {
	look := &lookup{timeline: timeline}
	for {
		known, err := runner.Replay(e.config, event, look, event.Issue.CreatedAt)
		if err != nil {
			return decision{err: err}
		}
		res, err := e.set.Decide(ctx, known)
		if _, failed := errors.AsType[*rules.EvalError](err); err != nil && !failed {
			return decision{err: err}
		}
		again := false
		for _, t := range res.Trace {
			if t.Outcome == rules.Unknown && slices.Contains(unreplayable(), t.Error) {
				e.unable[t.ID] = t.Error
				e.set, again = (*rules.Set)((*ruleset.Set)(e.set).Rules().Without(t.ID)), true
			}
		}
		if !again {
			return e.decisionOf(res, known.May)
		}
	}
}

// decisionOf groups a result by rule, with only the labels that the policy allows.
func (e *engine) decisionOf(res rules.Result, may func(label string) bool) decision {
	d := decision{fired: res.Fired, effects: map[string]*effect{}}
	for _, t := range res.Trace {
		if t.Outcome.Unjudged() {
			d.unjudged = append(d.unjudged, t)
		}
	}
	for _, id := range res.Fired {
		d.effects[id] = &effect{}
	}
	if !res.Message.Decision.Writes() {
		return d // escalated: nothing is written
	}
	for k, a := range res.Message.Actions {
		does := d.effects[res.Sources[k]]
		if does == nil {
			continue
		}
		does.actions += a.String() + "\n"
		switch spec, _ := protocol.SpecOf(a.Type); {
		case spec.AddsLabels():
			names, _, _ := a.Texts(spec.Main)
			does.labels = e.permitted(does.labels, may, names...)
			for _, name := range names {
				if may(name) {
					does.adds = append(does.adds, addition{res.Digests[k], name})
				}
			}
		case a.Type == protocol.ActionMarkDuplicate:
			does.closes = "duplicate"
		case spec.Closes():
			does.closes, _, _ = a.Text("reason")
			does.closes = cmp.Or(does.closes, completed)
		}
	}
	return d
}

// permitted appends to labels the names that the policy allows, and records the others.
func (e *engine) permitted(labels []string, may func(label string) bool, names ...string) []string {
	for _, name := range names {
		switch {
		case !may(name):
			if len(e.refused) < maxLabels {
				e.refused[name] = true
			}
		case !slices.Contains(labels, name):
			labels = append(labels, name)
		}
	}
	return labels
}

// maxLabels is the largest number of different labels that are counted.
const maxLabels = 5000

// A lookup returns data as of the time when an issue was opened. Data that is unknown for past events
// makes a rule that needs it unknown.
type lookup struct{ timeline facts.Timeline }

// usesPermission is the reason why a rule on permissions cannot be replayed: GitHub returns only
// current permissions. The others are in [facts.LookupSpec]: issues are replayed from the newest to
// the oldest, and the state of GitHub at that time is unknown.
const usesPermission = "it uses actor.permission, which is unknown for past events"

// unreplayable returns the reasons why rules cannot be replayed.
func unreplayable() []string {
	list := []string{usesPermission}
	for _, s := range facts.LookupSpecs() {
		if s.NotReplayed != "" {
			list = append(list, s.NotReplayed)
		}
	}
	return list
}

func (l *lookup) Permission(context.Context, string) (string, error) {
	return "", &facts.UnknownError{Reason: usesPermission}
}

func (l *lookup) Timeline(context.Context) (facts.Timeline, error) { return l.timeline, nil }
func (l *lookup) Earlier(context.Context) (facts.Timeline, error)  { return l.timeline, nil }

// Read leaves k unchanged if the part is empty for an issue that was just opened.
func (l *lookup) Read(_ context.Context, p facts.Part, _ *facts.Known) error {
	if why := facts.SpecOf(p).NotReplayed; why != "" {
		return &facts.UnknownError{Reason: why}
	}
	return nil
}

// unreplayed returns the events that rules listen to, except the replayed one.
func (e *engine) unreplayed() []string {
	events := map[string]bool{}
	for _, info := range e.infos {
		for _, on := range info.On {
			events[on] = on != replayedEvent
		}
	}
	maps.DeleteFunc(events, func(_ string, other bool) bool { return !other })
	return slices.Sorted(maps.Keys(events))
}
