package triage

import (
	"cmp"
	"time"
)

// A Timeline is the history of an issue, as GitHub's timeline lists it.
type Timeline struct {
	// Events are sorted by time, the oldest first.
	Events []TimelineEvent
	// Complete is false if the timeline is too long to be read as a whole. Then Events is its
	// newest part.
	Complete bool
	// Before is the position from which earlier events can be read; 0: there are none to read.
	Before int
	// Size is the approximate number of all events. 0: Events has all of them, or the number is
	// unknown.
	Size int
}

// EventValue returns the name or the reason of an event: of its label, assignee, milestone, type or
// reviewer, or why the issue was closed or locked. It is empty for other events.
func EventValue(e TimelineEvent) string {
	return cmp.Or(e.Label, e.Assignee, e.Milestone, e.IssueType, e.Reviewer, e.Reason)
}

// A TimelineEvent is one event on an issue. Fields that do not apply to its kind are empty.
type TimelineEvent struct {
	ID        int64
	Kind      string    // GitHub's name of the kind, such as "labeled", "closed" or "commented"
	At        time.Time // for a commit, the clock of its author's machine, which may be wrong
	Actor     string    // login; empty for a deleted account
	ActorType string    // "User", "Bot" or another account type; empty if not reported
	// Association is for commented: the author's association with the repository, such as "MEMBER".
	Association string
	Label       string // for labeled and unlabeled
	Assignee    string // for assigned and unassigned: the login
	Milestone   string // for milestoned and demilestoned: its title
	IssueType   string // for issue_type_added, issue_type_changed and issue_type_removed: its name
	// Reviewer is for review_requested and review_request_removed: the login, or "team/" and the slug
	// of the team.
	Reviewer string
	Reason   string    // for closed and locked
	From     string    // for renamed: the title before
	Body     string    // for commented
	URL      string    // for commented: the web page, for humans
	Edited   time.Time // for commented: the last edit of the text; zero if not reported
	Hidden   bool      // for commented: shown only after a click, such as an outdated one
	// Intends means that the host reports intents for the issue: the event has the property, even if
	// the event itself has no intent. See effect.Intent.
	Intends bool
	// Intended means that the event has an intent, so a program made the change or proposed it.
	Intended bool
}
