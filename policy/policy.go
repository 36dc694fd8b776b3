// Package policy limits the actions on an issue, for decisions of rules and of agents. It contains
// the policy as data, and checks actions against it. It does no I/O.
package policy

import (
	"maps"
	"slices"
	"time"

	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/triage"
)

// A Policy contains the executor's limits for the decisions of rules and agents. An agent cannot
// change it. The zero value is safe: it permits existing labels and a few actions per event, and
// forbids closing.
type Policy struct {
	// AllowClose permits close_issue and mark_duplicate.
	AllowClose bool
	// Actions are the permitted action types; nil permits every type of [protocol.ActionSpecs]. An
	// action of the program's own is permitted only if Actions names it.
	Actions []string
	// AgentMay are the action types that an agent may request, as far as Actions permits them. Nil
	// permits every type except never_again, because that action also binds the rules.
	AgentMay []string
	// Limits are the maximum numbers of actions per event, by action type. A missing type has its
	// default; 0 forbids the type. Each label counts as one add_label, also in add_labels, which
	// has no limit of its own. Each assignee counts as one, too.
	Limits map[string]int
	// Labels limit which labels may be added or removed.
	Labels Labels
	// CreateLabels permits adding a label that the repository does not have.
	CreateLabels bool
	// RejectUnknown refuses the whole plan before the first write if it contains an unknown action
	// type. Otherwise the actions before the unknown one are carried out.
	RejectUnknown bool
	// CommentLength is the maximum length of a comment in characters; 0 means MaxCommentLength.
	CommentLength int
	// Mentions are globs of the logins and teams that an agent may mention. All other mentions are
	// made inert.
	Mentions []string
	// Links are globs of the hosts that an agent may link to; nil permits all hosts.
	Links []string

	// CommentInterval is the minimum time between two events on one issue that are answered with a
	// comment. Sticky comments do not count, and the comments of one decision count as one. 0 means
	// 24 hours, negative: no limit.
	CommentInterval time.Duration
	// MaxComments is the maximum number of our comments on one issue, not counting sticky ones. 0
	// means 30, negative: no limit.
	MaxComments int
	// MaxScanned is the maximum number of issues that a scheduled run decides on, from 1 to 1,000.
	// 0 means 100.
	MaxScanned int
	// MaxWrites is the maximum number of changes to one issue within an hour, by all tasks
	// together. The changes are counted in the timeline: each label is one, and changes by
	// other programs under our login count. Reactions and edits of comments do not count, because
	// the timeline does not list them. 0 means 30, negative: no limit.
	MaxWrites int
	// ShadowPeriod is how long people have to take an action that shadow mode planned; see
	// [Policy.ShadowTime]. 0 means 14 days.
	ShadowPeriod time.Duration

	// JudgeAfter is how long after an action its outcome is judged; see [Policy.JudgeTime]. 0 means
	// ShadowPeriod, and its default.
	JudgeAfter time.Duration
	// JudgeReads is the maximum number of calls of GitHub that a scheduled run makes to judge outcomes. 0
	// means 200.
	JudgeReads int

	// Earned means that an action is carried out only if its source has earned it by its track record,
	// and also by the level of Automation. All other actions are proposed. Earn has the conditions.
	Earned bool
	Earn   Earn
	// Automation is the level from which actions are carried out without a person's answer. Empty
	// means AutomationFull.
	Automation Automation
	// Approve are the action types that are always proposed to a person first.
	Approve []string
	// Suggestions is where proposals are shown. Empty means SuggestionsAuto.
	Suggestions Suggestions
	// SuggestionTTL is how long a proposal waits for an answer. 0 means 30 days.
	SuggestionTTL time.Duration
}

// Scanned returns the maximum number of issues that a scheduled run decides on.
func (p Policy) Scanned() int { return orDefault(p.MaxScanned, defaultMaxScanned) }

// orDefault returns the effective limit: the default for 0, and 0 (no limit) for a negative number.
func orDefault[N int | time.Duration](n, otherwise N) N {
	switch {
	case n == 0:
		return otherwise
	case n < 0:
		return 0
	}
	return n
}

// The defaults of the limits that stop endless loops of events and answers.
const (
	defaultCommentInterval = 24 * time.Hour
	defaultMaxComments     = 30
	defaultMaxWrites       = 30
)

// defaultShadowPeriod is how long people have to take an action that shadow mode planned.
const defaultShadowPeriod = 14 * 24 * time.Hour

// The maximum numbers of issues that a scheduled run decides on.
const (
	defaultMaxScanned = 100
	// MaxScannable is the highest permitted maximum. GitHub's search returns at most that many
	// issues for a query.
	MaxScannable = 1000
)

// EffectiveLimits returns the limit of every action type that has one of its own.
func (p Policy) EffectiveLimits() map[string]int {
	limits := map[string]int{}
	for _, spec := range protocol.ActionSpecs() {
		if spec.CountsAs == "" {
			limits[spec.Name] = spec.Limit
		}
	}
	maps.Copy(limits, p.Limits)
	return limits
}

// Forbids returns the reason why a source may not request actions of that type, or "" if it may.
func (p Policy) Forbids(action string, s triage.Source) string {
	_, known := protocol.SpecOf(action)
	switch {
	case (p.Actions != nil || !known) && !slices.Contains(p.Actions, action):
		return "policy.actions does not list " + action
	case s.IsAgent() && (p.AgentMay != nil || action == protocol.ActionNeverAgain) && !slices.Contains(p.AgentMay, action):
		return "agent.may does not list " + action
	}
	return ""
}

// RefusesLabel returns the reason why a label may not be added or removed, or "" if it may.
func (p Policy) RefusesLabel(name string) string { return p.Labels.Refuses(name) }

// MayLabel reports whether a label may be added or removed.
func (p Policy) MayLabel(name string) bool { return p.Labels.Refuses(name) == "" }
