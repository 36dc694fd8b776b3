package backtest

import (
	"fmt"
	"time"

	"github.com/org/foreman-action/internal/evidence"
)

// Version is the version of the JSON form of a report. Changes that only add fields keep the
// version.
const Version = 1

// A Report is the result of a replay. Its titles are safe for logs; each format escapes them in
// addition.
type Report struct {
	Version int        `json:"version"`
	Repo    string     `json:"repo"`
	Event   string     `json:"event"` // the replayed event
	Since   *time.Time `json:"since"` // null: no limit
	At      time.Time  `json:"at"`
	// ComparedWith names the old rules; empty: none.
	ComparedWith string `json:"compared_with"`
	// Issues is the number of replayed issues. PullRequests were left out, and so were Ours, the
	// issues that Foreman's own account opened.
	Issues       int `json:"issues"`
	PullRequests int `json:"pull_requests"`
	Ours         int `json:"ours"`
	Timelines    int `json:"timelines"` // timelines that were read
	// Failed is the number of issues on which a rule cannot be judged, because it fails or needs an
	// unknown value.
	Failed    int      `json:"failed"`
	OldFailed int      `json:"old_failed"`
	Stopped   *Stopped `json:"stopped"` // null: all issues were replayed
	Rules     []Rule   `json:"rules"`
	Months    []Month  `json:"months"` // the oldest first
	// Notes explain the numbers.
	Notes []string `json:"notes"`
	// Evidence is the start of the track records of the rules. It is a file of its own.
	Evidence evidence.File `json:"-"`
}

// A Stopped is the reason why a replay ended early.
type Stopped struct {
	Reason   string     `json:"reason"`
	After    int        `json:"after"`     // number of replayed issues
	About    int        `json:"about"`     // estimated number of all issues
	RunAgain *time.Time `json:"run_again"` // null: at once
}

// String returns the reason in one line.
func (s Stopped) String() string {
	text := fmt.Sprintf("stopped after %d of about %d issues: %s; run it again", s.After, s.About, s.Reason)
	if s.RunAgain != nil {
		text += " at " + s.RunAgain.UTC().Format("15:04") + " UTC"
	}
	return text + " to continue"
}

// Figures are numbers of issues, and ratios computed from them.
type Figures struct {
	Fired     int `json:"fired"`
	Agreed    int `json:"agreed"`
	Kept      int `json:"kept"` // part of Agreed: a program made the change, and people left it
	Disagreed int `json:"disagreed"`
	Undecided int `json:"undecided"`
	// Precision and Recall are from 0 to 1; null when the divisor is 0.
	Precision *float64 `json:"precision"`
	Recall    *float64 `json:"recall"`
}

// A Rule contains the counts for one rule.
type Rule struct {
	ID   string `json:"id"`
	File string `json:"file"`
	Line int    `json:"line"`
	// State is "added" for a rule that only the new configuration has, "removed" for a rule that
	// only the old one has, else empty.
	State string `json:"state"`
	// NotReplayed is the reason why the rule was not replayed; empty if it was replayed.
	NotReplayed string `json:"not_replayed"`
	// OtherEvents are the events that the rule listens to, except the replayed one.
	OtherEvents []string `json:"other_events"`
	// Judged is false for a rule that neither adds labels nor closes.
	Judged  bool    `json:"judged"`
	Figures         // zero for a removed rule
	Labels  []Label `json:"labels"` // labels that the rule adds
	// Disagreements lists the first ones, starting with the newest issue.
	Disagreements []Link `json:"disagreements"`
	Failed        int    `json:"failed"`  // issues on which the rule cannot be judged
	Failure       string `json:"failure"` // the first reason
	// The following fields compare with the old rules. Old is null when they do not have the rule.
	Old             *Figures `json:"old"`
	NewlyFires      int      `json:"newly_fires"`
	NoLongerFires   int      `json:"no_longer_fires"`
	ActsOtherwise   int      `json:"acts_otherwise"` // issues on which it fires as before but acts differently
	NewlyFiresOn    []Link   `json:"newly_fires_on"`
	NoLongerFiresOn []Link   `json:"no_longer_fires_on"`
}

// A Label is a label that a rule adds.
type Label struct {
	Name string `json:"name"`
	Figures
	Carried int `json:"carried"` // issues that have the label as people left it
}

// A Link leads to an issue.
type Link struct {
	Issue int    `json:"issue"`
	Title string `json:"title"`
	URL   string `json:"url"` // empty when GitHub returned no valid address
	Why   string `json:"why"`
}

// A Month counts the issues opened in a month, and those on which a rule fires.
type Month struct {
	Month    string `json:"month"` // such as "2026-11"
	Issues   int    `json:"issues"`
	Fired    int    `json:"fired"`
	OldFired int    `json:"old_fired"`
}
