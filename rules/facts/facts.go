// Package facts contains the data that the conditions of rules can read from an event, and the
// look-ups that they can make.
//
// An embedder fills [Facts] and implements [Lookup]. Everything that a condition can
// reach is plain data without methods, pointers and maps.
package facts

import (
	"context"
	"time"

	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/triage"
)

// Of returns the facts of an event at the given time, without look-ups: set Lookup for rules that need
// them. If the event does not contain its issue, Issue is zero.
func Of(d triage.Delivery, now time.Time) Facts {
	f := Facts{
		Now: now, Event: d.Event, Repo: d.Repo, Scans: d.Scans, Pull: d.Pull,
		Actor: d.Sender,
	}
	f.Event.Name = d.RuleName()
	if d.HasComment() && d.Comment.Author == d.Sender.Login {
		f.Actor.Association = d.Comment.Association
	}
	if d.Issue == nil {
		return f
	}
	f.Issue = *d.Issue
	if d.Issue.Author == d.Sender.Login && d.Sender.Login != "" {
		f.Actor.Association = d.Issue.Association
	}
	return f
}

// Facts are the data of one event for rules. The fields are plain data without methods, because a
// condition can use everything that it can reach. They must not contain secrets.
type Facts struct {
	Issue triage.Issue // at the time of the event, or newer if it was read again since
	Event triage.Event
	Actor triage.Actor // who caused the event
	Repo  triage.Repo
	// Pull contains the fields that only pull requests have. Nil: the event does not contain
	// them; they are looked up if Issue is a pull request.
	Pull *triage.PullRequest
	// FalseBefore are the ids of rules whose condition was false for the issue at the time of the
	// event. They do not fire, even if the condition is true for Issue, which was read again since:
	// another event made it true.
	FalseBefore []string
	// Now is the time of the run. When it is zero, expressions fail that use now or measure time.
	Now time.Time
	// ByTimes lets conditions compare idle() and label_age() without reading the timeline if the
	// times at which the issue was opened and last changed decide the comparison. For example, an
	// issue opened yesterday cannot have been idle for 60 days.
	ByTimes bool `json:"-"`
	// Scans are the queries that found the issue of a schedule event; rules with another "scan" do
	// not listen. Nil: no search was made, and a rule listens if its "scan" is for the kind of
	// Issue, an issue or a pull request.
	Scans []string
	// Lookup looks up the data that the event does not contain. When it is nil, expressions that
	// need such data fail.
	Lookup Lookup `json:"-"`
	// Results replace the functions of rules.CompileOptions in tests: the results, by the names of the
	// functions. With a map that is not nil no function is called, and one without a result fails.
	Results map[string]any `json:"-"`
	// May reports whether a label may be added or removed. Rules see the labels that earlier rules
	// planned, except those that the policy forbids. Nil: every label may.
	May func(label string) bool `json:"-"`
	// Effect returns which labels each planned action will add or remove, out of those that the action
	// names. It is more precise than May and replaces it.
	// It is called after a label action was added to the planned ones, which may lack further actions
	// of the same rule. Actions of a rule that failed are not among them later. Nil: May is called.
	Effect func(ctx context.Context, planned []Planned) [][]string `json:"-"`
}

// A Planned is an action that rules have planned so far.
type Planned struct {
	Rule   string // the id of its rule
	Digest string // as in rules.Result
	Action protocol.ActionItem
}
