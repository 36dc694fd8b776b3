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
	Time      time.Time // UTC
	TaskID    string
	Repo      string
	Issue     int
	Event     string
	Decision  protocol.DecisionType
	Rationale string
	By        string
	DryRun    bool
	Actions   []triage.ActionResult // with the policy's verdicts; none is carried out yet
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
}

// commands escapes workflow commands. Both sequences can occur only in the strings of the JSON.
var commands = strings.NewReplacer("##[", `#\u0023[`, "::", `:\u003a`)

// Line returns the record as one line of JSON. It escapes every sequence that GitHub's log could
// interpret as a command, so that the JSON stays valid.
func (a Audit) Line() (string, error) {
	out := auditJSON{
		"audit", 1, a.Time, a.TaskID, a.Repo, a.Issue, a.Event, a.Decision, a.Rationale, a.By, a.DryRun,
		make([]auditActionJSON, 0, len(a.Actions)),
	}
	for _, r := range a.Actions {
		out.Actions = append(out.Actions, auditActionJSON{r.Index, r.Action, r.Source.String(), r.Verdict, r.Reason})
	}
	line, err := json.Marshal(out)
	if err != nil {
		return "", err
	}
	return commands.Replace(string(line)), nil
}
