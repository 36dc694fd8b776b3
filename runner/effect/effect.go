// Package effect contains the changes of an issue as values: a closed set of types, each with
// its parameters, the names that it writes, whether it holds already, and how it changes an
// issue. It does no I/O.
//
// [Parse] makes an effect of an action. The packages below runner each have a switch over all
// effects: plan checks them against the policy and human overrides, and a host carries them
// out. A new action is one more type here, and one more case in each of these switches; the
// compiler and the linter name those that lack it.
package effect

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/org/foreman-action/protocol"
)

// An Effect is one change to an issue, or to its record in the memory. The types of this
// package are all that there are.
//
//sumtype:decl
type Effect interface {
	action() string // its type in decisions
	values() []string
	holds(s State) bool
	change(s State)
}

// TypeOf returns the type of the action that asks for an effect, such as
// [protocol.ActionAddLabels].
func TypeOf(e Effect) string { return e.action() }

// Values returns the names that an effect writes: labels, logins, a reason, a title. Never
// the text of a comment.
func Values(e Effect) []string { return e.values() }

// Holds reports whether an issue is already as the effect would leave it. It is always false
// for effects that a state does not show: comments, reactions, and those that only change the
// memory's record.
func Holds(e Effect, s State) bool { return e.holds(s) }

// Change applies an effect to a state, for every other holder of the state too.
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

// AddLabels adds labels; those already there stay.
type AddLabels struct{ Names []string }

func (AddLabels) action() string       { return protocol.ActionAddLabels }
func (e AddLabels) values() []string   { return e.Names }
func (e AddLabels) holds(s State) bool { return len(s.labels.NotIn(e.Names)) == 0 }
func (e AddLabels) change(s State)     { s.labels.put(e.Names, true) }

// RemoveLabels removes labels; that the issue does not have them is fine. An action removes one,
// and one write may remove those of several actions.
type RemoveLabels struct {
	Names []string
	// Issue is the issue's id in GraphQL and IDs are those of the labels, in the order of Names.
	// A host needs them to remove several labels by one write.
	Issue string
	IDs   []string
}

func (RemoveLabels) action() string       { return protocol.ActionRemoveLabel }
func (e RemoveLabels) values() []string   { return e.Names }
func (e RemoveLabels) holds(s State) bool { return len(s.labels.In(e.Names)) == 0 }
func (e RemoveLabels) change(s State)     { s.labels.put(e.Names, false) }

// Comment posts a comment, or with an ID replaces one.
type Comment struct {
	Body string // neutralized
	Key  string // of a comment that is kept up to date, one for each key; empty: always a new one
	Once string // key under which it is posted once on the issue; empty: any number of times
	Nth  int    // number of comments with the same Key that the task posts before this one
	ID   int64  // of the comment to replace; 0: a new one
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

// Close closes the issue, or with After has it closed later. An issue that is closed for
// another reason gets this one.
type Close struct {
	Reason string        // "completed", "not_planned" or empty for the host's default
	After  time.Duration // grace period; 0: now
	Veto   []string      // the reactions of people that keep the issue open, see protocol.VetoComment
}

func (Close) action() string       { return protocol.ActionCloseIssue }
func (e Close) values() []string   { return one(e.Reason) }
func (e Close) holds(s State) bool { return e.After <= 0 && s.closedFor(e.Reason) }
func (e Close) change(s State) {
	if e.After <= 0 && !e.holds(s) {
		s.close(cmp.Or(e.Reason, closedByDefault))
	}
}

// MarkDuplicate closes the issue as a duplicate of another one of the same repository.
type MarkDuplicate struct{ Of int }

func (MarkDuplicate) action() string     { return protocol.ActionMarkDuplicate }
func (e MarkDuplicate) values() []string { return []string{strconv.Itoa(e.Of)} }
func (MarkDuplicate) holds(s State) bool { return s.closedFor(duplicate) }
func (MarkDuplicate) change(s State)     { s.close(duplicate) }

// duplicate is the reason of an issue that is closed as a duplicate.
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

// SetMilestone sets the open milestone with that title, or with an empty one removes the
// milestone.
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

// React adds a reaction to the issue, or to a comment of it.
type React struct {
	Content string // such as "+1"
	Comment int64  // id; 0: the issue itself
}

func (React) action() string     { return protocol.ActionReact }
func (e React) values() []string { return one(e.Content) }
func (React) holds(State) bool   { return false }
func (React) change(State)       {}

// NeverAgain records labels that are never to be added to the issue again.
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

// KeepOpen cancels the scheduled close that a rule, or with an empty id an agent, asked for.
type KeepOpen struct{ Rule string }

func (KeepOpen) action() string     { return ActionKeepOpen }
func (e KeepOpen) values() []string { return one(e.Rule) }
func (KeepOpen) holds(State) bool   { return false }
func (KeepOpen) change(State)       {}

// The actions that cancel deferred actions in the memory. Neither rules nor agents can name
// them: they come of reverting an earlier action.
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
