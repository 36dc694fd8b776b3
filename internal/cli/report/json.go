package report

import (
	"fmt"

	"github.com/org/foreman-action/internal/actions"
	"github.com/org/foreman-action/internal/cli/document"
	"github.com/org/foreman-action/internal/cli/format"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/runner"
)

// An Output is one output of the step.
type Output struct{ Name, Value string }

// Outputs are the step's outputs in the order of their table.
func Outputs(res Result) []Output {
	rep := res.Report
	list := []Output{
		{actions.OutputTaskID, rep.TaskID},
		{actions.OutputDecision, string(rep.Decision)},
		{actions.OutputRationale, text.Shorten(rep.Rationale, document.MaxText)},
		{actions.OutputStatus, string(rep.Status)},
		{actions.OutputActions, format.JSON(document.ActionsOf(rep), "")},
		{actions.OutputExecuted, fmt.Sprint(rep.Executed)},
		{actions.OutputCommentURL, rep.CommentURL},
	}
	if res.Survey != nil {
		list = append(list, surveyOutput(*res.Survey))
	}
	return list
}

// JSON returns a report as one object over several lines, without the last line break.
func JSON(rep runner.Report) string { return format.JSON(document.ReportOf(rep), "  ") }
