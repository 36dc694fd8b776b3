package runner

import (
	"encoding/json"
	"fmt"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/triage"
)

// A Status is the final status of a run.
type Status string

// The statuses.
const (
	StatusApplied   Status = "applied"   // at least one action was carried out, and none failed
	StatusPartial   Status = "partial"   // some actions were carried out, and one failed or was refused by GitHub
	StatusDryRun    Status = "dry_run"   // decided and planned; writing was not requested
	StatusSkipped   Status = "skipped"   // there was no action, or none was permitted
	StatusEscalated Status = "escalated" // a person must look at the issue; nothing was written
	StatusFailed    Status = "failed"    // nothing was carried out, and something failed
	StatusDone      Status = "done"      // GitHub refused all that was left to do, for good
	StatusSuggested Status = "suggested" // nothing was carried out, and at least one action was proposed to people
	// StatusIncomplete is the status of a dry run that could not decide everything; see Report.Undecided.
	StatusIncomplete Status = "incomplete"
)

// A Report is the result of one run. Its JSON is stable, and the same wherever a report is printed or
// stored; see [Report.MarshalJSON].
type Report struct {
	Event    string `json:"event"` // such as "issues.opened"
	Repo     string `json:"repo"`  // "owner/name"
	Issue    int    `json:"issue"`
	IssueURL string `json:"issue_url"`
	Title    string `json:"title,omitempty"` // title of the issue; untrusted

	TaskID    string                `json:"task_id"`
	Decision  protocol.DecisionType `json:"decision"`  // empty: an error prevented the decision
	Rationale string                `json:"rationale"` // untrusted if an agent decided
	By        string                `json:"by"`        // who decided: "rules", an agent's address, "command", or several
	Status    Status                `json:"status"`
	Reason    string                `json:"reason"` // why there is no decision, or what failed; empty if all went well
	DryRun    bool                  `json:"dry_run"`
	// ReadAgain is why the issue was read again before the decision, such as "the event is 2h0m0s
	// old". It is empty if the decision was made on the issue in the event.
	ReadAgain string `json:"read_again,omitempty"`

	Actions    []triage.ActionResult `json:"actions"`
	Executed   int                   `json:"executed"`    // number of actions carried out
	Suggested  int                   `json:"suggested"`   // number of actions proposed to people
	Closed     bool                  `json:"-"`           // GitHub refuses every write to the issues of the repository
	CommentURL string                `json:"comment_url"` // URL of the last posted comment; may be empty

	// Rules contains for each rule why it fired or not; nil if no rules were evaluated.
	Rules []rules.Summary `json:"rules"`
	// Why explains the rules part by part. It is nil if Options.Explain is false, or if there are
	// more than 100 rules. It needs no additional look-ups.
	Why []rules.RuleWhy `json:"-"`
	// Judged is the number of earlier actions whose outcome the event made known, because a person undid or answered
	// them. Undone is the part of them that people undid or rejected.
	Judged int `json:"-"`
	Undone int `json:"-"`
	// Changes are the permissions that pairs of the track records lost or got because a person answered,
	// as in [Judgment]. Warnings has a line for each that was lost.
	Changes []memory.PermissionChange `json:"-"`
	// Warnings are for maintainers; they did not stop the run.
	Warnings []string `json:"warnings"`
	// Missing lists permissions that the token lacks.
	Missing []string `json:"missing,omitempty"`
	// Undecided lists the parts of a dry run whose result depends on values that nobody supplied.
	Undecided []Undecided `json:"undecided,omitempty"`
	// Unasked is why a dry run did not ask the agent; empty if it did, or if there is no agent.
	Unasked string `json:"unasked,omitempty"`
}

// An Undecided is a part of a dry run that could not be decided; see Options.Supplied.
type Undecided struct {
	ID      string   `json:"id"`      // of a rule; else "agent.when", or a command such as "/foreman triage"
	Why     string   `json:"why"`     // one line for people
	Missing []string `json:"missing"` // the missing values, such as "author.issues"
}

// Fired returns the ids of the rules that fired, in order.
func (rep *Report) Fired() []string {
	var ids []string
	for _, r := range rep.Rules {
		if r.Fired {
			ids = append(ids, r.ID)
		}
	}
	return ids
}

// reportVersion is the version of the JSON of a [Report]. New keys, and new words for verdicts and
// results, do not change it.
const reportVersion = 1

// reportFields are the fields of a Report without its methods.
type reportFields Report

// MarshalJSON returns the report with the key "version". Lists are never null. Texts of actions are
// shortened.
func (rep Report) MarshalJSON() ([]byte, error) {
	rep.Actions = append([]triage.ActionResult{}, rep.Actions...)
	rep.Rules = append([]rules.Summary{}, rep.Rules...)
	rep.Warnings = append([]string{}, rep.Warnings...)
	return protocol.Encode(struct {
		Version int `json:"version"`
		reportFields
	}{reportVersion, reportFields(rep)})
}

// UnmarshalJSON parses a report. It is an error if a newer version of the program wrote the report in
// a form that this version cannot read.
//
// A report without a version is one of the earlier form, which queues contain of tasks that ended
// before an update. It has "fired" instead of "rules", and an action that was large has only its
// type. The next version of the program need not read it.
func (rep *Report) UnmarshalJSON(data []byte) error {
	var in struct {
		Version int `json:"version"`
		reportFields
		Earlier []string `json:"fired"` // ids of the rules that fired
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	if in.Version > reportVersion {
		return fmt.Errorf("the report has version %d, and this program reads versions up to %d", in.Version, reportVersion)
	}
	*rep = Report(in.reportFields)
	if in.Version == 0 {
		rep.Rules = nil
		for _, id := range in.Earlier {
			rep.Rules = append(rep.Rules, rules.Summary{ID: id, Fired: true})
		}
	}
	return nil
}
