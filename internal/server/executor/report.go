package executor

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/triage"
)

// The bounds of a report.
const (
	maxText    = 4000      // bytes of a text
	maxItem    = 4 << 10   // bytes of an action; of a larger one only its type is kept
	maxActions = 400       // more than a decision may have
	maxReport  = 512 << 10 // bytes of all
)

// A Report is the result of an attempt to execute a decision. The queue stores it as JSON with the
// task. Its texts are shortened, and may be hostile.
type Report struct {
	Status     runner.Status         `json:"status"`
	Reason     string                `json:"reason,omitempty"` // why it failed or did nothing
	Event      string                `json:"event,omitempty"`
	IssueURL   string                `json:"issue_url,omitempty"`
	Title      string                `json:"title,omitempty"`
	Decision   protocol.DecisionType `json:"decision,omitempty"` // of the agent and the rules together
	Rationale  string                `json:"rationale,omitempty"`
	By         string                `json:"by,omitempty"` // who decided
	DryRun     bool                  `json:"dry_run,omitempty"`
	Executed   int                   `json:"executed"` // number of executed actions
	CommentURL string                `json:"comment_url,omitempty"`
	Actions    []ActionReport        `json:"actions,omitempty"`
	Fired      []string              `json:"fired,omitempty"`    // ids of rules
	Warnings   []string              `json:"warnings,omitempty"` // for maintainers
	Missing    []string              `json:"missing,omitempty"`  // permissions that the token lacks
}

// An ActionReport is one action with its verdict and its result.
type ActionReport struct {
	Index   int             `json:"index"`
	Type    string          `json:"type"`
	Action  json.RawMessage `json:"action,omitempty"` // as it was decided; none if it is large
	Source  string          `json:"source,omitempty"`
	Verdict triage.Verdict  `json:"verdict"`
	Result  string          `json:"result"`
	Reason  string          `json:"reason,omitempty"`
	URL     string          `json:"url,omitempty"`
}

// NewReport returns the report of a run.
func NewReport(rep runner.Report) Report {
	r := Report{
		Status: rep.Status, Reason: clip(rep.Reason), Event: rep.Event, IssueURL: clip(rep.IssueURL), Title: clip(rep.Title),
		Decision: rep.Decision, Rationale: clip(rep.Rationale), By: clip(rep.By), DryRun: rep.DryRun,
		Executed: rep.Executed, CommentURL: clip(rep.CommentURL), Warnings: clipAll(rep.Warnings), Missing: clipAll(rep.Missing),
	}
	if rep.Rules != nil {
		r.Fired = clipAll(rep.Rules.Fired)
	}
	for i, a := range rep.Actions {
		if i == maxActions {
			break
		}
		out := ActionReport{
			Index: a.Index, Type: clip(a.Action.Type), Source: clip(a.Source.String()), Verdict: a.Verdict, Result: a.State.Result(),
			Reason: clip(a.Reason), URL: clip(a.URL),
		}
		if raw, err := json.Marshal(a.Action); err == nil && len(raw) <= maxItem {
			out.Action = raw
		}
		r.Actions = append(r.Actions, out)
	}
	return r
}

// Encode returns the report as JSON. If it is too large, Encode first leaves out the details of the
// actions, and then further parts.
func (r Report) Encode() ([]byte, error) {
	for _, shorten := range []func(){
		func() {},
		func() {
			for i := range r.Actions {
				r.Actions[i].Action = nil
			}
		},
		func() { r.Actions, r.Warnings, r.Fired, r.Missing = nil, nil, nil, nil },
	} {
		shorten()
		out, err := protocol.Encode(r)
		if err != nil || len(out) <= maxReport {
			return out, err
		}
	}
	return protocol.Encode(Report{Status: r.Status, Decision: r.Decision, Executed: r.Executed})
}

// clip cuts a text that is too long.
func clip(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= maxText {
		return s
	}
	end := maxText
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}

func clipAll(list []string) []string {
	var out []string
	for i, s := range list {
		if i == 100 {
			return append(out, "…")
		}
		out = append(out, clip(s))
	}
	return out
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return clip(line)
}
