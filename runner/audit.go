package runner

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/runner/internal/plan"
	"github.com/org/foreman-action/triage"
)

// An Audit is the record of a decision, made before anything is written.
type Audit struct {
	Time   time.Time // UTC
	Report Report    // its actions have the policy's verdicts; none is carried out yet
}

// newAudit returns the audit record of a decision.
func newAudit(now time.Time, rep Report, p plan.Plan) Audit {
	for _, s := range p.Steps {
		rep.Actions = append(rep.Actions, s.ActionResult)
	}
	return Audit{now.UTC().Truncate(time.Millisecond), rep}
}

// auditJSON is the published form of an Audit.
type auditJSON struct {
	Kind      string                `json:"foreman"` // always "audit"
	Version   int                   `json:"version"` // version of this format
	Time      time.Time             `json:"time"`
	TaskID    string                `json:"task_id"`
	Repo      string                `json:"repo"`
	Issue     int                   `json:"issue"`
	Event     string                `json:"event"`
	Decision  protocol.DecisionType `json:"decision"`
	Rationale string                `json:"rationale"`
	By        string                `json:"by"`
	DryRun    bool                  `json:"dry_run"`
	Actions   []auditActionJSON     `json:"actions"`
}

type auditActionJSON struct {
	Index   int                 `json:"index"`
	Action  protocol.ActionItem `json:"action"`
	Source  string              `json:"source"`
	Verdict triage.Verdict      `json:"verdict"`
	Reason  string              `json:"reason,omitempty"`

	Confidence protocol.Confidence `json:"confidence,omitempty"`
	Rationale  string              `json:"rationale,omitempty"`
	Proposal   int                 `json:"proposal,omitempty"`
	AcceptedBy string              `json:"accepted_by,omitempty"`
}

// commands escapes workflow commands. Both sequences can occur only in the strings of the JSON.
var commands = strings.NewReplacer("##[", `#\u0023[`, "::", `:\u003a`)

// Line returns the record as one line of JSON. It escapes every sequence that GitHub's log could
// interpret as a command, so that the JSON stays valid.
func (a Audit) Line() (string, error) {
	rep := a.Report
	out := auditJSON{
		"audit", 1, a.Time, rep.TaskID, rep.Repo, rep.Issue, rep.Event, rep.Decision, rep.Rationale, rep.By, rep.DryRun,
		make([]auditActionJSON, 0, len(rep.Actions)),
	}
	for _, r := range rep.Actions {
		out.Actions = append(out.Actions, auditActionJSON{
			r.Index, r.Action, r.Source.String(), r.Verdict, r.Reason, r.Confidence, r.Rationale, r.Proposal, r.AcceptedBy,
		})
	}
	line, err := json.Marshal(out)
	if err != nil {
		return "", err
	}
	return commands.Replace(string(line)), nil
}
