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

// A Status is the final status of a run.
type Status string

// The statuses.
const (
	StatusApplied   Status = "applied"   // at least one action was carried out, and none failed
	StatusPartial   Status = "partial"   // some actions were carried out, and one failed or was refused by GitHub
	StatusDryRun    Status = "dry_run"   // decided and planned; writing was not requested
	StatusSkipped   Status = "skipped"   // there was no action, or none was permitted
	StatusEscalated Status = "escalated" // a person must look at the issue; nothing was written
	StatusFailed    Status = "failed"    // nothing was carried out, and something failed
	StatusDone      Status = "done"      // GitHub refused all that was left to do, for good
)

// A Report is the result of one run.
type Report struct {
	Event    string // such as "issues.opened"
	Repo     string // "owner/name"
	Issue    int
	IssueURL string
	Title    string // title of the issue; untrusted

	TaskID    string
	Decision  protocol.DecisionType // empty: an error prevented the decision
	Rationale string                // untrusted if an agent decided
	By        string                // who decided: "rules", an agent's address, "command", or several
	Status    Status
	Reason    string // why there is no decision, or what failed; empty if all went well
	DryRun    bool
	// ReadAgain is why the issue was read again before the decision, such as "the event is 2h0m0s
	// old". It is empty if the decision was made on the issue in the event.
	ReadAgain string

	Actions    []triage.ActionResult
	Executed   int    // number of actions carried out
	Closed     bool   // GitHub refuses every write to the issues of the repository
	CommentURL string // URL of the last posted comment; may be empty

	// Rules contains for each rule why it fired or not; nil if no rules were evaluated.
	Rules *rules.Result
	// AskedAs is the event for which the rules were last evaluated, if it differs from Event: an
	// issue that is decided again counts as newly opened. Otherwise it is empty.
	AskedAs string
	// Why explains the rules part by part. It is nil if Options.Explain is false, or if there are
	// more than 100 rules. It needs no additional look-ups.
	Why []rules.RuleWhy
	// Scores are the scores of shadow mode; nil in other modes, or if there are none.
	Scores *memory.Scores
	// Warnings are for maintainers; they did not stop the run.
	Warnings []string
	// Missing lists permissions that the token lacks.
	Missing []string
}

// newReport starts the report on an event.
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

// fail marks the run as failed. Without a decision, the error becomes the rationale.
func (rep *Report) fail(err error) {
	rep.Status, rep.Reason = StatusFailed, err.Error()
	if rep.By == "" {
		rep.Decision, rep.Rationale = "", rep.Reason
	}
	rep.notePermission(err)
}

// notReadAgain completes the report if the issue could not be read again.
func (rep *Report) notReadAgain(why string, err error) error {
	if errors.Is(err, triage.ErrGone) {
		rep.skip(triage.ErrGone.Error())
		return nil
	}
	err = fmt.Errorf("read the issue again, because %s: %w", why, err)
	rep.fail(err)
	return err
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

// setOutcome copies the results of a plan to the report. failed is the error of the rules that
// failed; nil: none did.
func (rep *Report) setOutcome(out execute.Outcome, failed error) {
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
	rep.Executed, rep.Closed = out.Executed(), out.Closed
	rep.setStatus(errors.Join(out.Err, failed), out.Gone)
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
	case rep.Refusals() > 0 && rep.Executed > 0:
		rep.Status = StatusPartial
	case rep.Refusals() > 0:
		rep.Status = StatusDone
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
	case rep.Refusals() > 0:
		rep.Reason = rep.refusal()
	case rep.Status == StatusSkipped && rep.Decision.Writes():
		rep.Reason = "no action was left to carry out"
	}
}

// Refusals counts the actions that GitHub refused for good.
func (rep *Report) Refusals() int {
	n := 0
	for _, a := range rep.Actions {
		if a.RefusedByHost() {
			n++
		}
	}
	return n
}

// refusal describes the actions that GitHub refused for good, with the reason of the first one.
func (rep *Report) refusal() string {
	n := rep.Refusals()
	i := slices.IndexFunc(rep.Actions, triage.ActionResult.RefusedByHost)
	switch first := rep.Actions[i]; n {
	case 1:
		return fmt.Sprintf("%s was %s", first.Action.Type, first.Reason)
	default:
		return fmt.Sprintf("%d actions were refused by GitHub; the first, %s, was %s", n, first.Action.Type, first.Reason)
	}
}

// warnRefusals adds one warning about the actions that GitHub refused for good.
func (rep *Report) warnRefusals() {
	if rep.Refusals() > 0 {
		rep.warnf("%s", rep.refusal())
	}
}

// recordFailed changes the report of a run whose deferred actions could not be recorded. failed
// is as in setOutcome.
func (rep *Report) recordFailed(err, failed error) {
	for i := range rep.Actions {
		if a := &rep.Actions[i]; a.State == triage.Noted {
			a.State, a.Reason = triage.Failed, err.Error()
			rep.Executed--
		}
	}
	rep.setStatus(errors.Join(err, failed), false)
}
