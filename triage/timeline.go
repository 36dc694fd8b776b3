package triage

import "time"

// A Timeline is the history of an issue, as GitHub's timeline lists it.
type Timeline struct {
	// Events are in order of time, the oldest first.
	Events []TimelineEvent
	// Complete is false for a timeline that is too long to be read as a whole: then
	// Events is its newest part.
	Complete bool
	// Before is the position from which earlier events can be read; 0: none can be read.
	Before int
	// Size is about how many events there are in all; 0: Events has all, or it is not known.
	Size int
}

// A TimelineEvent is one event on an issue. Fields that an event of its kind does not
// have are empty.
type TimelineEvent struct {
	ID        int64
	Kind      string    // GitHub's name for it, such as "labeled", "closed" or "commented"
	At        time.Time // of a commit the time of its author's machine: any time
	Actor     string    // login; empty for a deleted account
	ActorType string    // "User", "Bot" or another type of account; empty when not reported
	Label     string    // of labeled and unlabeled
	Assignee  string    // of assigned and unassigned: a login
	Milestone string    // of milestoned and demilestoned: its title
	IssueType string    // of issue_type_added, issue_type_changed and issue_type_removed: its name
	Reason    string    // of closed and locked
	From      string    // of renamed: the title before
	Body      string    // of commented
	URL       string    // of commented: for humans
	Edited    time.Time // of commented: when its text was last changed; zero when not reported
}
