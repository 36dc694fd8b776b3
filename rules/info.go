package rules

import (
	"slices"

	"github.com/org/foreman-action/rules/internal/action"
	"github.com/org/foreman-action/rules/internal/events"
)

// An Info describes a rule without an event.
type Info struct {
	ID   string
	File string
	Line int // the line of the rule's id
	// On lists the events that the rule listens to, as written in the file. A rule without "on" has
	// the default events.
	On []string
	// Pulls is true when the rule may decide on pull requests.
	Pulls bool
	// Scans lists the queries with which scheduled runs find the issues of the rule.
	Scans []string
	// Actions lists the types of the rule's actions, each once and in order. It includes "escalate"
	// and other types that only rules have.
	Actions []string
	// Labels lists the labels that the rule adds by name. Computed is true when the rule also adds
	// labels that an expression yields.
	Labels   []string
	Computed bool
}

// Events returns the names that "on" takes: events with each of their activities, and "*" for
// all of them.
func Events() []string { return events.Keys() }

// Infos describes every rule of a set, which may be nil, in order.
//
// Infos is a function and not a method, so that the linker can drop it from programs that do not use
// it.
func Infos(s *Set) []Info {
	list := make([]Info, 0, s.Len())
	for _, r := range s.compiled().all() {
		i := Info{ID: r.id, File: r.file.Name(), Line: r.node.Line, On: slices.Clone(r.on), Pulls: r.takesPulls()}
		for _, s := range r.scans {
			i.Scans = append(i.Scans, s.query)
		}
		for _, a := range r.actions {
			if !slices.Contains(i.Actions, a.Name()) {
				i.Actions = append(i.Actions, a.Name())
			}
			i.addLabels(a)
		}
		list = append(list, i)
	}
	return list
}

// addLabels notes the labels that an action adds.
func (i *Info) addLabels(a action.Action) {
	if !a.Spec().AddsLabels() {
		return
	}
	value, ok := a.MainLiteral()
	if !ok {
		return
	}
	var names []string
	switch v := value.(type) {
	case string:
		names = []string{v}
	case []string:
		names = v
	default:
		i.Computed = true
	}
	for _, name := range names {
		if !slices.Contains(i.Labels, name) {
			i.Labels = append(i.Labels, name)
		}
	}
}
