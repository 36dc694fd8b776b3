package triage

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// A Ref names one issue.
type Ref struct {
	Owner, Repo string
	Number      int
}

// String returns "owner/repo#number".
func (r Ref) String() string { return fmt.Sprintf("%s/%s#%d", r.Owner, r.Repo, r.Number) }

// An Issue is the state of an issue at some time. For a pull request it contains the fields that
// issues and pull requests share.
type Issue struct {
	Number      int    `expr:"number"`
	Title       string `expr:"title"`
	Body        string `expr:"body"`         // empty if it is null
	State       string `expr:"state"`        // "open" or "closed"
	StateReason string `expr:"state_reason"` // "completed", "not_planned", "duplicate", "reopened" or empty
	Author      string `expr:"author"`       // login; empty for a deleted account
	AuthorType  string `expr:"author_type"`  // "User", "Bot" or "Organization"
	// Association is the relation of the author to the repository, such as "MEMBER" or "NONE".
	Association string    `expr:"association"`
	Labels      []string  `expr:"labels"`
	Assignees   []string  `expr:"assignees"` // logins
	Milestone   string    `expr:"milestone"` // title; empty for none
	Type        string    `expr:"type"`      // name of the issue type; empty for none
	Comments    int       `expr:"comments"`  // number of comments
	Locked      bool      `expr:"locked"`
	CreatedAt   time.Time `expr:"created_at"`
	UpdatedAt   time.Time `expr:"updated_at"`
	ClosedAt    time.Time `expr:"closed_at"`    // zero for an open issue
	URL         string    `expr:"url"`          // the web page, for humans
	PullRequest bool      `expr:"pull_request"` // the issue is a pull request; GitHub lists pull requests as issues
	Reactions   Reactions `expr:"reactions"`

	NullBody bool `expr:"-"` // the body is null, not ""
	Draft    bool `expr:"-"` // the pull request is a draft; GitHub reports this also where it lists a pull request as an issue
	Merged   bool `expr:"-"` // the pull request is merged; GitHub reports this where it lists a pull request as an issue

	AuthorID int64 `expr:"-"` // GitHub's number of the author's account; 0 if not reported

	NodeID   string    `expr:"-"` // GitHub's GraphQL id of the issue; empty if not reported
	LabelIDs []LabelID `expr:"-"` // for those Labels whose id was reported
}

// A LabelID is GitHub's GraphQL id of a label. A renamed label keeps its id. A label that was
// deleted and created again has a new one.
type LabelID struct {
	Name string // of the label
	ID   string // not empty
}

// Reactions counts the reactions to an issue. The JSON names are GitHub's.
type Reactions struct {
	Total      int `expr:"total"       json:"total_count"`
	ThumbsUp   int `expr:"thumbs_up"   json:"+1"`
	ThumbsDown int `expr:"thumbs_down" json:"-1"`
	Laugh      int `expr:"laugh"       json:"laugh"`
	Hooray     int `expr:"hooray"      json:"hooray"`
	Confused   int `expr:"confused"    json:"confused"`
	Heart      int `expr:"heart"       json:"heart"`
	Rocket     int `expr:"rocket"      json:"rocket"`
	Eyes       int `expr:"eyes"        json:"eyes"`
}

// A PullRequest contains the fields that only pull requests have. The zero value means that there
// is none.
type PullRequest struct {
	Head         string `expr:"head"` // name of the branch to be merged
	Base         string `expr:"base"` // name of the branch to merge into
	Draft        bool   `expr:"draft"`
	Merged       bool   `expr:"merged"`
	ChangedFiles int    `expr:"changed_files"`
	Additions    int    `expr:"additions"` // lines
	Deletions    int    `expr:"deletions"` // lines
	Commits      int    `expr:"commits"`
	// RequestedReviewers are the logins of people who were asked for a review and have not given
	// one since. RequestedTeams are the slugs of teams that were asked, as in the teams' URLs.
	RequestedReviewers []string `expr:"requested_reviewers"`
	RequestedTeams     []string `expr:"requested_teams"`

	// Shared contains the fields that the pull request shares with issues, and its JSON. It is zero if
	// the source did not report them, and in a [Delivery], which has them in its Issue.
	Shared Snapshot `expr:"-"`
}

// A Comment is a comment on an issue. Fields that the source does not report are empty.
type Comment struct {
	Body        string `expr:"body"`
	Author      string `expr:"author"`      // login; empty for a deleted account
	Association string `expr:"association"` // relation of the author to the repository

	AuthorType string    `expr:"-"` // as in Actor; empty in an event
	ID         int64     `expr:"-"`
	NodeID     string    `expr:"-"` // GraphQL id; empty in an event
	Hidden     bool      `expr:"-"` // shown only after a click, such as an outdated one
	URL        string    `expr:"-"` // the web page, for humans
	CreatedAt  time.Time `expr:"-"`
}

// An Actor is an account that did something.
type Actor struct {
	Login       string `expr:"login"`       // empty for a deleted account
	Type        string `expr:"type"`        // "User", "Bot" or "Organization"; empty when not reported
	Association string `expr:"association"` // relation to the repository; empty if not reported
}

// An Account is an account of a person, an organization or a program.
type Account struct {
	ID        int64  // GitHub's number, which stays the same when the account is renamed
	Type      string // as in Actor
	CreatedAt time.Time
}

// A Repo is a repository.
type Repo struct {
	Owner string `expr:"owner"`
	Name  string `expr:"name"`
}

// A ChangedFile is a file that a pull request changes.
type ChangedFile struct {
	Path   string
	Before string // path before the file was moved; empty if it was not moved
}

// A Review is a review of a pull request.
type Review struct {
	Author      string // login; empty for a deleted account
	Association string // relation of the author to the repository
	State       string // "APPROVED", "CHANGES_REQUESTED", "COMMENTED", "DISMISSED" or "PENDING"
}

// A Reaction is an account's reaction to an issue or a comment.
type Reaction struct {
	Actor     string // login; empty for a deleted account
	ActorType string // "User", "Bot" or "Organization"
	At        time.Time
}

// A Snapshot is an issue together with the JSON that it was parsed from.
type Snapshot struct {
	Issue `expr:"-"`

	// Raw is the issue in GitHub's form, which agents receive. If it is empty, they receive the fields
	// of Issue in that form.
	Raw json.RawMessage `expr:"-"`
}

// IsMaintainer reports whether an account with this association may label and assign issues.
func IsMaintainer(association string) bool {
	return association == "OWNER" || association == "MEMBER" || association == "COLLABORATOR"
}

// ParseIssue decodes an issue in the format of GitHub's REST API and webhooks. Only the number is
// required. Raw is data with invalid UTF-8 replaced.
func ParseIssue(data []byte) (Snapshot, error) {
	data = bytes.ToValidUTF8(data, []byte("\uFFFD"))
	var w wireIssue
	if err := json.Unmarshal(data, &w); err != nil {
		return Snapshot{}, fmt.Errorf("decode issue: %w", err)
	}
	if w.Number <= 0 {
		return Snapshot{}, errors.New("decode issue: it has no number")
	}
	return Snapshot{w.issue(), data}, nil
}

// wireIssue lists the fields that are read. Pointers mark fields that may be null.
type wireIssue struct {
	NodeID      string          `json:"node_id"`
	Number      int             `json:"number"`
	Title       string          `json:"title"`
	Body        *string         `json:"body"`
	State       string          `json:"state"`
	StateReason *string         `json:"state_reason"`
	User        *wireUser       `json:"user"`
	Association string          `json:"author_association"`
	Labels      []wireLabel     `json:"labels"`
	Assignees   []wireUser      `json:"assignees"`
	Milestone   *wireTitle      `json:"milestone"`
	Type        *wireName       `json:"type"`
	Comments    int             `json:"comments"`
	Locked      bool            `json:"locked"`
	CreatedAt   time.Time       `json:"created_at"`
	UpdatedAt   time.Time       `json:"updated_at"`
	ClosedAt    *time.Time      `json:"closed_at"`
	HTMLURL     string          `json:"html_url"`
	PullRequest json.RawMessage `json:"pull_request"`
	Draft       bool            `json:"draft"`
	Reactions   Reactions       `json:"reactions"`
}

type wireTitle struct {
	Title string `json:"title"`
}

type wireName struct {
	Name string `json:"name"`
}

func (w wireIssue) issue() Issue {
	i := Issue{
		NodeID: w.NodeID, Number: w.Number, Title: w.Title, State: w.State, Association: w.Association,
		Comments: w.Comments, Locked: w.Locked, CreatedAt: w.CreatedAt, UpdatedAt: w.UpdatedAt,
		URL: w.HTMLURL, Reactions: w.Reactions,
		NullBody:    w.Body == nil,
		Draft:       w.Draft,
		PullRequest: len(w.PullRequest) > 0 && string(w.PullRequest) != "null",
		Merged:      merged(w.PullRequest),
	}
	if w.Body != nil {
		i.Body = *w.Body
	}
	if w.ClosedAt != nil {
		i.ClosedAt = *w.ClosedAt
	}
	if w.StateReason != nil {
		i.StateReason = *w.StateReason
	}
	if w.User != nil {
		i.Author, i.AuthorType, i.AuthorID = w.User.Login, w.User.Type, w.User.ID
	}
	if w.Milestone != nil {
		i.Milestone = w.Milestone.Title
	}
	if w.Type != nil {
		i.Type = w.Type.Name
	}
	for _, l := range w.Labels {
		i.Labels = append(i.Labels, l.Name)
		if l.NodeID != "" {
			i.LabelIDs = append(i.LabelIDs, LabelID{l.Name, l.NodeID})
		}
	}
	for _, u := range w.Assignees {
		i.Assignees = append(i.Assignees, u.Login)
	}
	return i
}

// merged reports whether the field pull_request of an issue has the time of a merge.
func merged(pull json.RawMessage) bool {
	var w struct {
		MergedAt *time.Time `json:"merged_at"`
	}
	return json.Unmarshal(pull, &w) == nil && w.MergedAt != nil
}

type wireUser struct {
	ID    int64  `json:"id"`
	Login string `json:"login"`
	Type  string `json:"type"`
}

// wireLabel is a label in one of the two forms that GitHub documents: an object, or its name alone.
type wireLabel struct {
	Name   string `json:"name"`
	NodeID string `json:"node_id,omitempty"`
}

// UnmarshalJSON decodes an object or a name.
func (l *wireLabel) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		return json.Unmarshal(data, &l.Name)
	}
	var o struct {
		Name   string `json:"name"`
		NodeID string `json:"node_id"`
	}
	err := json.Unmarshal(data, &o)
	l.Name, l.NodeID = o.Name, o.NodeID
	return err
}

// wirePull lists the fields that only pull requests have.
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
	// Reviewers and Teams are the people and teams that were asked for a review.
	Reviewers []wireUser `json:"requested_reviewers"`
	Teams     []struct {
		Slug string `json:"slug"`
	} `json:"requested_teams"`
}

// ParsePull decodes a pull request in the format of GitHub's REST API and webhooks. The Snapshot
// has the fields that it shares with issues. It fails as [ParseIssue] does.
func ParsePull(data []byte) (Snapshot, PullRequest, error) {
	issue, err := ParseIssue(data)
	if err != nil {
		return Snapshot{}, PullRequest{}, err
	}
	var w wirePull
	if err := json.Unmarshal(issue.Raw, &w); err != nil {
		return Snapshot{}, PullRequest{}, fmt.Errorf("decode pull request: %w", err)
	}
	issue.PullRequest, issue.Merged = true, w.Merged
	p := PullRequest{
		Head: w.Head.Ref, Base: w.Base.Ref, Draft: w.Draft, Merged: w.Merged, ChangedFiles: w.ChangedFiles,
		Additions: w.Additions, Deletions: w.Deletions, Commits: w.Commits,
	}
	for _, u := range w.Reviewers {
		p.RequestedReviewers = append(p.RequestedReviewers, u.Login)
	}
	for _, t := range w.Teams {
		p.RequestedTeams = append(p.RequestedTeams, t.Slug)
	}
	return issue, p, nil
}
