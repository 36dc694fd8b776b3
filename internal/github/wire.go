package github

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/org/foreman-action/triage"
)

// A comment is a comment in GitHub's JSON.
type comment struct {
	ID        int64           `json:"id"`
	NodeID    string          `json:"node_id"`
	URL       string          `json:"html_url"`
	Issue     string          `json:"issue_url"`
	Body      string          `json:"body"`
	CreatedAt time.Time       `json:"created_at"`
	User      *login          `json:"user"`      // null for a deleted account
	Minimized json.RawMessage `json:"minimized"` // null, or missing, for a visible comment
}

type login struct {
	Login string `json:"login"`
	Type  string `json:"type"`
}

func (c comment) comment() triage.Comment {
	out := triage.Comment{ID: c.ID, NodeID: c.NodeID, Hidden: len(c.Minimized) > 0 && string(c.Minimized) != "null", URL: c.URL, Body: c.Body, CreatedAt: c.CreatedAt}
	if c.User != nil {
		out.Author, out.AuthorType = c.User.Login, c.User.Type
	}
	return out
}

// A reaction is a reaction in GitHub's JSON.
type reaction struct {
	Content string    `json:"content"`
	At      time.Time `json:"created_at"`
	User    *struct {
		Login string `json:"login"`
		Type  string `json:"type"`
	} `json:"user"` // null for a deleted account
}

func (r reaction) reaction() triage.Reaction {
	out := triage.Reaction{At: r.At}
	if r.User != nil {
		out.Actor, out.ActorType = r.User.Login, r.User.Type
	}
	return out
}

// issuePath returns the path of an issue, followed by below.
func issuePath(ref triage.Ref, below string) string {
	return fmt.Sprintf("repos/%s/%s/issues/%d%s", ref.Owner, ref.Repo, ref.Number, below)
}

// commentPath returns the path of a comment.
func commentPath(ref triage.Ref, id int64) string {
	return fmt.Sprintf("repos/%s/%s/issues/comments/%d", ref.Owner, ref.Repo, id)
}
