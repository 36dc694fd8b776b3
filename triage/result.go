package triage

import (
	"strings"

	"github.com/org/foreman-action/protocol"
)

// A Verdict is the policy's answer to an action.
type Verdict string

// The verdicts.
const (
	Do     Verdict = "do"     // carry it out
	Skip   Verdict = "skip"   // nothing to do, or not permitted to anybody here; see the reason
	Refuse Verdict = "refuse" // forbidden by the policy or the protocol
)

// A State is the progress of an action. It is the one set of states of journals, reports and
// memory. Each uses a subset: a journal's entries are planned, trying, done, skipped or
// failed; a record's actions all but trying; reports print [State.Result].
type State string

// The states.
const (
	Planned State = "planned" // not tried yet; the last state in a dry run
	Trying  State = "trying"  // being tried; found by a later attempt: the outcome is unknown
	Done    State = "done"    // carried out, now or by an earlier attempt
	Noted   State = "noted"   // recorded in the memory for later; nothing was written
	Already State = "already" // it was so before; only old records have it
	Skipped State = "skipped" // not tried: nothing to do, or not permitted to anybody here
	Refused State = "refused" // not tried: forbidden by the policy or the protocol
	Failed  State = "failed"  // tried, and failed
	NotRun  State = "not_run" // never tried, because an action before it failed
)

// An ActionResult is one action of a decision, with its verdict and its result.
type ActionResult struct {
	Index   int // in the decision, from 0
	Action  protocol.ActionItem
	Source  Source
	Verdict Verdict
	State   State
	Reason  string   // why it was not carried out, or a warning; may be empty
	URL     string   // where the result can be seen; may be empty
	Values  []string // the names that were written: labels, logins, a reason, a title; never a comment's text
}

// A Source is the origin of an action. The zero value is an agent.
type Source struct {
	// Rule is the id of the rule, whose author is trusted with mentions and links. Empty:
	// an agent, all of whose text is untrusted.
	Rule string
	// Command is the name of the command in a person's comment, such as "undo". Empty:
	// none.
	Command string
	// OverrideHumans means that the rule may revert changes by people.
	OverrideHumans bool
	// Undo means that the action reverts an earlier one of the rule.
	Undo bool
}

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

// undoSuffix follows a rule's id in records where the rule reverts its action. Ids have no
// slash.
const undoSuffix = "/else_undo"

// ID returns the name of the source in records and journals: the rule's id, with
// "/else_undo" behind it for a revert; a slash and the command's name; or nothing for an
// agent.
func (s Source) ID() string {
	switch {
	case s.Command != "":
		return "/" + s.Command
	case s.Undo:
		return s.Rule + undoSuffix
	}
	return s.Rule
}

// ParseSource is the reverse of [Source.ID]; OverrideHumans is not part of an id.
func ParseSource(id string) Source {
	if name, ok := strings.CutPrefix(id, "/"); ok {
		return Source{Command: name}
	}
	rule, undo := strings.CutSuffix(id, undoSuffix)
	return Source{Rule: rule, Undo: undo}
}

// Result returns the word for the state in published reports: done, planned, none, failed or
// not_run.
func (s State) Result() string {
	switch s {
	case Done, Noted, Already:
		return "done"
	case Skipped, Refused:
		return "none"
	case Planned, Trying, Failed, NotRun:
	}
	return string(s)
}
