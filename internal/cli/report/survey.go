package report

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/org/foreman-action/internal/actions"
	"github.com/org/foreman-action/internal/cli/format"
	"github.com/org/foreman-action/internal/permission"
	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/internal/trackrecord"
	"github.com/org/foreman-action/runner"
)

// surveyOutput is the output that only a scheduled run has.
func surveyOutput(s runner.Survey) Output {
	return Output{actions.OutputIssues, fmt.Sprintf(`{"found":%d,"decided":%d,"executed":%d,"suggested":%d,"closed":%d,"dropped":%d,"waiting":%d,"left":%d,"failed":%d}`,
		s.Found, s.Decided, s.Executed, s.Suggested, s.Closed, s.Dropped, s.Waiting, s.Left, s.Failed)}
}

// maxRows bounds the issues in the job summary, because GitHub keeps at most 1 MiB of it.
const maxRows = 300

// surveyTable lists the issues of a scheduled run that have an action or a reason, and what became of earlier
// actions.
func surveyTable(b *strings.Builder, res Result) {
	s := *res.Survey
	var rows []string
	for _, rep := range s.Reports {
		if row := surveyRow(rep); row != "" {
			rows = append(rows, row)
		}
	}
	if len(rows) > 0 {
		b.WriteString("| issue | | status | what |\n|--:|---|---|---|\n" + strings.Join(rows[:min(len(rows), maxRows)], "") + "\n")
	}
	if more := len(rows) - maxRows; more > 0 {
		fmt.Fprintf(b, "%d more are in the log.\n\n", more)
	}
	if quiet := len(s.Reports) - len(rows); quiet > 0 {
		fmt.Fprintf(b, "On %d of the issues no rule fired.\n\n", quiet)
	}
	if j := s.Judgment; j.Outcomes != nil || j.Scores != nil {
		b.WriteString(trackrecord.New(j.Outcomes, trackrecord.Options{Repo: s.Repo, Web: res.Web, Policy: res.Policy, Shared: res.Shared, Scores: j.Scores}).Markdown())
	}
	for _, c := range s.Judgment.Changes {
		b.WriteString(sanitize.Markdown(permission.Describe(c)) + "\n\n")
	}
	if n := s.Judgment.Waiting; n > 0 {
		fmt.Fprintf(b, "The actions on %s wait to be judged.\n\n", format.Count(n, "issue"))
	}
}

// surveyRow is the row of one issue; empty when nothing was decided on it.
func surveyRow(rep runner.Report) string {
	var what []string
	for _, a := range rep.Actions {
		text := a.Action.Type + " " + whatOf(a.Action)
		if result := cmp.Or(proposal(a), a.State.Result()); result != "done" {
			text += " (" + strings.Join(format.NonEmpty(result, a.Reason), ": ") + ")"
		}
		what = append(what, text)
	}
	if rep.Reason != "" && (len(what) == 0 || rep.Status == runner.StatusFailed) {
		what = append(what, rep.Reason)
	}
	if len(what) == 0 {
		return ""
	}
	return fmt.Sprintf("| %s | %s | %s | %s |\n", link(fmt.Sprintf("#%d", rep.Issue), rep.IssueURL),
		sanitize.Cell(rep.Title, 80), words(string(rep.Status)), sanitize.Cell(strings.Join(what, "; "), 400))
}
