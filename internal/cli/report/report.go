// Package report renders the result of a run: for people at a terminal, as JSON, as the
// outputs of a step and as a job summary.
package report

import (
	"errors"
	"slices"
	"strings"

	"github.com/org/foreman-action/policy"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/triage"
)

// A Result is the outcome of a run.
type Result struct {
	Report   runner.Report
	NoConfig bool // nothing was configured, so nothing was decided
	// Starter is a configuration file to start with; empty: none is proposed.
	Starter string
	// Others are the actions of other tools that the repository runs and "foreman init" imports.
	Others []string
	// Described means that the command line describes the event, which nobody sent.
	Described bool
	// Hint says how to try the rules that do not listen to the event of a try-out; empty: none.
	Hint string
	// Shadow means that nothing is written because the configuration's mode is shadow.
	Shadow bool
	Needs  []string // lines of the permissions block that the run needs
	// Fork is true if the event is the pull_request of a fork, whose workflows have a token that cannot
	// write.
	Fork   bool
	Survey *runner.Survey // of a scheduled run, summarized in Report; nil: not a scheduled run
	Web    string         // address of GitHub's web pages, for links; empty: no links
	Policy policy.Policy  // of the run
	Shared bool           // other programs can write the memory, as artifacts
	Review string         // of rules that a pull request changes, in Markdown; empty: there is none
}

// ForkAdvice replaces the permissions block for a run that no block can help.
const ForkAdvice = "GitHub gives the event pull_request of a fork a token that cannot write, whatever the job's permissions are. " +
	"Start the workflow on pull_request_target instead, without a checkout of the pull request; see docs/pull-requests.md"

// ReadOnly reports whether the run lacks a permission to write that the event never has.
func (r Result) ReadOnly() bool {
	return r.Fork && slices.ContainsFunc(r.Report.Missing, func(need string) bool { return strings.HasSuffix(need, ": write") })
}

// reportsOf returns the reports with the actions of a result.
func reportsOf(r Result) []runner.Report {
	if r.Survey != nil {
		return r.Survey.Reports
	}
	return []runner.Report{r.Report}
}

// Failed returns the result of a run that failed before it decided.
func (r Result) Failed(err error) Result {
	r.Report.Reason = err.Error()
	r.Report.Rationale = err.Error()
	if p, ok := errors.AsType[*triage.PermissionError](err); ok {
		r.Report.Missing = append(r.Report.Missing, p.Need)
	}
	return r
}
