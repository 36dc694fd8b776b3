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
	Line int // of the rule's id
	// On are the events that it listens to, as the file names them; those of a rule
	// without "on" too.
	On []string
	// Pulls is whether it may decide on pull requests.
	Pulls bool
	// Actions are the types of its actions, each once, in their order; "escalate" and
	// the others that only rules have among them.
	Actions []string
	// Labels are those that it adds and names in the file; Computed is whether it adds
	// others, which an expression yields.
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

// takesPulls reports whether the rule may decide on a pull request: one event of
// issue_comment is for both, and so is a condition that does not tell them apart.
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

// Without returns the set without the rule of that id; the same set when there is none.
func Without(s *Set, id string) *Set {
	if s == nil || !slices.ContainsFunc(s.rules, func(r *rule) bool { return r.id == id }) {
		return s
	}
	out := *s
	out.rules = slices.DeleteFunc(slices.Clone(s.rules), func(r *rule) bool { return r.id == id })
	return &out
}
