package runner

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/runner/internal/execute"
	"github.com/org/foreman-action/runner/internal/plan"
	"github.com/org/foreman-action/triage"
)

// newReport starts the report on an event.
func newReport(r setup, d triage.Delivery) Report {
	return Report{
		Event: d.Key(), Repo: d.FullRepo(), Issue: d.Number,
		TaskID: r.id.ID, DryRun: r.dry, Decision: protocol.Skip,
	}
}

// setDecision copies a decision into the report.
func (rep *Report) setDecision(dec decided) {
	m := dec.Message
	rep.Decision, rep.Rationale, rep.By = m.Decision, m.Rationale, dec.By
	rep.Rules, rep.Why = dec.Summaries, dec.Why
	rep.Undecided, rep.Unasked = dec.Undecided, dec.Unasked
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
	rep.countSuggested()
	rep.setStatus(errors.Join(out.Err, failed), out.Gone)
	rep.notePermission(out.Err)
}

// has reports whether an action has a state.
func (rep *Report) has(s triage.State) bool {
	return slices.ContainsFunc(rep.Actions, func(a triage.ActionResult) bool { return a.State == s })
}

func (rep *Report) countSuggested() {
	rep.Suggested = 0
	for _, a := range rep.Actions {
		if a.State == triage.Suggested {
			rep.Suggested++
		}
	}
}

// number sets the numbers of the proposals that a run made, by the indexes of their actions. refused has
// the reasons of actions that were not proposed after all.
func (rep *Report) number(made map[int]plan.Numbered, refused map[string]string) {
	for i, m := range made {
		a := &rep.Actions[i]
		a.Proposal = m.Number
		switch why := refused[m.ID]; {
		case a.State != triage.Suggested:
		case why != "" && a.Carrier != triage.CarrierGitHub:
			a.Carrier, a.Verdict, a.State, a.Reason = "", triage.Skip, triage.Skipped, why
		default:
			a.Carrier = cmp.Or(a.Carrier, triage.CarrierComment)
		}
	}
	rep.countSuggested()
	if rep.Status == StatusSuggested && rep.Suggested == 0 {
		rep.Status, rep.Reason = StatusSkipped, rep.nothingLeft()
	}
}

// setStatus derives the status from the decision and the outcome.
func (rep *Report) setStatus(err error, gone bool) {
	refusal := rep.refusal()
	switch {
	case err != nil && rep.Executed > 0:
		rep.Status = StatusPartial
	case err != nil:
		rep.Status = StatusFailed
	case gone && rep.Executed == 0:
		rep.Status = StatusSkipped
	case refusal != "" && rep.Executed > 0:
		rep.Status = StatusPartial
	case refusal != "":
		rep.Status = StatusDone
	case rep.Decision == protocol.Escalate:
		rep.Status = StatusEscalated
	case rep.DryRun && len(rep.Undecided) > 0:
		rep.Status = StatusIncomplete
	case rep.Decision == protocol.Skip:
		rep.Status = StatusSkipped
	case rep.DryRun:
		rep.Status = StatusDryRun
	case rep.Executed == 0 && rep.Suggested > 0:
		rep.Status = StatusSuggested
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
	case refusal != "":
		rep.Reason = refusal
	case rep.Status == StatusSkipped && rep.Decision.Writes():
		rep.Reason = rep.nothingLeft()
	}
}

// nothingLeft returns why a decision with actions carried out none of them. If all were refused, it
// contains the reason of the first one.
func (rep *Report) nothingLeft() string {
	n := len(rep.Actions)
	if n == 0 || slices.ContainsFunc(rep.Actions, func(a triage.ActionResult) bool { return a.State != triage.Refused }) {
		return "no action was left to carry out"
	}
	if n == 1 {
		return "1 action refused: " + rep.Actions[0].Reason
	}
	return fmt.Sprintf("%d actions refused; the first: %s", n, rep.Actions[0].Reason)
}

// refusal describes the actions that GitHub refused for good, with the reason of the first one. It is
// empty if there are none.
func (rep *Report) refusal() string {
	refused := slices.DeleteFunc(slices.Clone(rep.Actions), func(a triage.ActionResult) bool { return !a.RefusedByHost() })
	switch n := len(refused); n {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("%s was %s", refused[0].Action.Type, refused[0].Reason)
	default:
		return fmt.Sprintf("%d actions were refused by GitHub; the first, %s, was %s", n, refused[0].Action.Type, refused[0].Reason)
	}
}

// warnRefusals adds one warning about the actions that GitHub refused for good.
func (rep *Report) warnRefusals() {
	if refusal := rep.refusal(); refusal != "" {
		rep.warnf("%s", refusal)
	}
}

// recordFailed changes the report of a run whose deferred actions could not be recorded. failed
// is as in setOutcome.
func (rep *Report) recordFailed(err, failed error) {
	for i := range rep.Actions {
		switch a := &rep.Actions[i]; a.State {
		case triage.Noted:
			a.State, a.Reason = triage.Failed, err.Error()
			rep.Executed--
		case triage.Suggested:
			a.State, a.Reason = triage.Failed, err.Error()
		default: // it needs no record
		}
	}
	rep.countSuggested()
	rep.setStatus(errors.Join(err, failed), false)
}
