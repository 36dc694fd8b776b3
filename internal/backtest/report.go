package backtest

import (
	"fmt"
	"time"
)

// Version is the version of a report's JSON form. Within it, fields are only added.
const Version = 1

// A Report is the result of a replay. Its titles are made harmless for logs; each format
// escapes them as it must.
type Report struct {
	Version int        `json:"version"`
	Repo    string     `json:"repo"`
	Event   string     `json:"event"` // that was replayed
	Since   *time.Time `json:"since"` // null: from the beginning
	At      time.Time  `json:"at"`
	// ComparedWith names the old rules; empty: none.
	ComparedWith string `json:"compared_with"`
	// Issues counts those that were replayed. PullRequests and Ours were left out: the
	// latter were opened under our own login.
	Issues       int `json:"issues"`
	PullRequests int `json:"pull_requests"`
	Ours         int `json:"ours"`
	Timelines    int `json:"timelines"` // that were read
	// Failed counts the issues on which a rule fails, so that no rule acts.
	Failed    int      `json:"failed"`
	OldFailed int      `json:"old_failed"`
	Stopped   *Stopped `json:"stopped"` // null: all there is was replayed
	Rules     []Rule   `json:"rules"`
	Months    []Month  `json:"months"` // the oldest first
	// Notes explain the figures.
	Notes []string `json:"notes"`
}

// A Stopped is the reason why a replay ended early.
type Stopped struct {
	Reason   string     `json:"reason"`
	After    int        `json:"after"`     // issues
	About    int        `json:"about"`     // issues in all, roughly
	RunAgain *time.Time `json:"run_again"` // null: at once
}

// String returns the reason in one line.
func (s Stopped) String() string {
	text := fmt.Sprintf("stopped after %d of about %d issues: %s; run it again", s.After, s.About, s.Reason)
	if s.RunAgain != nil {
		text += " at " + s.RunAgain.UTC().Format("15:04") + " UTC"
	}
	return text + " to go on"
}

// Figures are counts of issues, and values computed from them.
type Figures struct {
	Fired     int `json:"fired"`
	Agreed    int `json:"agreed"`
	Kept      int `json:"kept"` // of those agreed: a program did it, and people left it
	Disagreed int `json:"disagreed"`
	Undecided int `json:"undecided"`
	// Precision and Recall are from 0 to 1; null when there is nothing to divide by.
	Precision *float64 `json:"precision"`
	Recall    *float64 `json:"recall"`
}

// A Rule holds the counts for one rule.
type Rule struct {
	ID   string `json:"id"`
	File string `json:"file"`
	Line int    `json:"line"`
	// State is "added" for a rule that the old rules do not have, "removed" for one that
	// only they have, else empty.
	State string `json:"state"`
	// NotReplayed is the reason why there are no figures; empty: there are.
	NotReplayed string `json:"not_replayed"`
	// OtherEvents are those that it listens to and that were not replayed.
	OtherEvents []string `json:"other_events"`
	// Judged is false for a rule that neither adds labels nor closes.
	Judged  bool    `json:"judged"`
	Figures         // of a removed rule: zero
	Labels  []Label `json:"labels"` // that it adds
	// Disagreements are the first ones, the newest issue first.
	Disagreements []Link `json:"disagreements"`
	Failed        int    `json:"failed"`  // issues on which it fails
	Failure       string `json:"failure"` // the first one
	// What follows compares with the old rules; Old is null when the rule is not there.
	Old             *Figures `json:"old"`
	NewlyFires      int      `json:"newly_fires"`
	NoLongerFires   int      `json:"no_longer_fires"`
	ActsOtherwise   int      `json:"acts_otherwise"` // issues on which it fires as before and does something else
	NewlyFiresOn    []Link   `json:"newly_fires_on"`
	NoLongerFiresOn []Link   `json:"no_longer_fires_on"`
}

// A Label is a label that a rule adds.
type Label struct {
	Name string `json:"name"`
	Figures
	Carried int `json:"carried"` // issues that bear it as people left them
}

// A Link leads to an issue.
type Link struct {
	Issue int    `json:"issue"`
	Title string `json:"title"`
	URL   string `json:"url"` // empty when the service gave none that is one
	Why   string `json:"why"`
}

// A Month counts the issues that were opened in it, and those on which a rule fires.
type Month struct {
	Month    string `json:"month"` // such as "2026-11"
	Issues   int    `json:"issues"`
	Fired    int    `json:"fired"`
	OldFired int    `json:"old_fired"`
}
