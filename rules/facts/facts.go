// Package facts is what the conditions of rules can see of an event, and what they can
// look up.
//
// An embedder fills [Facts] and implements [Lookup]. Everything that a condition can
// reach is plain data without methods, pointers and maps.
package facts

import (
	"time"

	"github.com/org/foreman-action/protocol"
)

// Facts are what rules know about one event. The fields are plain data without
// methods, because everything that can be reached from a condition can be used
// in it; secrets have no place here.
type Facts struct {
	Issue Issue
	Event Event
	Actor Actor
	Repo  Repo
	// Pull is what only pull requests have; zero for an issue.
	Pull Pull
	// Now is the time of the run. When it is zero, expressions that name now, or that
	// measure time, fail.
	Now time.Time
	// Scans are the queries that the issue of a schedule event was found by: rules with
	// another "scan" do not listen. Nil: every rule does.
	Scans []string
	// Lookup answers what the event does not tell. When it is nil, expressions that ask
	// fail.
	Lookup Lookup `json:"-"`
	// May reports whether a label may be added or removed. Rules see the labels that
	// earlier rules planned, but for those that may not. Nil: all may.
	May func(label string) bool `json:"-"`
	// Effect returns which labels an action of a rule will add or remove, of those that it
	// names: it knows more than May, and is asked instead, once for each action in the order
	// in which they are planned. Nil: May is asked.
	Effect func(rule string, a protocol.ActionItem) []string `json:"-"`
}

// An Issue is the issue at the time of the event.
type Issue struct {
	Number      int       `expr:"number"`
	Title       string    `expr:"title"`
	Body        string    `expr:"body"`
	State       string    `expr:"state"`
	StateReason string    `expr:"state_reason"`
	Author      string    `expr:"author"`      // login
	AuthorType  string    `expr:"author_type"` // "User", "Bot" or "Organization"
	Association string    `expr:"association"` // of the author, such as "NONE" or "MEMBER"
	Labels      []string  `expr:"labels"`
	Assignees   []string  `expr:"assignees"` // logins
	Milestone   string    `expr:"milestone"` // title; empty for none
	Type        string    `expr:"type"`      // name of the issue type; empty for none
	Comments    int       `expr:"comments"`
	Locked      bool      `expr:"locked"`
	CreatedAt   time.Time `expr:"created_at"`
	UpdatedAt   time.Time `expr:"updated_at"`
	URL         string    `expr:"url"` // for humans
	Reactions   Reactions `expr:"reactions"`
}

// Reactions counts the reactions to an issue.
type Reactions struct {
	Total      int `expr:"total"`
	ThumbsUp   int `expr:"thumbs_up"`
	ThumbsDown int `expr:"thumbs_down"`
	Laugh      int `expr:"laugh"`
	Hooray     int `expr:"hooray"`
	Confused   int `expr:"confused"`
	Heart      int `expr:"heart"`
	Rocket     int `expr:"rocket"`
	Eyes       int `expr:"eyes"`
}

// A Pull is what pull requests have besides what issues have.
type Pull struct {
	Head         string `expr:"head"` // name of the branch that is to be merged; hostile, as all of it
	Base         string `expr:"base"` // name of the branch that it is to be merged into
	Draft        bool   `expr:"draft"`
	Merged       bool   `expr:"merged"`
	ChangedFiles int    `expr:"changed_files"`
	Additions    int    `expr:"additions"` // lines
	Deletions    int    `expr:"deletions"` // lines
	Commits      int    `expr:"commits"`
}

// An Event is what happened.
type Event struct {
	Name      string  `expr:"name"`      // such as "issues"
	Action    string  `expr:"action"`    // such as "opened"; empty for events without
	Label     string  `expr:"label"`     // the one that was added or removed; else empty
	Assignee  string  `expr:"assignee"`  // login of who was assigned or unassigned; else empty
	Milestone string  `expr:"milestone"` // title of the one that was set or removed; else empty
	Comment   Comment `expr:"comment"`   // of issue_comment events; else zero
}

// A Comment is the comment that an event is about.
type Comment struct {
	Body        string `expr:"body"`
	Author      string `expr:"author"` // login
	Association string `expr:"association"`
}

// An Actor is who caused the event.
type Actor struct {
	Login       string `expr:"login"`
	Type        string `expr:"type"` // "User", "Bot" or "Organization"
	Association string `expr:"association"`
}

// A Repo is the repository of the issue.
type Repo struct {
	Owner string `expr:"owner"`
	Name  string `expr:"name"`
}
