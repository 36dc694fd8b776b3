package runner

import (
	"errors"
	"fmt"
	"slices"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/runner/internal/execute"
	"github.com/org/foreman-action/triage"
)

// A Status is how a run ended.
type Status string

// The statuses.
const (
	StatusApplied   Status = "applied"   // at least one action was carried out, and none failed
	StatusPartial   Status = "partial"   // some actions were carried out before one failed
	StatusDryRun    Status = "dry_run"   // decided and planned; nothing was to be written
	StatusSkipped   Status = "skipped"   // there was no action, or none was permitted
	StatusEscalated Status = "escalated" // a human must look; nothing was written
	StatusFailed    Status = "failed"    // nothing was carried out, and something failed
)

// A Report is the result of one run.
type Report struct {
	Event    string // such as "issues.opened"
	Repo     string // "owner/name"
	Issue    int
	IssueURL string
	Title    string // of the issue; untrusted

	TaskID    string
	Decision  protocol.DecisionType // empty: nothing was decided, because something failed
	Rationale string                // untrusted when an agent decided
	By        string                // who decided: "rules", an agent's address, "command", or several
	Status    Status
	Reason    string // why nothing was decided or something failed; empty when all went well
	DryRun    bool

	Actions    []triage.ActionResult
	Executed   int    // number of actions carried out
	CommentURL string // of the last comment posted; may be empty

	// Rules has for each rule why it fired or not; nil when no rules were asked.
	Rules *rules.Result
	// AskedAs is the event that the rules were asked about last, when it is not Event: an issue
	// that is decided on again counts as newly opened. Else it is empty.
	AskedAs string
	// Why explains the rules part by part; nil unless Options.Explain asks for it and
	// there are at most 100 rules. Nothing is looked up for it alone.
	Why []rules.RuleWhy
	// Scores are the scores of shadow mode; nil outside of it, and when there are none.
	Scores *memory.Scores
	// Warnings are things a maintainer should know that did not stop the run.
	Warnings []string
	// Missing lists permissions that the token turned out to lack.
	Missing []string
}

// newReport begins the report on an event.
func newReport(r setup, d triage.Delivery) Report {
	return Report{
		Event: d.Key(), Repo: d.FullRepo(), Issue: d.Number,
		TaskID: r.o.Task.ID, DryRun: r.dry, Decision: protocol.Skip,
	}
}

// setDecision copies a decision into the report.
func (rep *Report) setDecision(dec decided) {
	m := dec.Message
	rep.Decision, rep.Rationale, rep.By = m.Decision, m.Rationale, dec.By
	rep.Rules, rep.Why, rep.AskedAs = dec.Rules, dec.Why, dec.AskedAs
}

func (rep *Report) skip(why string) {
	rep.Status, rep.Reason, rep.Rationale = StatusSkipped, why, why
}

// fail marks the run as failed, and gives the error as the rationale if there is no decision.
func (rep *Report) fail(err error) {
	rep.Status, rep.Reason = StatusFailed, err.Error()
	if rep.By == "" {
		rep.Decision, rep.Rationale = "", rep.Reason
	}
	rep.notePermission(err)
}

func (rep *Report) warnf(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if slices.Contains(rep.Warnings, text) {
		return
	}
	rep.Warnings = append(rep.Warnings, text)
}

func (rep *Report) notePermission(err error) {
	if p, ok := errors.AsType[*triage.PermissionError](err); ok {
		rep.Missing = append(rep.Missing, p.Need)
	}
}

// setOutcome copies the results of a plan into the report.
func (rep *Report) setOutcome(out execute.Outcome) {
	rep.Actions = out.Results
	for i := range rep.Actions {
		a := &rep.Actions[i]
		if a.State != triage.Done && a.State != triage.Noted {
			continue
		}
		if _, comments := out.Steps[i].Comment(); comments {
			rep.CommentURL = a.URL
		}
		if a.URL == "" {
			a.URL = rep.IssueURL
		}
	}
	rep.Executed = out.Executed()
	rep.setStatus(out.Err, out.Gone)
	rep.notePermission(out.Err)
}

// setStatus derives the status from the decision and the outcome.
func (rep *Report) setStatus(err error, gone bool) {
	switch {
	case err != nil && rep.Executed > 0:
		rep.Status = StatusPartial
	case err != nil:
		rep.Status = StatusFailed
	case gone && rep.Executed == 0:
		rep.Status = StatusSkipped
	case rep.Decision == protocol.Escalate:
		rep.Status = StatusEscalated
	case rep.Decision == protocol.Skip:
		rep.Status = StatusSkipped
	case rep.DryRun:
		rep.Status = StatusDryRun
	case rep.Executed == 0:
		rep.Status = StatusSkipped
	default:
		rep.Status = StatusApplied
	}
	switch {
	case err != nil:
		rep.Reason = err.Error()
	case gone:
		rep.Reason = triage.ErrGone.Error()
	case rep.Status == StatusSkipped && rep.Decision.Writes():
		rep.Reason = "no action was left to carry out"
	}
}

// recordFailed turns the report into that of a run that could not record its deferred actions.
func (rep *Report) recordFailed(err error) {
	for i := range rep.Actions {
		if a := &rep.Actions[i]; a.State == triage.Noted {
			a.State, a.Reason = triage.Failed, err.Error()
			rep.Executed--
		}
	}
	rep.setStatus(err, false)
}
