package rules

import (
	"slices"
	"strings"

	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/rules/internal/action"
	"github.com/org/foreman-action/rules/internal/events"
	"github.com/org/foreman-action/triage"
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
// Infos and [Without] are functions and not methods, so that the linker can drop them from programs
// that do not use them.
func Infos(s *Set) []Info {
	list := make([]Info, 0, s.Len())
	for _, r := range s.all() {
		i := Info{ID: r.id, File: r.file.Name(), Line: r.node.Line, On: slices.Clone(r.on), Pulls: r.takesPulls()}
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

// takesPulls reports whether the rule may decide on a pull request. Events of issue_comment occur
// on issues and on pull requests, so they count unless the condition excludes pull requests.
func (r *rule) takesPulls() bool {
	if r.when != nil && r.when.OnlyIssues() {
		return false
	}
	return slices.ContainsFunc(r.on, func(on string) bool {
		return strings.HasPrefix(on, triage.EventPullRequest+".") || strings.HasPrefix(on, triage.EventIssueComment+".")
	}) || slices.ContainsFunc(r.scans, func(s scan) bool { return triage.FindsPulls(s.query) })
}

// addLabels notes the labels that an action adds.
func (i *Info) addLabels(a action.Action) {
	if a.Name() != protocol.ActionAddLabel && a.Name() != protocol.ActionAddLabels {
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

// Without returns s without the rule of that id. It returns s itself when there is no such rule.
func Without(s *Set, id string) *Set {
	if s == nil || !slices.ContainsFunc(s.rules, func(r *rule) bool { return r.id == id }) {
		return s
	}
	out := *s
	out.rules = slices.DeleteFunc(slices.Clone(s.rules), func(r *rule) bool { return r.id == id })
	return &out
}
