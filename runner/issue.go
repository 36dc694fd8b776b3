package runner

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
)

// An Issue is what the executor and the rules know of an issue. Everything in it
// is hostile text.
type Issue struct {
	Number      int
	Title       string
	Body        string // empty for null
	NullBody    bool   // the service said null, not ""
	State       string // "open" or "closed"
	StateReason string // "completed", "not_planned", "duplicate", "reopened" or empty
	Author      string // login; empty for a deleted account
	AuthorType  string // "User", "Bot", …
	Association string // author_association, such as "MEMBER" or "NONE"
	Labels      []string
	Assignees   []string // logins
	Milestone   string   // title
	Type        string   // name of the issue type
	Comments    int      // number of comments
	Locked      bool
	CreatedAt   time.Time
	UpdatedAt   time.Time
	URL         string // for humans
	PullRequest bool   // GitHub lists pull requests as issues; this is one
	Reactions   Reactions

	// Raw is the service's own JSON.
	Raw json.RawMessage
}

// Reactions counts the reactions to an issue, as GitHub names them.
type Reactions struct {
	Total      int `json:"total_count"`
	ThumbsUp   int `json:"+1"`
	ThumbsDown int `json:"-1"`
	Laugh      int `json:"laugh"`
	Hooray     int `json:"hooray"`
	Confused   int `json:"confused"`
	Heart      int `json:"heart"`
	Rocket     int `json:"rocket"`
	Eyes       int `json:"eyes"`
}

// byMaintainer reports whether the author may label and assign.
func (i Issue) byMaintainer() bool {
	return i.Association == "OWNER" || i.Association == "MEMBER" || i.Association == "COLLABORATOR"
}

// ParseIssue decodes an issue as GitHub's REST API and its webhooks write it. The
// number must be there; everything else may be missing.
func ParseIssue(data []byte) (Issue, error) {
	data = bytes.ToValidUTF8(data, []byte("\uFFFD"))
	var w wireIssue
	if err := json.Unmarshal(data, &w); err != nil {
		return Issue{}, fmt.Errorf("decode issue: %w", err)
	}
	if w.Number <= 0 {
		return Issue{}, fmt.Errorf("decode issue: it has no number")
	}
	return w.issue(data), nil
}

// wireIssue lists the fields that are read; pointers mark what may be null.
type wireIssue struct {
	Number      int         `json:"number"`
	Title       string      `json:"title"`
	Body        *string     `json:"body"`
	State       string      `json:"state"`
	StateReason *string     `json:"state_reason"`
	User        *wireUser   `json:"user"`
	Association string      `json:"author_association"`
	Labels      []wireLabel `json:"labels"`
	Assignees   []wireUser  `json:"assignees"`
	Milestone   *struct {
		Title string `json:"title"`
	} `json:"milestone"`
	Type *struct {
		Name string `json:"name"`
	} `json:"type"`
	Comments    int             `json:"comments"`
	Locked      bool            `json:"locked"`
	CreatedAt   time.Time       `json:"created_at"`
	UpdatedAt   time.Time       `json:"updated_at"`
	HTMLURL     string          `json:"html_url"`
	PullRequest json.RawMessage `json:"pull_request"`
	Reactions   Reactions       `json:"reactions"`
}

func (w wireIssue) issue(raw json.RawMessage) Issue {
	i := Issue{
		Number: w.Number, Title: w.Title, State: w.State, Association: w.Association,
		Comments: w.Comments, Locked: w.Locked, CreatedAt: w.CreatedAt, UpdatedAt: w.UpdatedAt,
		URL: w.HTMLURL, Raw: raw, Reactions: w.Reactions,
		NullBody:    w.Body == nil,
		PullRequest: len(w.PullRequest) > 0 && string(w.PullRequest) != "null",
	}
	if w.Body != nil {
		i.Body = *w.Body
	}
	if w.StateReason != nil {
		i.StateReason = *w.StateReason
	}
	if w.User != nil {
		i.Author, i.AuthorType = w.User.Login, w.User.Type
	}
	if w.Milestone != nil {
		i.Milestone = w.Milestone.Title
	}
	if w.Type != nil {
		i.Type = w.Type.Name
	}
	for _, l := range w.Labels {
		i.Labels = append(i.Labels, l.Name)
	}
	for _, u := range w.Assignees {
		i.Assignees = append(i.Assignees, u.Login)
	}
	return i
}

type wireUser struct {
	Login string `json:"login"`
	Type  string `json:"type"`
}

// wireLabel accepts both forms in which GitHub's description lists labels: an
// object and a bare name.
type wireLabel struct{ Name string }

// UnmarshalJSON decodes either form.
func (l *wireLabel) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		return json.Unmarshal(data, &l.Name)
	}
	var o struct {
		Name string `json:"name"`
	}
	err := json.Unmarshal(data, &o)
	l.Name = o.Name
	return err
}
