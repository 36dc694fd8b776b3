package document

import (
	"cmp"
	"strings"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/triage"
)

// A Report is the output of triage --json.
type Report struct {
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
	ReadAgain  string                `json:"read_again,omitempty"` // why the issue was read again
	Actions    []Action              `json:"actions"`
	Executed   int                   `json:"executed"`
	CommentURL string                `json:"comment_url"`
	Rules      []Rule                `json:"rules"`
	Warnings   []string              `json:"warnings"`
}

// An Action is one action of the output "actions" and of --json: the action as the agent or the
// rule requested it, its verdict and its result.
type Action struct {
	Index   int                 `json:"index"`
	Type    string              `json:"type"`
	Action  protocol.ActionItem `json:"action"`
	Source  string              `json:"source"`
	Verdict triage.Verdict      `json:"verdict"`
	Result  string              `json:"result"`
	Reason  string              `json:"reason"`
	URL     string              `json:"url"`
}

// A Rule is why one rule fired or did not.
type Rule struct {
	ID    string `json:"id"`
	Fired bool   `json:"fired"`
	Why   string `json:"why"`
}

// ReportOf returns the report of a run.
func ReportOf(rep runner.Report) Report {
	return Report{
		Version: 1, Event: rep.Event, Repo: rep.Repo, Issue: rep.Issue, IssueURL: rep.IssueURL,
		TaskID: rep.TaskID, Decision: rep.Decision, Rationale: rep.Rationale, By: rep.By,
		Status: rep.Status, Reason: rep.Reason, DryRun: rep.DryRun, ReadAgain: rep.ReadAgain,
		Actions: ActionsOf(rep), Executed: rep.Executed, CommentURL: rep.CommentURL,
		Rules: append([]Rule{}, RulesOf(rep)...), Warnings: append([]string{}, rep.Warnings...),
	}
}

// MaxText bounds each text of the outputs, in characters: GitHub keeps a
// megabyte of them for a whole job.
const MaxText = 2000

// ActionsOf returns the actions of a run, with their texts bounded.
func ActionsOf(rep runner.Report) []Action {
	list := make([]Action, 0, len(rep.Actions))
	for _, a := range rep.Actions {
		list = append(list, Action{
			a.Index, text.Shorten(a.Action.Type, 100), bounded(a.Action), a.Source.String(), a.Verdict, a.State.Result(), text.Shorten(a.Reason, MaxText), a.URL,
		})
	}
	return list
}

// bounded returns an action whose parameters fit into an output.
func bounded(a protocol.ActionItem) protocol.ActionItem {
	if len(a.String()) <= MaxText {
		return a
	}
	params := map[string]any{}
	for _, name := range a.ParamNames()[:min(len(a.ParamNames()), 20)] {
		raw, _ := a.Param(name)
		value, ok, err := a.Text(name)
		switch {
		case ok && err == nil:
			params[name] = text.Shorten(value, MaxText)
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

// RulesOf explains for each rule why it fired or did not; nil: no rules were evaluated.
func RulesOf(rep runner.Report) []Rule {
	if rep.Rules == nil {
		return nil
	}
	list := make([]Rule, 0, len(rep.Rules.Trace))
	for _, t := range rep.Rules.Trace {
		list = append(list, Rule{t.ID, t.Outcome == rules.Matched, whyOf(t, cmp.Or(rep.AskedAs, rep.Event))})
	}
	return list
}

func whyOf(t rules.RuleTrace, event string) string {
	condition := strings.Join(strings.Fields(t.Condition), " ")
	switch t.Outcome {
	case rules.Matched:
		if condition == "" {
			return "it has no condition"
		}
		return "true: " + condition
	case rules.NotListed:
		return "it does not listen to " + event
	case rules.False:
		return "false: " + condition
	case rules.Later:
		return "true only since the event: " + condition
	case rules.Cut:
		return "an earlier rule stopped the evaluation"
	case rules.Failed, rules.Unknown:
		why, _, _ := strings.Cut(t.Error, "\n") // without the line of the file
		return string(t.Outcome) + ": " + why
	}
	return string(t.Outcome)
}
