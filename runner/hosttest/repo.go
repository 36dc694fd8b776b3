// Package hosttest contains the tests that every [runner.Host] must pass, and a host in memory for
// the tests of programs that embed a runner.
package hosttest

import (
	"maps"
	"slices"
	"time"

	"github.com/org/foreman-action/triage"
)

// A Repo is a repository and its issues at the start of a test. The zero value is an empty repository
// without a name.
type Repo struct {
	Owner, Name string
	Labels      []string // in the repository's spelling
	Milestones  []string // titles of the open milestones
	Types       []string // names of the issue types
	// Permissions are the permissions of accounts by login, as in [runner.Repository]. Other accounts
	// have "none". Accounts with "write" or more can be assigned, and asked for a review.
	Permissions map[string]string
	Teams       []string                  // slugs of the teams that can be asked for a review
	Accounts    map[string]triage.Account // by login; others do not exist
	Issues      []Issue
	// LoseAnswers means that the host loses the answer to each write that posts a comment, after it
	// posted the comment.
	LoseAnswers bool
	// Intents means that the host shows intents in timelines, and holds the changes that are only
	// suggested, as in package effect. Otherwise the host in memory ignores intents.
	Intents bool
	// Now returns the time of changes; nil: time.Now.
	Now func() time.Time
}

// An Issue is an issue or a pull request at the start of a test, with what belongs to it.
type Issue struct {
	// Issue is the issue itself. Its number must be set. An empty State means open, and a zero
	// CreatedAt the time of the start. Labels and milestones are added to the repository.
	triage.Issue

	Thread    []triage.Comment // comments, oldest first; only Author and Body are used
	Reactions []Reaction
	Pull      *Pull // nil: an issue
}

// A Reaction is a reaction of an account to an issue.
type Reaction struct{ Login, Content string }

// A Pull is the part of a pull request that issues do not have. Its fields have the order in which
// the host returns them.
type Pull struct {
	triage.PullRequest

	Files    []triage.ChangedFile
	Messages []string // of commits
	Reviewed []triage.Review
}

// clone returns a copy that shares nothing with the test's value.
func (i Issue) clone() Issue {
	i.Labels, i.Assignees, i.LabelIDs = slices.Clone(i.Labels), slices.Clone(i.Assignees), nil
	i.Thread, i.Reactions = slices.Clone(i.Thread), slices.Clone(i.Reactions)
	if i.Pull != nil {
		p := *i.Pull
		p.RequestedReviewers, p.RequestedTeams = slices.Clone(p.RequestedReviewers), slices.Clone(p.RequestedTeams)
		p.Files, p.Messages, p.Reviewed = slices.Clone(p.Files), slices.Clone(p.Messages), slices.Clone(p.Reviewed)
		i.Pull = &p
	}
	return i
}

// clone returns a copy that shares nothing with the test's value.
func (r Repo) clone() Repo {
	r.Labels, r.Milestones, r.Types, r.Teams = slices.Clone(r.Labels), slices.Clone(r.Milestones), slices.Clone(r.Types), slices.Clone(r.Teams)
	r.Permissions, r.Accounts, r.Issues = maps.Clone(r.Permissions), maps.Clone(r.Accounts), nil
	return r
}
