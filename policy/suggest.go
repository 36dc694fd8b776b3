package policy

import (
	"slices"
	"time"

	"github.com/org/foreman-action/protocol"
)

// An Automation is the level from which actions are carried out without a person's answer. The levels
// have the names of GitHub's automation levels for a repository.
// https://docs.github.com/en/copilot/how-tos/copilot-on-github/use-copilot-agents/manage-rationale-confidence-approvals
type Automation string

// The levels, the strictest first.
const (
	AutomationFullControl Automation = "full_control" // every action is proposed
	AutomationCautious    Automation = "cautious"     // actions of high confidence are carried out
	AutomationBalanced    Automation = "balanced"     // actions of high and medium confidence are carried out
	AutomationFull        Automation = "full"         // all actions but those of low confidence are carried out
)

// AutomationEarned is the value of [Section.Automation] that sets [Policy.Earned]. It is not a level: the
// level is then AutomationFull, or that of the other file.
const AutomationEarned Automation = "earned"

// Automations returns the levels, the strictest first.
func Automations() []Automation {
	return []Automation{AutomationFullControl, AutomationCautious, AutomationBalanced, AutomationFull}
}

// tighter reports whether the level a proposes actions that the level b carries out.
func (a Automation) tighter(b Automation) bool {
	return slices.Index(Automations(), a) < slices.Index(Automations(), b)
}

// Suggestions is where proposals are shown to people.
type Suggestions string

// The places.
const (
	SuggestionsAuto    Suggestions = "auto"    // GitHub's panel where the issue shows that it is on, else a comment
	SuggestionsGitHub  Suggestions = "github"  // GitHub's panel, which is on; a comment for what it cannot show
	SuggestionsComment Suggestions = "comment" // a comment
	SuggestionsOff     Suggestions = "off"     // nowhere: actions that would be proposed are skipped
)

// AllSuggestions returns the places.
func AllSuggestions() []Suggestions {
	return []Suggestions{SuggestionsAuto, SuggestionsGitHub, SuggestionsComment, SuggestionsOff}
}

// The bounds of SuggestionTTL, and its default.
const (
	MinSuggestionTTL     = 24 * time.Hour
	MaxSuggestionTTL     = 365 * 24 * time.Hour
	defaultSuggestionTTL = 30 * 24 * time.Hour
)

// ProposalTTL returns how long a proposal waits for an answer.
func (p Policy) ProposalTTL() time.Duration {
	if p.SuggestionTTL <= 0 {
		return defaultSuggestionTTL
	}
	return min(max(p.SuggestionTTL, MinSuggestionTTL), MaxSuggestionTTL)
}

// Levelled reports whether the policy names a level other than AutomationFull, or actions to approve, or
// demands that actions are earned.
// Other policies propose only actions that ask for it or have a low confidence.
func (p Policy) Levelled() bool {
	return p.Earned || p.Automation != "" && p.Automation != AutomationFull || len(p.Approve) > 0
}

// Proposes reports whether an action must be proposed to a person instead of being carried out.
// confidence is that of the action, or the one that its source has by default.
func (p Policy) Proposes(action string, confidence protocol.Confidence, suggest bool) bool {
	if suggest || p.approves(action) {
		return true
	}
	switch p.Automation {
	case AutomationFull, AutomationBalanced, "":
		return !confidence.AtLeast(protocol.ConfidenceMedium)
	case AutomationCautious:
		return !confidence.AtLeast(protocol.ConfidenceHigh)
	case AutomationFullControl, AutomationEarned: // the latter is not a level
	}
	return true
}

// approves reports whether the policy names an action type that is always proposed. The names of
// actions that share a limit are equivalent.
func (p Policy) approves(action string) bool {
	return slices.ContainsFunc(p.Approve, func(name string) bool { return limitName(name) == limitName(action) })
}

// limitName returns the name of the action whose limit applies to an action.
func limitName(action string) string {
	if spec, ok := protocol.SpecOf(action); ok {
		return spec.LimitName()
	}
	return action
}
