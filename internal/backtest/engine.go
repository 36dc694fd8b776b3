package backtest

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/triage"
)

// An engine is a configuration's rules and their counters.
type engine struct {
	config *config.Config
	may    func(label string) bool // what the policy permits
	set    *rules.Set              // less the rules that cannot be replayed
	order  []string                // ids
	rules  map[string]*tally
	labels map[string]bool // that rules add and name, in lower case
	failed int             // issues on which a rule fails, and so none acts
	why    string          // the first failure that is no single rule's
	refuse map[string]bool // labels that the policy refuses
}

func newEngine(c *config.Config) *engine {
	e := &engine{config: c, set: c.Rules, rules: map[string]*tally{}, labels: map[string]bool{}, refuse: map[string]bool{}}
	for _, info := range rules.Infos(c.Rules) {
		t := &tally{info: info, labels: map[string]*Figures{}}
		e.order = append(e.order, info.ID)
		e.rules[info.ID] = t
		if !listens(info.On) {
			t.unable = "it does not listen to " + replayedEvent
			continue
		}
		for _, name := range info.Labels {
			e.labels[strings.ToLower(name)] = true
		}
	}
	return e
}

// replayedEvent is the key of the event that is replayed.
const replayedEvent = triage.EventIssues + "." + opened

func listens(on []string) bool {
	return slices.Contains(on, replayedEvent) || slices.Contains(on, triage.EventIssues+".*")
}

// adds reports whether a rule adds, and names, one of the labels.
func (e *engine) adds(labels []string) bool {
	return slices.ContainsFunc(labels, func(l string) bool { return e.labels[strings.ToLower(l)] })
}

// A decision is what the rules of an engine decide on one issue.
type decision struct {
	fired  []string
	deeds  map[string]*deed // of the rules that fired
	why    error            // the rules fail; then nothing fired
	failed string           // id of the rule that fails, if it is one
}

// A deed is what one rule does.
type deed struct {
	labels []string
	closes string // the reason; empty: it does not close
	acts   string // all its actions, to be compared
}

// matters reports whether the issue's timeline is worth reading.
func (d decision) matters() bool { return len(d.fired) > 0 || d.why != nil }

// decide asks the rules about an event. A rule that asks what nobody can tell any more
// is taken out, once and for all. h may be nil.
func (e *engine) decide(event triage.Delivery, h *history) decision {
	look := &lookup{}
	if h != nil {
		look.past = h.past()
	}
	for {
		facts, err := runner.Replay(e.config, event, look, event.Issue.CreatedAt)
		if err != nil {
			return decision{why: err}
		}
		res, err := e.set.Decide(facts)
		if err == nil {
			e.may = facts.May
			return e.decisionOf(res)
		}
		id := ""
		if failure, ok := errors.AsType[*rules.EvalError](err); ok {
			id = failure.Rule
		}
		t := e.rules[id]
		if t == nil || look.unable == nil {
			return decision{failed: id, why: err}
		}
		t.unable = look.unable.Error()
		e.set, look.unable = rules.Without(e.set, id), nil
	}
}

// decisionOf sorts what was decided by rule.
func (e *engine) decisionOf(res rules.Result) decision {
	d := decision{fired: res.Fired, deeds: map[string]*deed{}}
	for _, id := range res.Fired {
		d.deeds[id] = &deed{}
	}
	if !res.Message.Decision.Writes() {
		return d // escalated: people decide, and nothing is written
	}
	for k, a := range res.Message.Actions {
		deed := d.deeds[res.Sources[k]]
		if deed == nil {
			continue
		}
		deed.acts += a.String() + "\n"
		switch a.Type {
		case protocol.ActionAddLabel:
			name, _, _ := a.Text("label")
			e.add(deed, name)
		case protocol.ActionAddLabels:
			names, _, _ := a.Texts("labels")
			e.add(deed, names...)
		case protocol.ActionCloseIssue:
			deed.closes, _, _ = a.Text("reason")
			if deed.closes == "" {
				deed.closes = completed
			}
		case protocol.ActionMarkDuplicate:
			deed.closes = "duplicate"
		}
	}
	return d
}

// add notes labels that the policy permits.
func (e *engine) add(d *deed, names ...string) {
	for _, name := range names {
		switch {
		case !e.may(name):
			if len(e.refuse) < maxLabels {
				e.refuse[name] = true
			}
		case !slices.Contains(d.labels, name):
			d.labels = append(d.labels, name)
		}
	}
}

// A lookup answers for the time of an issue's opening.
type lookup struct {
	past   facts.Past
	unable error // what it could not answer
}

// errPermission: GitHub tells of today only.
var errPermission = errors.New("it asks for actor.permission, which nobody knows of the past")

func (l *lookup) Permission(string) (string, error) {
	l.unable = errPermission
	return "", errPermission
}

func (l *lookup) Past() (facts.Past, error)     { return l.past, nil }
func (l *lookup) Files() ([]string, error)      { return nil, nil }
func (l *lookup) Memory() (facts.Memory, error) { return facts.Memory{}, nil }

// unreplayed lists the events other than the replayed one that rules listen to.
func (e *engine) unreplayed() []string {
	events := map[string]bool{}
	for _, t := range e.rules {
		for _, on := range t.info.On {
			events[on] = on != replayedEvent
		}
	}
	maps.DeleteFunc(events, func(_ string, other bool) bool { return !other })
	return slices.Sorted(maps.Keys(events))
}
