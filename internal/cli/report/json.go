package report

import (
	"fmt"
	"slices"

	"github.com/org/foreman-action/internal/actions"
	"github.com/org/foreman-action/internal/cli/document"
	"github.com/org/foreman-action/internal/cli/format"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/triage"
)

// maxRationale bounds an output, in characters: GitHub keeps a megabyte of them for a whole job.
const maxRationale = 2000

// An Output is one output of the step.
type Output struct{ Name, Value string }

// Outputs are the step's outputs in the order of their table.
func Outputs(res Result) []Output {
	rep := res.Report
	list := []Output{
		{actions.OutputTaskID, rep.TaskID},
		{actions.OutputDecision, string(rep.Decision)},
		{actions.OutputRationale, text.Shorten(rep.Rationale, maxRationale)},
		{actions.OutputStatus, string(rep.Status)},
		{actions.OutputActions, format.JSON(append([]triage.ActionResult{}, rep.Actions...), "")},
		{actions.OutputExecuted, fmt.Sprint(rep.Executed)},
		{actions.OutputSuggested, fmt.Sprint(rep.Suggested)},
		{actions.OutputCommentURL, rep.CommentURL},
	}
	if res.Survey != nil {
		changes := changesOf(res.Survey.Reports...)
		return append(append(list, changes.labels()...),
			Output{actions.OutputClosedAll, format.JSON(changes.closed, "")}, surveyOutput(*res.Survey))
	}
	changes := changesOf(rep)
	return append(append(list, changes.labels()...), Output{actions.OutputClosed, fmt.Sprint(len(changes.closed) > 0)})
}

// changes are what runs did to labels, and the numbers of the issues that they closed. The lists are
// not nil.
type changes struct {
	added, removed []string
	closed         []int
}

// changesOf returns the changes in reports, each name and number once.
func changesOf(reports ...runner.Report) changes {
	c := changes{[]string{}, []string{}, []int{}}
	for _, rep := range reports {
		for _, a := range rep.Actions {
			if a.State != triage.Done {
				continue
			}
			switch spec, _ := protocol.SpecOf(a.Action.Type); {
			case spec.AddsLabels():
				c.added = appendNew(c.added, a.Values...)
			case spec.RemovesLabels():
				c.removed = appendNew(c.removed, a.Values...)
			case spec.Closes():
				c.closed = appendNew(c.closed, rep.Issue)
			}
		}
	}
	return c
}

func appendNew[T comparable](list []T, values ...T) []T {
	for _, v := range values {
		if !slices.Contains(list, v) {
			list = append(list, v)
		}
	}
	return list
}

func (c changes) labels() []Output {
	return []Output{{actions.OutputAdded, format.JSON(c.added, "")}, {actions.OutputRemoved, format.JSON(c.removed, "")}}
}

// JSON returns a report as one object over several lines, without the last line break.
func JSON(rep runner.Report) string { return format.JSON(document.Printed(rep), "  ") }
