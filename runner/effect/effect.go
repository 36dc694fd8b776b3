// Package effect represents the changes of an issue as values, which a host carries out. There is a
// fixed set of types. Each has its parameters and the names that it writes. The package does no I/O.
//
// A new action begins with a row of protocol/actionspecs.go and a type here. The comment of package
// runner/internal/outcome lists the other places.
package effect

import "errors"

// An Effect is one change to an issue, or to its record in the memory. Only the types of this
// package implement it.
//
//sumtype:decl
type Effect interface {
	action() string // its type in decisions
	values() []string
}

// ErrUnknown means that there is no action of that type.
var ErrUnknown = errors.New("unknown action")

// The actions that cancel deferred actions in the memory. Rules and agents cannot request them.
// They are created only to revert an earlier action.
const (
	ActionAllowAgain = "allow_again"
	ActionKeepOpen   = "keep_open"
)

// TypeOf returns the action type of an effect, such as "add_labels".
func TypeOf(e Effect) string { return e.action() }

// Values returns the names that an effect writes: labels, logins, a reason, a title. They never
// include the text of a comment.
func Values(e Effect) []string { return e.values() }

// one returns a list of one name; an empty name is none.
func one(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}
