package build

import (
	"time"

	"github.com/org/foreman-action/internal/coding/build/machine"
	"github.com/org/foreman-action/internal/handoff"
)

// A Report is the result of a run. Every run that began has one, in report.json.
type Report struct {
	Version int               `json:"version"` // 1
	TaskID  string            `json:"task_id"`
	Status  machine.Status    `json:"status"`
	Reason  *machine.Reason   `json:"reason"` // nil: approved, or a failure of this machine
	Role    *handoff.Role     `json:"role"`   // the agent that caused the end; nil: no agent did
	Round   int               `json:"round"`
	Errors  []handoff.Problem `json:"errors"`
	// OpenIssues are the findings of the last inspection.
	OpenIssues []handoff.Issue      `json:"open_issues"`
	Data       *handoff.BuilderWork `json:"data"` // the Builder's last report; nil: none
	Checks     []machine.Check      `json:"checks"`
	Source     string               `json:"source"`
	Branch     string               `json:"branch"`
	BaseBranch string               `json:"base_branch"`
	BaseSHA    string               `json:"base_sha"`
	HeadSHA    string               `json:"head_sha"`
	DiffBytes  int                  `json:"diff_bytes"`
	PRURL      *string              `json:"pr_url"` // nil: not published
	Started    time.Time            `json:"started"`
	Ended      time.Time            `json:"ended"`
}

// newReport returns the report of a run that ended. failure is an error of this machine; nil:
// none.
func newReport(rec record, failure error) Report {
	s := rec.State
	report := Report{
		Version: 1, TaskID: rec.TaskID, Status: machine.Failed, Round: s.Round, Errors: []handoff.Problem{}, OpenIssues: []handoff.Issue{}, Checks: []machine.Check{},
		Source: rec.Source, Branch: rec.Branch, BaseBranch: rec.BaseBranch, BaseSHA: rec.Base, HeadSHA: rec.Head, DiffBytes: rec.DiffBytes,
		Started: rec.Started, Ended: *rec.Ended,
	}
	report.OpenIssues = append(report.OpenIssues, s.Issues...)
	report.Checks = append(report.Checks, s.Checks...)
	if s.Summary != "" {
		report.Data = &handoff.BuilderWork{Summary: s.Summary, Complexity: handoff.Complexity(s.Complexity)}
	}
	if end := s.End; end != nil {
		report.Status = end.Status
		report.Errors = append(report.Errors, end.Errors...)
		if end.Reason != "" {
			report.Reason = &end.Reason
		}
		if end.Role != "" {
			report.Role = &end.Role
		}
	}
	if failure != nil {
		report.Errors = append(report.Errors, problem("<run>", "infrastructure", failure.Error()))
	}
	return report
}

// The exit codes of a run. Besides, 2 is wrong usage.
const (
	exitApproved  = 0
	exitFailure   = 1 // this machine, the setup or a full disk
	exitExhausted = 3 // rounds exhausted, stalled
	exitAgent     = 4 // an agent failed
	exitHandoff   = 5 // no valid result
	exitNoChanges = 6
	exitPolicy    = 7
	exitChecks    = 8 // a required check fails in the last round
	exitTimeout   = 124
	exitCancelled = 130
)

// ExitCode returns the exit code of a program that ran the pipeline.
func (r Report) ExitCode() int {
	if r.Status == machine.Approved {
		return exitApproved
	}
	if r.Reason == nil {
		return exitFailure
	}
	switch *r.Reason {
	case machine.RoundsExhausted, machine.Stalled:
		return exitExhausted
	case machine.AgentFailed:
		return exitAgent
	case machine.HandoffInvalid:
		return exitHandoff
	case machine.NoChanges:
		return exitNoChanges
	case machine.PolicyBroken:
		return exitPolicy
	case machine.PreflightFailed:
		return exitChecks
	case machine.Timeout:
		return exitTimeout
	case machine.Cancelled:
		return exitCancelled
	case machine.SetupFailed, machine.DiskFull:
		return exitFailure
	}
	return exitFailure
}
