// Package state is the state of the fake GitHub: repositories with their issues, and how they
// change. It knows no requests. Nothing in it is safe for concurrent use.
package state

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// An Issue is an issue as a test sets it up or sees it.
type Issue struct {
	Number      int    // 0 when set up: the next free one
	Title, Body string // an empty title when set up: "Issue <number>"
	State       string // "open" or "closed"; empty when set up: open
	StateReason string // "completed", "not_planned", "duplicate", "reopened" or empty
	DuplicateOf int    // the issue named when it was closed as a duplicate, else 0
	Labels      []string
	Author      string // empty when set up: "octocat"
	Assignees   []string
	Milestone   string // title
	Type        string
	Locked      bool
	LockReason  string
	PullRequest bool
	Files       []string          // that a pull request changes
	Moved       map[string]string // the paths of some of Files before
	Commits     []string          // the messages of a pull request's commits
	Reviews     []Review          // of a pull request
	Draft       bool              // of a pull request
	Merged      bool              // of one that was closed
	Head, Base  string            // its branches; empty when set up: "patch-1" and "main"
	Reviewers   []string          // whose review is asked for
	CreatedAt   time.Time         // zero when set up: now
	Comments    []Comment
	Reactions   []Reaction
}

// A Comment is a comment on an issue.
type Comment struct {
	ID                   int64
	Author, Body         string
	CreatedAt, UpdatedAt time.Time
	Reactions            []Reaction
}

// A Review is a review of a pull request.
type Review struct {
	Author, State string // such as "APPROVED"
	Association   string // empty: that of the author of an issue
}

// A Reaction is a reaction to an issue or a comment.
type Reaction struct {
	Author, Content string
	At              time.Time // zero when set up: when it is asked for
}

// A Record is the server's own record of an issue; Issue is the part that tests see.
type Record struct {
	Issue
	ID          int64
	Updated     time.Time
	Closed      time.Time
	ClosedBy    string
	Events      []Event
	Deleted     bool
	Transferred string  // API path of the new place, else empty
	Indexed     *Record // as the search shows it; nil: as it is
}

// Visible reports whether the issue is still there.
func (i *Record) Visible() bool { return !i.Deleted && i.Transferred == "" }

// Snapshot returns a copy for tests.
func (i *Record) Snapshot() Issue {
	c := i.Issue
	c.Labels = slices.Clone(i.Labels)
	c.Assignees = slices.Clone(i.Assignees)
	c.Reviewers = slices.Clone(i.Reviewers)
	c.Files, c.Moved = slices.Clone(i.Files), maps.Clone(i.Moved)
	c.Commits, c.Reviews = slices.Clone(i.Commits), slices.Clone(i.Reviews)
	c.Comments = slices.Clone(i.Comments)
	for k := range c.Comments {
		c.Comments[k].Reactions = slices.Clone(c.Comments[k].Reactions)
	}
	c.Reactions = slices.Clone(i.Reactions)
	return c
}

// Has reports whether the issue bears a label.
func (i *Record) Has(label string) bool { return slices.ContainsFunc(i.Labels, Same(label)) }

// An Event is one entry of an issue's timeline.
type Event struct {
	ID                   int64
	Kind, Actor          string
	At                   time.Time
	Label                string
	Assignee             string
	Milestone            string
	IssueType, PrevType  string
	Reason               string    // of a close or a lock
	Body                 string    // of a review
	Dated                time.Time // of a commit: the time of its author's machine
	Comment              int64
	RenamedFrom, Renamed string
}

// Add puts a reaction into a list, and reports whether it is new.
func (r Reaction) Add(list *[]Reaction) bool {
	there := slices.ContainsFunc(*list, func(old Reaction) bool { return old.Author == r.Author && old.Content == r.Content })
	if !there {
		*list = append(*list, r)
	}
	return !there
}

// Same returns a test for a name that is equal except for case.
func Same(name string) func(string) bool {
	return func(s string) bool { return strings.EqualFold(s, name) }
}
