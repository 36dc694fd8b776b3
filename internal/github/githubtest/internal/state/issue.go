// Package state is the state of the fake GitHub: repositories with their issues, and the operations
// that change them. It contains nothing about HTTP. Its types are not safe for concurrent use.
package state

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// An Issue is the part of an issue that tests set and read. "Default" below is the value of an
// empty field when a test adds the issue.
type Issue struct {
	Number      int    // default: the next free number
	Title, Body string // default title: "Issue <number>"
	State       string // "open" or "closed"; default: open
	StateReason string // "completed", "not_planned", "duplicate", "reopened" or empty
	DuplicateOf int    // the original issue if this one was closed as a duplicate, else 0
	Labels      []string
	Author      string // default: "octocat"
	Assignees   []string
	Milestone   string // title of the milestone
	Type        string
	Locked      bool
	LockReason  string
	PullRequest bool
	Files       []string          // files that a pull request changes
	Moved       map[string]string // earlier paths of renamed Files
	Commits     []string          // the messages of a pull request's commits
	Reviews     []Review          // of a pull request
	Draft       bool              // of a pull request
	Merged      bool              // of a closed pull request
	Head, Base  string            // branches of a pull request; default: "patch-1" and "main"
	Reviewers   []string          // users who are asked to review a pull request
	Teams       []string          // slugs of teams that are asked to review a pull request
	CreatedAt   time.Time         // default: now
	Comments    []Comment
	Reactions   []Reaction
	Suggestions []Suggestion // the changes that wait for a person
}

// A Comment is a comment on an issue.
type Comment struct {
	ID                   int64
	Author, Body         string
	CreatedAt, UpdatedAt time.Time
	Minimized            string // the reason why the comment is hidden, such as "outdated"; empty: it is visible
	Reactions            []Reaction
}

// A Review is a review of a pull request.
type Review struct {
	Author, State string // such as "APPROVED"
	Association   string // empty: computed as for the author of an issue
}

// A Reaction is a reaction to an issue or a comment.
type Reaction struct {
	Author, Content string
	At              time.Time // default: the time of each request that returns the reaction
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
	Transferred string  // API path of the issue after a transfer, else empty
	Indexed     *Record // outdated state that the search shows; nil: the current state
}

// Visible reports whether the issue was neither deleted nor transferred.
func (i *Record) Visible() bool { return !i.Deleted && i.Transferred == "" }

// Snapshot returns a copy for tests.
func (i *Record) Snapshot() Issue {
	c := i.Issue
	c.Labels = slices.Clone(i.Labels)
	c.Assignees = slices.Clone(i.Assignees)
	c.Reviewers, c.Teams = slices.Clone(i.Reviewers), slices.Clone(i.Teams)
	c.Files, c.Moved = slices.Clone(i.Files), maps.Clone(i.Moved)
	c.Commits, c.Reviews = slices.Clone(i.Commits), slices.Clone(i.Reviews)
	c.Comments = slices.Clone(i.Comments)
	for k := range c.Comments {
		c.Comments[k].Reactions = slices.Clone(c.Comments[k].Reactions)
	}
	c.Reactions, c.Suggestions = slices.Clone(i.Reactions), slices.Clone(i.Suggestions)
	return c
}

// Copy returns a copy that later changes of the issue do not affect.
func (i *Record) Copy() *Record {
	c := *i
	c.Issue, c.Events = i.Snapshot(), slices.Clone(i.Events)
	return &c
}

// Has reports whether the issue has a label.
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
	Reviewer, Team       string    // the user or the slug of the team whose review was requested
	Reason               string    // of a close or a lock
	Body                 string    // of a review
	Dated                time.Time // of a commit: the time on its author's machine
	Comment              int64
	RenamedFrom, Renamed string
	Intent               Intent
}

// Add adds a reaction to a list. It reports whether the reaction is new.
func (r Reaction) Add(list *[]Reaction) bool {
	there := slices.ContainsFunc(*list, func(old Reaction) bool { return old.Author == r.Author && old.Content == r.Content })
	if !there {
		*list = append(*list, r)
	}
	return !there
}

// Same returns a function that compares a string with name, ignoring case.
func Same(name string) func(string) bool {
	return func(s string) bool { return strings.EqualFold(s, name) }
}
