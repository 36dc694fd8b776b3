package outcome

import (
	"slices"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/triage"
)

// A State is the part of an issue that effects can change. It is a reference: copies share their
// data. It must be used by one goroutine only.
type State struct{ *state }

type state struct {
	labels    Names
	never     Names // labels that must never be added again
	assignees Names
	open      bool
	reason    string // why the issue is closed; always empty for a pull request
	pull      bool
	locked    bool
	milestone string
	issueType string
}

// StateOf returns the current state of an issue.
func StateOf(i triage.Issue) State {
	reason := i.StateReason
	switch {
	case i.PullRequest:
		reason = ""
	case reason == "" && i.State == "closed":
		reason = closedByDefault
	}
	return State{&state{
		labels: NamesOf(i.Labels), never: Names{}, assignees: NamesOf(i.Assignees),
		open: i.State != "closed", reason: reason, pull: i.PullRequest, locked: i.Locked, milestone: i.Milestone, issueType: i.Type,
	}}
}

// Never returns the labels that the applied effects forbid to add.
func (s State) Never() Names { return s.never }

// Labels returns the labels of the issue.
func (s State) Labels() Names { return s.labels }

// Assignees returns the logins of the issue's assignees.
func (s State) Assignees() Names { return s.assignees }

// Open reports whether the issue is open.
func (s State) Open() bool { return s.open }

// close closes the issue for a reason.
func (s State) close(reason string) {
	s.open, s.reason = false, reason
}

// closedFor reports whether the issue is closed for a reason. An empty reason matches any. Pull
// requests have no reason, so every reason matches.
func (s State) closedFor(reason string) bool {
	return !s.open && (s.pull || reason == "" || s.reason == reason)
}

// Reason returns why the issue is closed: "completed", "not_planned" or "duplicate".
func (s State) Reason() string { return s.reason }

// closedByDefault is the reason if an issue is closed without one.
const closedByDefault = "completed"

// Milestone returns the title of the issue's milestone; empty: none.
func (s State) Milestone() string { return s.milestone }

// Names is a set of names, which ignores case. The zero value is empty.
type Names map[string]bool

// NamesOf returns the set of the names in a list.
func NamesOf(list []string) Names {
	n := make(Names, len(list))
	n.put(list, true)
	return n
}

func (n Names) put(list []string, there bool) {
	for _, s := range list {
		n[text.Fold(s)] = there
	}
}

// Has reports whether a name is in the set.
func (n Names) Has(name string) bool { return n[text.Fold(name)] }

// In returns the names of a list that are in the set, in order.
func (n Names) In(list []string) []string { return n.pick(list, true) }

// NotIn returns the names of a list that are not in the set, in order.
func (n Names) NotIn(list []string) []string { return n.pick(list, false) }

func (n Names) pick(list []string, there bool) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return n.Has(s) != there })
}
