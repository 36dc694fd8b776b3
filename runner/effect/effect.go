// Package effect represents the changes of an issue as values. There is a fixed set of types. Each
// has its parameters, the names that it writes, a check whether the issue already has the change,
// and a method that applies the change to a state. The package does no I/O.
//
// [Parse] converts an action to an effect. Packages below runner have a switch over all effects:
// plan checks them against the policy and human overrides, and a host carries them out. A new
// action needs a type here and a case in each of these switches. The linter reports a missing case.
package effect

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/org/foreman-action/protocol"
)

// An Effect is one change to an issue, or to its record in the memory. Only the types of this
// package implement it.
//
//sumtype:decl
type Effect interface {
	action() string // its type in decisions
	values() []string
	holds(s State) bool
	change(s State)
}

// TypeOf returns the action type of an effect, such as [protocol.ActionAddLabels].
func TypeOf(e Effect) string { return e.action() }

// Values returns the names that an effect writes: labels, logins, a reason, a title. They never
// include the text of a comment.
func Values(e Effect) []string { return e.values() }

// Holds reports whether an issue already has the effect. It is always false for effects that a
// State does not contain: comments, reactions, and those that change only the memory's record.
func Holds(e Effect, s State) bool { return e.holds(s) }

// Change applies an effect to a state. All copies of the state see the change.
func Change(e Effect, s State) { e.change(s) }

// RecordOnly reports whether an effect changes only the memory's record of the issue, and not the
// issue.
func RecordOnly(e Effect) bool {
	switch e := e.(type) {
	case Close:
		return e.After > 0
	case NeverAgain, AllowAgain, KeepOpen:
		return true
	case AddLabels, RemoveLabels, Comment, MarkDuplicate, Reopen, Assign, Unassign, SetMilestone, SetType, Lock, Unlock, React:
	}
	return false
}

// AddLabels adds labels. Labels that the issue already has stay.
type AddLabels struct{ Names []string }

func (AddLabels) action() string       { return protocol.ActionAddLabels }
func (e AddLabels) values() []string   { return e.Names }
func (e AddLabels) holds(s State) bool { return len(s.labels.NotIn(e.Names)) == 0 }
func (e AddLabels) change(s State)     { s.labels.put(e.Names, true) }

// RemoveLabels removes labels; it is no error if the issue does not have them. An action removes
// one label, but a write may combine several actions.
type RemoveLabels struct {
	Names []string
	// Issue is the GraphQL id of the issue, and IDs are the GraphQL ids of the labels, in the order
	// of Names. A host needs them to remove several labels by one write.
	Issue string
	IDs   []string
}

func (RemoveLabels) action() string       { return protocol.ActionRemoveLabel }
func (e RemoveLabels) values() []string   { return e.Names }
func (e RemoveLabels) holds(s State) bool { return len(s.labels.In(e.Names)) == 0 }
func (e RemoveLabels) change(s State)     { s.labels.put(e.Names, false) }

// Comment posts a comment. If ID is set, it replaces that comment.
type Comment struct {
	Body string // neutralized
	Key  string // key of a sticky comment, of which there is one per key; empty: always a new comment
	Once string // key of a comment that is posted only once on the issue; empty: no such limit
	Nth  int    // number of earlier comments of the task with the same Key
	ID   int64  // id of the comment to replace; 0: post a new comment
}

func (e Comment) action() string {
	if e.Key != "" {
		return protocol.ActionUpdateComment
	}
	return protocol.ActionComment
}
func (e Comment) values() []string { return one(e.Once) }
func (Comment) holds(State) bool   { return false }
func (Comment) change(State)       {}

// Close closes the issue: now, or after the grace period After. If the issue is closed for another
// reason, the reason changes.
type Close struct {
	Reason string        // "completed", "not_planned" or empty for the host's default
	After  time.Duration // grace period; 0: now
	Veto   []string      // the vetoes of people that keep the issue open, such as protocol.VetoComment
}

func (Close) action() string       { return protocol.ActionCloseIssue }
func (e Close) values() []string   { return one(e.Reason) }
func (e Close) holds(s State) bool { return e.After <= 0 && s.closedFor(e.Reason) }
func (e Close) change(s State) {
	if e.After <= 0 && !e.holds(s) {
		s.close(cmp.Or(e.Reason, closedByDefault))
	}
}

// MarkDuplicate closes the issue as a duplicate of another issue of the same repository.
type MarkDuplicate struct{ Of int }

func (MarkDuplicate) action() string     { return protocol.ActionMarkDuplicate }
func (e MarkDuplicate) values() []string { return []string{strconv.Itoa(e.Of)} }
func (MarkDuplicate) holds(s State) bool { return s.closedFor(duplicate) }
func (MarkDuplicate) change(s State)     { s.close(duplicate) }

// duplicate is the state reason of an issue that was closed as a duplicate.
const duplicate = "duplicate"

// Reopen opens the issue again.
type Reopen struct{}

func (Reopen) action() string     { return protocol.ActionReopenIssue }
func (Reopen) values() []string   { return nil }
func (Reopen) holds(s State) bool { return s.open }
func (Reopen) change(s State)     { s.open, s.reason = true, "" }

// Assign adds assignees.
type Assign struct{ Logins []string }

func (Assign) action() string       { return protocol.ActionAssign }
func (e Assign) values() []string   { return e.Logins }
func (e Assign) holds(s State) bool { return len(s.assignees.NotIn(e.Logins)) == 0 }
func (e Assign) change(s State)     { s.assignees.put(e.Logins, true) }

// Unassign removes assignees.
type Unassign struct{ Logins []string }

func (Unassign) action() string       { return protocol.ActionUnassign }
func (e Unassign) values() []string   { return e.Logins }
func (e Unassign) holds(s State) bool { return len(s.assignees.In(e.Logins)) == 0 }
func (e Unassign) change(s State)     { s.assignees.put(e.Logins, false) }

// SetMilestone sets the open milestone with that title. An empty title removes the milestone.
type SetMilestone struct{ Title string }

func (e SetMilestone) action() string {
	if e.Title == "" {
		return protocol.ActionRemoveMilestone
	}
	return protocol.ActionSetMilestone
}
func (e SetMilestone) values() []string   { return one(e.Title) }
func (e SetMilestone) holds(s State) bool { return s.milestone == e.Title }
func (e SetMilestone) change(s State)     { s.milestone = e.Title }

// SetType sets the issue type with that name.
type SetType struct{ Name string }

func (SetType) action() string       { return protocol.ActionSetType }
func (e SetType) values() []string   { return one(e.Name) }
func (e SetType) holds(s State) bool { return strings.EqualFold(s.issueType, e.Name) }
func (e SetType) change(s State)     { s.issueType = e.Name }

// Lock locks the conversation; the reason may be empty.
type Lock struct{ Reason string }

func (Lock) action() string     { return protocol.ActionLock }
func (e Lock) values() []string { return one(e.Reason) }
func (Lock) holds(s State) bool { return s.locked }
func (Lock) change(s State)     { s.locked = true }

// Unlock unlocks the conversation.
type Unlock struct{}

func (Unlock) action() string     { return protocol.ActionUnlock }
func (Unlock) values() []string   { return nil }
func (Unlock) holds(s State) bool { return !s.locked }
func (Unlock) change(s State)     { s.locked = false }

// React adds a reaction to the issue or to one of its comments.
type React struct {
	Content string // such as "+1"
	Comment int64  // id of the comment; 0: the issue itself
}

func (React) action() string     { return protocol.ActionReact }
func (e React) values() []string { return one(e.Content) }
func (React) holds(State) bool   { return false }
func (React) change(State)       {}

// NeverAgain records labels that must never be added to the issue again.
type NeverAgain struct{ Labels []string }

func (NeverAgain) action() string     { return protocol.ActionNeverAgain }
func (e NeverAgain) values() []string { return e.Labels }
func (NeverAgain) holds(State) bool   { return false }
func (e NeverAgain) change(s State)   { s.never.put(e.Labels, true) }

// AllowAgain is the inverse of [NeverAgain].
type AllowAgain struct{ Label string }

func (AllowAgain) action() string     { return ActionAllowAgain }
func (e AllowAgain) values() []string { return one(e.Label) }
func (AllowAgain) holds(State) bool   { return false }
func (AllowAgain) change(State)       {}

// KeepOpen cancels the scheduled close of a rule; an empty id means the agent's.
type KeepOpen struct{ Rule string }

func (KeepOpen) action() string     { return ActionKeepOpen }
func (e KeepOpen) values() []string { return one(e.Rule) }
func (KeepOpen) holds(State) bool   { return false }
func (KeepOpen) change(State)       {}

// The actions that cancel deferred actions in the memory. Rules and agents cannot request them.
// They are created only to revert an earlier action.
const (
	ActionAllowAgain = "allow_again"
	ActionKeepOpen   = "keep_open"
)

func one(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}
