package github

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/org/foreman-action/triage"
)

const (
	pageSize = 100
	maxPages = 4
	// maxFilePages is all that GitHub lists of the files of a pull request.
	maxFilePages = 30
)

// Issue returns the issue as it is now. See [runner.Issues].
func (c *Client) Issue(ctx context.Context, ref triage.Ref) (triage.Snapshot, error) {
	o := onIssue("read issue", ref)
	o.need = needIssuesRead
	var raw json.RawMessage
	if err := c.request(ctx, o, call{http.MethodGet, issuePath(ref, ""), nil, &raw}); err != nil {
		return triage.Snapshot{}, err
	}
	if len(raw) == 0 || raw[0] != '{' {
		return triage.Snapshot{}, fmt.Errorf("%s: the answer is not a JSON object", o)
	}
	return triage.ParseIssue(raw)
}

// Label returns a label's name as the repository spells it. See [runner.Repository].
func (c *Client) Label(ctx context.Context, ref triage.Ref, name string) (string, error) {
	o := lookUp(fmt.Sprintf("look up label %q for", clip(name, 100)), ref)
	if !segment(name) {
		return "", fmt.Errorf("%s: %w", o, triage.ErrNotFound)
	}
	var label struct {
		Name string `json:"name"`
	}
	path := fmt.Sprintf("repos/%s/%s/labels/%s", ref.Owner, ref.Repo, url.PathEscape(name))
	if err := c.request(ctx, o, call{http.MethodGet, path, nil, &label}); err != nil {
		return "", err
	}
	if !strings.EqualFold(label.Name, name) {
		// A label that was renamed answers under its new name; it is another one.
		return "", fmt.Errorf("%s: %w: GitHub answers with %q", o, triage.ErrNotFound, clip(label.Name, 100))
	}
	return label.Name, nil
}

// Labels returns the names of a repository's labels. ErrTruncated when there are more
// than 2,000, with the first of them; ErrNotFound when there is no such repository, or
// the token does not see it.
func (c *Client) Labels(ctx context.Context, owner, repo string) ([]string, error) {
	o := op{
		what: "list the labels of", ref: triage.Ref{Owner: owner, Repo: repo}, wide: true,
		need: needIssuesRead, absent: triage.ErrNotFound, pages: 20,
	}
	names := []string{}
	var page []struct {
		Name string `json:"name"`
	}
	path := fmt.Sprintf("repos/%s/%s/labels?", owner, repo)
	err := c.pages(withBudget(ctx), o, path, func() any { page = nil; return &page }, func() bool {
		for _, l := range page {
			names = append(names, l.Name)
		}
		return false
	})
	return names, err
}

// Comments returns the issue's comments. See [runner.Issues].
func (c *Client) Comments(ctx context.Context, ref triage.Ref, since time.Time) ([]triage.Comment, error) {
	o := onIssue("list comments of", ref)
	o.need = needIssuesRead
	query := url.Values{}
	if !since.IsZero() {
		query.Set("since", since.UTC().Format(time.RFC3339))
	}
	var list []triage.Comment
	var page []comment
	err := c.pages(withBudget(ctx), o, issuePath(ref, "/comments?")+query.Encode(),
		func() any { page = nil; return &page },
		func() bool {
			for _, c := range page {
				list = append(list, c.comment())
			}
			return false
		})
	if err != nil {
		return nil, err
	}
	return list, nil
}

// Permission returns what an account may do in the repository. See [runner.Repository].
func (c *Client) Permission(ctx context.Context, ref triage.Ref, login string) (string, error) {
	o := lookUp(fmt.Sprintf("look up the permission of %q for", clip(login, 100)), ref)
	if !segment(login) {
		return "none", nil // a deleted account
	}
	var answer struct {
		Permission string `json:"permission"`
		Role       string `json:"role_name"`
	}
	path := fmt.Sprintf("repos/%s/%s/collaborators/%s/permission", ref.Owner, ref.Repo, url.PathEscape(login))
	err := c.request(ctx, o, call{http.MethodGet, path, nil, &answer})
	switch {
	case errors.Is(err, triage.ErrNotFound):
		return "none", nil // nobody of that name
	case err != nil:
		return "", err
	case answer.Role == "maintain" && answer.Permission == "write", answer.Role == "triage" && answer.Permission == "read":
		return answer.Role, nil // the older field knows neither
	}
	return answer.Permission, nil
}

// Files returns the files that a pull request changes. See [runner.Repository].
func (c *Client) Files(ctx context.Context, ref triage.Ref) ([]triage.ChangedFile, error) {
	o := onIssue("list the files of", ref)
	o.need, o.pages = needPullsRead, maxFilePages
	var files []triage.ChangedFile
	var page []struct {
		Filename string `json:"filename"`
		Status   string `json:"status"`
		Previous string `json:"previous_filename"`
	}
	path := fmt.Sprintf("repos/%s/%s/pulls/%d/files?", ref.Owner, ref.Repo, ref.Number)
	err := c.pages(withBudget(ctx), o, path, func() any { page = nil; return &page }, func() bool {
		for _, f := range page {
			if f.Status == "copied" { // the other file stays as it is
				f.Previous = ""
			}
			files = append(files, triage.ChangedFile{Path: f.Filename, Before: f.Previous})
		}
		return false
	})
	return files, err
}

// A comment is what is read of a comment in GitHub's JSON.
type comment struct {
	ID        int64     `json:"id"`
	URL       string    `json:"html_url"`
	Body      string    `json:"body"`
	CreatedAt time.Time `json:"created_at"`
	User      *login    `json:"user"` // null for a deleted account
}

type login struct {
	Login string `json:"login"`
}

func (c comment) comment() triage.Comment {
	out := triage.Comment{ID: c.ID, URL: c.URL, Body: c.Body, CreatedAt: c.CreatedAt}
	if c.User != nil {
		out.Author = c.User.Login
	}
	return out
}

// milestone returns the number of the open milestone with that title: the same
// title, or else the same but for case.
func (c *Client) milestone(ctx context.Context, ref triage.Ref, title string) (int, error) {
	o := lookUp(fmt.Sprintf("look up milestone %q for", clip(title, 100)), ref)
	exact, similar := 0, 0
	var page []struct {
		Number int    `json:"number"`
		Title  string `json:"title"`
	}
	path := fmt.Sprintf("repos/%s/%s/milestones?state=open", ref.Owner, ref.Repo)
	err := c.pages(ctx, o, path, func() any { page = nil; return &page }, func() bool {
		for _, m := range page {
			switch {
			case m.Title == title:
				exact = m.Number
			case similar == 0 && strings.EqualFold(m.Title, title):
				similar = m.Number
			}
		}
		return exact != 0
	})
	if err != nil {
		return 0, err
	}
	if exact == 0 && similar == 0 {
		return 0, fmt.Errorf("%s: %w", o, triage.ErrNotFound)
	}
	if exact == 0 {
		return similar, nil
	}
	return exact, nil
}

// issueID returns the id, not the number, of an issue that another is a duplicate of.
func (c *Client) issueID(ctx context.Context, ref triage.Ref) (int64, error) {
	o := lookUp("look up issue", ref)
	var issue struct {
		ID          int64           `json:"id"`
		PullRequest json.RawMessage `json:"pull_request"`
	}
	if err := c.request(ctx, o, call{http.MethodGet, issuePath(ref, ""), nil, &issue}); err != nil {
		return 0, err
	}
	if len(issue.PullRequest) > 0 && string(issue.PullRequest) != "null" {
		return 0, fmt.Errorf("%s: %w: it is a pull request", o, triage.ErrNotFound)
	}
	if issue.ID <= 0 {
		return 0, fmt.Errorf("%s: %w", o, errors.New("the answer has no id"))
	}
	return issue.ID, nil
}

// issuePath returns the path of an issue or of something below it.
func issuePath(ref triage.Ref, below string) string {
	return fmt.Sprintf("repos/%s/%s/issues/%d%s", ref.Owner, ref.Repo, ref.Number, below)
}

// segment reports whether a name can be one segment of a path. Dots alone cannot:
// the way to GitHub would take them out, and what is left of the path to remove a
// label named "." is the one that removes all labels. Nothing on GitHub has a name as long as
// maxName, and an address with a longer one is refused without a word of what is wrong.
func segment(name string) bool {
	return name != "" && name != "." && name != ".." && len(name) <= maxName
}

const maxName = 1000 // bytes
