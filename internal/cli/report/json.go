package report

import (
	"fmt"

	"github.com/org/foreman-action/internal/actions"
	"github.com/org/foreman-action/internal/cli/format"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/triage"
)

// An Output is one output of the step.
type Output struct{ Name, Value string }

// Outputs are the step's outputs in the order of their table.
func Outputs(res Result) []Output {
	rep := res.Report
	list := []Output{
		{actions.OutputTaskID, rep.TaskID},
		{actions.OutputDecision, string(rep.Decision)},
		{actions.OutputRationale, text.Shorten(rep.Rationale, maxOutputText)},
		{actions.OutputStatus, string(rep.Status)},
		{actions.OutputActions, format.JSON(actionsJSON(rep), "")},
		{actions.OutputExecuted, fmt.Sprint(rep.Executed)},
		{actions.OutputCommentURL, rep.CommentURL},
	}
	if res.Survey != nil {
		list = append(list, surveyOutput(*res.Survey))
	}
	return list
}

// actionJSON is one action of the output "actions" and of --json: the action as it
// was asked for, its verdict and its result.
type actionJSON struct {
	Index   int                 `json:"index"`
	Type    string              `json:"type"`
	Action  protocol.ActionItem `json:"action"`
	Source  string              `json:"source"`
	Verdict triage.Verdict      `json:"verdict"`
	Result  string              `json:"result"`
	Reason  string              `json:"reason"`
	URL     string              `json:"url"`
}

// maxOutputText bounds each text of the outputs, in characters: GitHub keeps a
// megabyte of them for a whole job.
const maxOutputText = 2000

// bounded returns an action whose parameters are short enough for an output.
func bounded(a protocol.ActionItem) protocol.ActionItem {
	if len(a.String()) <= maxOutputText {
		return a
	}
	params := map[string]any{}
	for _, name := range a.ParamNames()[:min(len(a.ParamNames()), 20)] {
		raw, _ := a.Param(name)
		value, ok, err := a.Text(name)
		switch {
		case ok && err == nil:
			params[name] = text.Shorten(value, maxOutputText)
		case len(raw) <= 200:
			params[name] = raw
		default:
			params[name] = text.Shorten(string(raw), 200)
		}
	}
	short, err := protocol.NewAction(a.Type, params)
	if err != nil {
		return protocol.ActionItem{Type: a.Type}
	}
	return short
}

func actionsJSON(rep runner.Report) []actionJSON {
	list := make([]actionJSON, 0, len(rep.Actions))
	for _, a := range rep.Actions {
		list = append(list, actionJSON{
			a.Index, text.Shorten(a.Action.Type, 100), bounded(a.Action), a.Source.String(), a.Verdict, a.State.Result(), text.Shorten(a.Reason, maxOutputText), a.URL,
		})
	}
	return list
}

// reportJSON is the output of triage --json: one object, stable.
type reportJSON struct {
	Version    int                   `json:"version"` // of this form
	Event      string                `json:"event"`
	Repo       string                `json:"repo"`
	Issue      int                   `json:"issue"`
	IssueURL   string                `json:"issue_url"`
	TaskID     string                `json:"task_id"`
	Decision   protocol.DecisionType `json:"decision"`
	Rationale  string                `json:"rationale"`
	By         string                `json:"by"`
	Status     runner.Status         `json:"status"`
	Reason     string                `json:"reason"`
	DryRun     bool                  `json:"dry_run"`
	Actions    []actionJSON          `json:"actions"`
	Executed   int                   `json:"executed"`
	CommentURL string                `json:"comment_url"`
	Rules      []ruleJSON            `json:"rules"`
	Warnings   []string              `json:"warnings"`
}

// ruleJSON is why one rule fired or did not.
type ruleJSON struct {
	ID    string `json:"id"`
	Fired bool   `json:"fired"`
	Why   string `json:"why"`
}

// JSON returns a report as one object over several lines, without the last line break.
func JSON(rep runner.Report) string { return format.JSON(reportOf(rep), "  ") }

func reportOf(rep runner.Report) reportJSON {
	out := reportJSON{
		Version: 1, Event: rep.Event, Repo: rep.Repo, Issue: rep.Issue, IssueURL: rep.IssueURL,
		TaskID: rep.TaskID, Decision: rep.Decision, Rationale: rep.Rationale, By: rep.By,
		Status: rep.Status, Reason: rep.Reason, DryRun: rep.DryRun,
		Actions: actionsJSON(rep), Executed: rep.Executed, CommentURL: rep.CommentURL,
		Rules: []ruleJSON{}, Warnings: append([]string{}, rep.Warnings...),
	}
	for _, t := range traces(rep) {
		out.Rules = append(out.Rules, ruleJSON{t.id, t.fired, t.why})
	}
	return out
}
