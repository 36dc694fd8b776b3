package runner

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/triage"
)

// An Audit is the record of a decision, made before anything is written.
type Audit struct {
	Kind      string                `json:"foreman"` // always "audit"
	Version   int                   `json:"version"` // of this form
	Time      time.Time             `json:"time"`    // UTC
	TaskID    string                `json:"task_id"`
	Repo      string                `json:"repo"`
	Issue     int                   `json:"issue"`
	Event     string                `json:"event"`
	Decision  protocol.DecisionType `json:"decision"`
	Rationale string                `json:"rationale"`
	By        string                `json:"by"`
	DryRun    bool                  `json:"dry_run"`
	Actions   []AuditAction         `json:"actions"`
}

// An AuditAction is one action of the decision with the policy's verdict.
type AuditAction struct {
	Index   int                 `json:"index"`
	Action  protocol.ActionItem `json:"action"`
	Source  string              `json:"source"`
	Verdict triage.Verdict      `json:"verdict"`
	Reason  string              `json:"reason,omitempty"`
}

func newAudit(now time.Time, rep Report, plan Plan) Audit {
	a := Audit{
		Kind: "audit", Version: 1,
		Time: now.UTC().Truncate(time.Millisecond), TaskID: rep.TaskID, Repo: rep.Repo, Issue: rep.Issue,
		Event: rep.Event, Decision: rep.Decision, Rationale: rep.Rationale, By: rep.By,
		DryRun: rep.DryRun, Actions: make([]AuditAction, 0, len(plan.Steps)),
	}
	for _, s := range plan.Steps {
		a.Actions = append(a.Actions, AuditAction{s.Index, s.Action, s.Source.String(), s.Verdict, s.Reason})
	}
	return a
}

// commands breaks what could be read as a workflow command. Neither can occur in
// JSON outside a string.
var commands = strings.NewReplacer("##[", `#\u0023[`, "::", `:\u003a`)

// Line returns the record as one line of JSON. Every character that a log reader
// could take for the start of a command is escaped inside the JSON.
func (a Audit) Line() (string, error) {
	line, err := json.Marshal(a)
	if err != nil {
		return "", err
	}
	return commands.Replace(string(line)), nil
}
