package runner

import (
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/triage"
)

// A Status says how a run ended.
type Status string

// The statuses.
const (
	StatusApplied   Status = "applied"   // at least one action was carried out, and none failed
	StatusPartial   Status = "partial"   // some actions were carried out before one failed
	StatusDryRun    Status = "dry_run"   // decided and planned; nothing was to be written
	StatusSkipped   Status = "skipped"   // nothing was to be done, or nothing of it was permitted
	StatusEscalated Status = "escalated" // a human must look; nothing was written
	StatusFailed    Status = "failed"    // nothing was carried out, and something failed
)

// A Report is everything that one run has to say.
type Report struct {
	Event    string // such as "issues.opened"
	Repo     string // "owner/name"
	Issue    int
	IssueURL string
	Title    string // of the issue; hostile

	TaskID    string
	Decision  protocol.DecisionType // empty: nothing was decided, because something failed
	Rationale string                // hostile when an agent decided
	By        string                // who decided: "rules", an agent's address, "command", or several
	Status    Status
	Reason    string // why nothing was decided or something failed; empty when all went well
	DryRun    bool

	Actions    []ActionReport
	Executed   int    // number of actions carried out
	CommentURL string // of the last comment posted; may be empty

	// Rules tells for each rule why it fired or not; nil when no rules were asked.
	Rules *rules.Result
	// AskedAs is the event that the rules were asked about last, when it is not Event: an
	// issue that is decided on anew counts as newly opened. Else it is empty.
	AskedAs string
	// Why tells of the rules part by part; nil unless Options.Explain asks for it and
	// there are at most 100 rules. What nothing had looked up is not looked up for it.
	Why []rules.RuleWhy
	// Scores are those of shadow mode; nil outside of it, and when there are none.
	Scores *memory.Scores
	// Warnings are things a maintainer should know that did not stop the run.
	Warnings []string
	// Missing lists permissions that the token turned out to lack.
	Missing []string

	settled bool // a closing that was due need not be looked at again
}

// An ActionReport is one action with its verdict and result.
type ActionReport struct {
	Index   int
	Action  protocol.ActionItem
	Source  string // as Source.String has it
	Verdict triage.Verdict
	Result  Result
	Reason  string
	URL     string

	rule   string   // of who asked for it, see Source.id; empty: an agent
	values []string // see StepResult
	noted  bool     // it writes nothing but what the memory keeps for later
}

// setActions takes over what became of a plan.
func (r *Report) setActions(plan Plan, out Outcome) {
	r.Actions = r.Actions[:0]
	for i, s := range plan.Steps {
		res := out.Results[i]
		a := ActionReport{
			Index: s.Index, Action: s.Action, Source: s.Source.String(),
			Verdict: s.Verdict, Result: res.Result, Reason: res.Reason, URL: res.URL,
			rule: s.Source.ID(), values: res.Values, noted: s.noted(),
		}
		// What a look-up found out after the plan was made is a verdict too.
		if a.Verdict == triage.Do && a.Result == ResultNone {
			a.Verdict = triage.Skip
		}
		if a.Result == ResultDone {
			if a.URL == "" {
				a.URL = r.IssueURL
			}
			if s.isComment() {
				r.CommentURL = res.URL
			}
		}
		r.Actions = append(r.Actions, a)
	}
	r.Executed = out.Executed()
}

// setStatus derives the status from the decision and the outcome.
func (r *Report) setStatus(out Outcome) {
	switch {
	case out.Err != nil && r.Executed > 0:
		r.Status = StatusPartial
	case out.Err != nil:
		r.Status = StatusFailed
	case out.Gone && r.Executed == 0:
		r.Status = StatusSkipped
	case r.Decision == protocol.Escalate:
		r.Status = StatusEscalated
	case r.Decision == protocol.Skip:
		r.Status = StatusSkipped
	case r.DryRun:
		r.Status = StatusDryRun
	case r.Executed == 0:
		r.Status = StatusSkipped
	default:
		r.Status = StatusApplied
	}
	switch {
	case out.Err != nil:
		r.Reason = out.Err.Error()
	case out.Gone:
		r.Reason = triage.ErrGone.Error()
	case r.Status == StatusSkipped && r.Decision.Writes():
		r.Reason = "no action was left to carry out"
	}
}
