// Package policy limits the actions on an issue, whoever decides: it contains the policy as
// data, and checks actions against it. It does no I/O.
package policy

import (
	"maps"
	"slices"
	"time"

	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/triage"
)

// A Policy contains the limits of the executor for the decisions of rules and agents. It is
// never the agent's to change. The zero value is the safe one: labels that exist, a few actions
// per event, no closing.
type Policy struct {
	// AllowClose permits close_issue and mark_duplicate.
	AllowClose bool
	// Actions are the permitted types; nil permits every known one.
	Actions []string
	// AgentMay are the types that an agent may ask for, of those that are permitted;
	// nil: every one but never_again, which binds the rules too.
	AgentMay []string
	// Limits are the most of each type per event; a type that is not named has its
	// default, 0 forbids it. Labels count one by one under add_label, those of
	// add_labels too; add_labels has no limit of its own. People count one by one as well.
	Limits map[string]int
	// Labels limit which labels may be added or removed.
	Labels Labels
	// CreateLabels lets a label be added that the repository does not have.
	CreateLabels bool
	// RejectUnknown refuses the whole plan for an unknown action type, before the first write;
	// otherwise the actions before it are carried out.
	RejectUnknown bool
	// CommentLength is the most characters of a comment; 0 means MaxCommentLength.
	CommentLength int
	// Mentions are globs of the logins and teams that an agent may mention; all
	// others are broken.
	Mentions []string
	// Links are globs of the hosts that an agent may link to; nil permits all.
	Links []string

	// CommentInterval is the least time between two events that are answered with a
	// comment on one issue; sticky comments do not count, and the comments of one
	// decision count once. 0 means DefaultCommentInterval, negative: no limit.
	CommentInterval time.Duration
	// MaxComments is how many comments of ours on one issue are enough, sticky ones
	// apart: then no decision adds one. 0 means DefaultMaxComments, negative: no limit.
	MaxComments int
	// MaxScanned is how many issues a scheduled run decides on at most, 1 to 1,000. 0 means
	// DefaultMaxScanned.
	MaxScanned int
	// MaxWrites is the most changes to one issue within an hour, whichever task made
	// them, as its timeline shows them under our login: each label is one, and what other
	// programs do under that login counts; reactions and the rewriting of a comment leave
	// no trace there. 0 means DefaultMaxWrites, negative: no limit.
	MaxWrites int
	// ShadowPeriod is how long people have to take an action that shadow mode predicted; 0
	// means DefaultShadowPeriod.
	ShadowPeriod time.Duration
}

// Scanned returns the most issues that a scheduled run decides on.
func (p Policy) Scanned() int { return orDefault(p.MaxScanned, DefaultMaxScanned) }

// Grace returns how long people have to take an action that shadow mode predicted.
func (p Policy) Grace() time.Duration {
	if p.ShadowPeriod <= 0 {
		return DefaultShadowPeriod
	}
	return p.ShadowPeriod
}

// orDefault returns a limit: 0 for none at all.
func orDefault[N int | time.Duration](n, otherwise N) N {
	switch {
	case n == 0:
		return otherwise
	case n < 0:
		return 0
	}
	return n
}

// The defaults of the limits against loops.
const (
	DefaultCommentInterval = 24 * time.Hour
	DefaultMaxComments     = 30
	DefaultMaxWrites       = 30
)

// DefaultShadowPeriod is how long people have to take an action that a rule predicted in shadow
// mode, before the two are compared.
const DefaultShadowPeriod = 14 * 24 * time.Hour

// How many issues a scheduled run decides on.
const (
	DefaultMaxScanned = 100
	// MaxScannable is the most issues that GitHub's search returns for a query.
	MaxScannable = 1000
)

// defaultLimits are the limits of the types that a policy does not name.
func defaultLimits() map[string]int {
	return map[string]int{
		protocol.ActionAddLabel:        5,
		protocol.ActionComment:         1,
		protocol.ActionCloseIssue:      1,
		protocol.ActionRemoveLabel:     5,
		protocol.ActionReopenIssue:     1,
		protocol.ActionAssign:          10, // people, as many as GitHub takes
		protocol.ActionUnassign:        10,
		protocol.ActionSetMilestone:    1,
		protocol.ActionRemoveMilestone: 1,
		protocol.ActionSetType:         1,
		protocol.ActionLock:            1,
		protocol.ActionUnlock:          1,
		protocol.ActionReact:           1,
		protocol.ActionUpdateComment:   1,
		protocol.ActionMarkDuplicate:   1,
		protocol.ActionNeverAgain:      5,
	}
}

// EffectiveLimits returns the limit of every type.
func (p Policy) EffectiveLimits() map[string]int {
	limits := defaultLimits()
	maps.Copy(limits, p.Limits)
	return limits
}

// Forbids returns why actions of the type are not permitted to a source, or is empty.
func (p Policy) Forbids(action string, s triage.Source) string {
	switch {
	case p.Actions != nil && !slices.Contains(p.Actions, action):
		return "policy.actions does not list " + action
	case s.IsAgent() && (p.AgentMay != nil || action == protocol.ActionNeverAgain) && !slices.Contains(p.AgentMay, action):
		return "agent.may does not list " + action
	}
	return ""
}

// MayLabel reports whether a label may be added or removed.
func (p Policy) MayLabel(name string) bool { return p.Labels.Refuses(name) == "" }
