package runner

import (
	"encoding/json"
	"fmt"
)

// The events of pull requests. Rules know both by the name of the first.
const (
	EventPullRequest       = "pull_request"
	EventPullRequestTarget = "pull_request_target"
)

// A Pull is what a pull request has besides what an issue has. Its texts are hostile.
type Pull struct {
	Head         string // name of the branch that is to be merged
	Base         string // name of the branch that it is to be merged into
	Draft        bool
	Merged       bool
	ChangedFiles int
	Additions    int // lines
	Deletions    int // lines
	Commits      int
}

// wirePull lists what is read of a pull request besides what is read of an issue.
type wirePull struct {
	Head struct {
		Ref string `json:"ref"`
	} `json:"head"`
	Base struct {
		Ref string `json:"ref"`
	} `json:"base"`
	Draft        bool `json:"draft"`
	Merged       bool `json:"merged"`
	ChangedFiles int  `json:"changed_files"`
	Additions    int  `json:"additions"`
	Deletions    int  `json:"deletions"`
	Commits      int  `json:"commits"`
}

// setPull reads the pull request of an event, which counts as an issue too.
func (e *Event) setPull(raw json.RawMessage) error {
	if len(raw) == 0 || string(raw) == "null" {
		return fmt.Errorf("the %s event carries no pull request", e.Name)
	}
	issue, err := ParseIssue(raw)
	if err != nil {
		return err
	}
	var w wirePull
	if err := json.Unmarshal(raw, &w); err != nil {
		return fmt.Errorf("decode pull request: %w", err)
	}
	issue.PullRequest = true
	e.Issue, e.Number = &issue, issue.Number
	e.Pull = &Pull{
		Head: w.Head.Ref, Base: w.Base.Ref, Draft: w.Draft, Merged: w.Merged, ChangedFiles: w.ChangedFiles,
		Additions: w.Additions, Deletions: w.Deletions, Commits: w.Commits,
	}
	return nil
}

// happened reports whether the event tells of something that somebody did on the issue
// or the pull request that it carries, so that it says when that changed last.
func (e Event) happened() bool {
	switch e.Name {
	case EventIssues, EventIssueComment, EventPullRequest, EventPullRequestTarget:
		return true
	}
	return false
}

// ruleName is the event's name as rules know it.
func (e Event) ruleName() string {
	if e.Name == EventPullRequestTarget {
		return EventPullRequest
	}
	return e.Name
}
