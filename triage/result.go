package triage

import (
	"strings"

	"github.com/org/foreman-action/protocol"
)

// A Verdict is the result of checking an action against the policy.
type Verdict string

// The verdicts.
const (
	Do      Verdict = "do"      // to be carried out
	Suggest Verdict = "suggest" // to be proposed to a person, who decides
	Skip    Verdict = "skip"    // nothing to do, or no source may do it here; Reason explains which
	Refuse  Verdict = "refuse"  // forbidden by the policy or the protocol
)

// A State is the progress of an action. Journals, reports and the memory share these states, but
// each uses only some of them. Entries of a journal are planned, trying, done, skipped or failed.
// Actions in a record have every state but trying. Reports print [State.Result].
type State string

// The states.
const (
	Planned State = "planned" // not tried yet; the last state in a dry run
	Trying  State = "trying"  // being tried; if a later attempt finds this state, the outcome is unknown
	Done    State = "done"    // carried out, now or by an earlier attempt
	Noted   State = "noted"   // recorded in the memory as a deferred action; nothing was written to the issue
	Already State = "already" // the issue was already in that state; only old records contain this state
	Skipped State = "skipped" // not tried: nothing to do, or no source may do it here
	Refused State = "refused" // forbidden by the policy or the protocol; with the verdict do: the host refused it for good
	Failed  State = "failed"  // tried, and failed
	Unknown State = "unknown" // tried, and the run ended before the outcome was known; a later attempt looks it up first
	NotRun  State = "not_run" // never tried, because an action before it failed
	// Suggested means that the action is proposed to a person and waits for an answer.
	Suggested State = "suggested"
)

// An ActionResult is one action of a decision, with its verdict and its result. Its JSON is the one
// that reports contain; see [ActionResult.MarshalJSON].
type ActionResult struct {
	Index  int // position in the decision, from 0
	Action protocol.ActionItem
	Source Source
	// Pair is the source of the action's track record, as in memory.Action; empty: none. No report
	// contains it.
	Pair    string
	Verdict Verdict
	State   State
	Reason  string // why it was not carried out, or a warning; may be empty
	URL     string // web page of the result, such as the comment; may be empty
	// Values are the names that were written: labels, logins, a reason, a title. The text of a
	// comment is never included.
	Values []string

	// Confidence is how sure the source is, and Rationale why it requests the action, neutralized.
	// Both are empty if they play no part: the source did not state them, and the action is neither
	// proposed nor compared with the policy's level.
	Confidence protocol.Confidence
	Rationale  string
	// Proposal is the number of the action's proposal on the issue; 0: none. Carrier is where people
	// answer the proposal.
	Proposal int
	Carrier  Carrier
	// AcceptedBy is the login of the person who accepted the proposal of the action; empty: nobody.
	AcceptedBy string
}

// A Carrier is where a proposal is shown to people, who answer it there.
type Carrier string

// The carriers.
const (
	CarrierGitHub  Carrier = "github"  // GitHub's panel of suggestions on the issue page
	CarrierComment Carrier = "comment" // our comment with check boxes
)

// A Source is the origin of an action. The zero value is an agent.
type Source struct {
	// Rule is the id of the rule. Mentions and links by its author are trusted. Empty means an
	// agent or a command; all text of an agent is untrusted.
	Rule string
	// Command is the name of the command in a person's comment, such as "undo". Empty: not a
	// command.
	Command string
	// OverrideHumans means that the rule may revert changes by people.
	OverrideHumans bool
	// Together means that all actions of the rule are carried out, or none.
	Together bool
	// Undo means that the action reverts an earlier action of the rule.
	Undo bool
	// Digest identifies what the rule decides on and what it does then, as rules.Result has it; empty:
	// unknown, or not a rule. A rule that was removed since has its digest and no name. Neither a report nor [ParseSource] contains it.
	Digest string
}

// RefusedByHost reports whether the host refused the action for good. The policy had permitted it.
func (r ActionResult) RefusedByHost() bool { return r.State == Refused && r.Verdict == Do }

// IsAgent reports whether the source is neither a rule nor a person's command.
func (s Source) IsAgent() bool { return s.Rule == "" && s.Command == "" }

// String returns "rule <id>", "rule <id> (else_undo)", "command <name>" or "agent".
func (s Source) String() string {
	switch {
	case s.Command != "":
		return "command " + s.Command
	case s.Undo:
		return "rule " + s.Rule + " (else_undo)"
	case s.Rule != "":
		return "rule " + s.Rule
	}
	return "agent"
}

// undoSuffix follows the rule's id in records if the action reverts an earlier one of the rule. Ids
// of rules contain no slash, so the suffix is unambiguous.
const undoSuffix = "/else_undo"

// ID returns the name of the source in records and journals: the id of a rule, "/" and the name of
// a command, or "" for an agent. "/else_undo" follows the id of a rule that reverts its action.
func (s Source) ID() string {
	switch {
	case s.Command != "":
		return "/" + s.Command
	case s.Undo:
		return s.Rule + undoSuffix
	}
	return s.Rule
}

// ParseSource is the inverse of [Source.ID]. It cannot restore OverrideHumans, which an id does not
// contain.
func ParseSource(id string) Source {
	if name, ok := strings.CutPrefix(id, "/"); ok {
		return Source{Command: name}
	}
	rule, undo := strings.CutSuffix(id, undoSuffix)
	return Source{Rule: rule, Undo: undo}
}

// parseSourceText is the inverse of [Source.String]. It cannot restore OverrideHumans and Together.
// Any other text is an agent.
func parseSourceText(s string) Source {
	if name, ok := strings.CutPrefix(s, "command "); ok {
		return Source{Command: name}
	}
	rule, ok := strings.CutPrefix(s, "rule ")
	if !ok {
		return Source{}
	}
	rule, undo := strings.CutSuffix(rule, " (else_undo)")
	return Source{Rule: rule, Undo: undo}
}

// Result returns the name of the state in published reports: done, planned, suggested, none, failed or
// not_run. [Unknown] is reported as failed, because a person has to look or to run the job again.
// Only journals contain [Trying], so no report contains "trying". Any other state, such as one of a
// newer version, is its own name.
func (s State) Result() string {
	switch s {
	case Done, Noted, Already:
		return "done"
	case Skipped, Refused:
		return "none"
	case Unknown:
		return "failed"
	case Planned, Trying, Failed, NotRun, Suggested:
	}
	return string(s)
}
