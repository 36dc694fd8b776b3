// Package facts contains the data that the conditions of rules can read from an event, and the
// look-ups that they can make.
//
// An embedder fills [Facts] and implements [Lookup]. Everything that a condition can
// reach is plain data without methods, pointers and maps.
package facts

import (
	"time"

	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/triage"
)

// Facts are the data of one event for rules. The fields are plain data without methods, because
// everything that can be reached from a condition can be used in it; secrets have no place
// here.
type Facts struct {
	Issue triage.Issue // at the time of the event
	Event triage.Event
	Actor triage.Actor // who caused the event
	Repo  triage.Repo
	// Pull contains the fields that only pull requests have. Nil: the event does not contain
	// them; they are looked up if Issue is a pull request.
	Pull *triage.PullRequest
	// Now is the time of the run. When it is zero, expressions that name now, or that
	// measure time, fail.
	Now time.Time
	// ByTimes lets conditions compare idle() and label_age() without the timeline where it cannot
	// matter: where the times at which the issue was opened and changed last decide.
	ByTimes bool `json:"-"`
	// Scans are the queries that the issue of a schedule event was found by: rules with
	// another "scan" do not listen. Nil: no search was made; every rule does whose "scan" is
	// for issues, or for pull requests, as Issue is.
	Scans []string
	// Lookup looks up the data that the event does not contain. When it is nil, expressions
	// that ask fail.
	Lookup Lookup `json:"-"`
	// May reports whether a label may be added or removed. Rules see the labels that earlier
	// rules planned, except those that the policy forbids. Nil: all may.
	May func(label string) bool `json:"-"`
	// Effect returns which labels an action of a rule will add or remove, of those that it
	// names: it knows more than May, and is asked instead, once for each action in the order
	// in which they are planned. Nil: May is asked.
	Effect func(rule string, a protocol.ActionItem) []string `json:"-"`
}
