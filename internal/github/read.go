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

	gh "github.com/google/go-github/v62/github"

	"github.com/org/foreman-action/runner"
)

const (
	pageSize = 100
	maxPages = 4
)

// Issue returns the issue as GitHub's JSON. See [runner.Host].
func (c *Client) Issue(ctx context.Context, ref runner.Ref) (json.RawMessage, error) {
	o := onIssue("read issue", ref)
	o.need = needIssuesRead
	var raw json.RawMessage
	if err := c.request(ctx, o, http.MethodGet, issuePath(ref, ""), nil, &raw); err != nil {
		return nil, err
	}
	if len(raw) == 0 || raw[0] != '{' {
		return nil, fmt.Errorf("%s: the answer is not a JSON object", o)
	}
	return raw, nil
}

// Label returns a label's name as the repository spells it. See [runner.Host].
func (c *Client) Label(ctx context.Context, ref runner.Ref, name string) (string, error) {
	o := lookUp(fmt.Sprintf("look up label %q for", clip(name, 100)), ref)
	if !segment(name) {
		return "", fmt.Errorf("%s: %w", o, runner.ErrNotFound)
	}
	var label *gh.Label
	err := c.do(ctx, o, func(ctx context.Context) (err error) {
		label, _, err = c.gh.Issues.GetLabel(ctx, ref.Owner, ref.Repo, url.PathEscape(name))
		return err
	})
	if err != nil {
		return "", err
	}
	if !strings.EqualFold(label.GetName(), name) {
		// A label that was renamed answers under its new name; it is another one.
		return "", fmt.Errorf("%s: %w: GitHub answers with %q", o, runner.ErrNotFound, clip(label.GetName(), 100))
	}
	return label.GetName(), nil
}

// Comments returns the issue's comments. See [runner.Host].
func (c *Client) Comments(ctx context.Context, ref runner.Ref, since time.Time) ([]runner.Comment, error) {
	o := onIssue("list comments of", ref)
	o.need = needIssuesRead
	opts := &gh.IssueListCommentsOptions{ListOptions: gh.ListOptions{PerPage: pageSize}}
	if !since.IsZero() {
		since = since.UTC()
		opts.Since = &since
	}
	ctx = withBudget(ctx)
	var list []runner.Comment
	for page := 1; page <= maxPages && page > 0; {
		opts.Page = page
		err := c.do(ctx, o, func(ctx context.Context) error {
			comments, resp, err := c.gh.Issues.ListComments(ctx, ref.Owner, ref.Repo, ref.Number, opts)
			if err != nil {
				return err
			}
			for _, comment := range comments {
				list = append(list, toComment(comment))
			}
			page = next(page, resp)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}

// next returns the number of the page after this one, 0 when it was the last.
func next(page int, resp *gh.Response) int {
	if resp.NextPage == 0 {
		return 0
	}
	return page + 1
}

func toComment(c *gh.IssueComment) runner.Comment {
	return runner.Comment{
		ID: c.GetID(), URL: c.GetHTMLURL(), Author: c.GetUser().GetLogin(),
		Body: c.GetBody(), CreatedAt: c.GetCreatedAt().Time,
	}
}

// milestone returns the number of the open milestone with that title: the same
// title, or else the same but for case.
func (c *Client) milestone(ctx context.Context, ref runner.Ref, title string) (int, error) {
	o := lookUp(fmt.Sprintf("look up milestone %q for", clip(title, 100)), ref)
	opts := &gh.MilestoneListOptions{State: "open", ListOptions: gh.ListOptions{PerPage: pageSize}}
	exact, similar := 0, 0
	for page := 1; page <= maxPages && page > 0 && exact == 0; {
		opts.Page = page
		err := c.do(ctx, o, func(ctx context.Context) error {
			list, resp, err := c.gh.Issues.ListMilestones(ctx, ref.Owner, ref.Repo, opts)
			if err != nil {
				return err
			}
			for _, m := range list {
				switch {
				case m.GetTitle() == title:
					exact = m.GetNumber()
				case similar == 0 && strings.EqualFold(m.GetTitle(), title):
					similar = m.GetNumber()
				}
			}
			page = next(page, resp)
			return nil
		})
		if err != nil {
			return 0, err
		}
	}
	if exact == 0 && similar == 0 {
		return 0, fmt.Errorf("%s: %w", o, runner.ErrNotFound)
	}
	if exact == 0 {
		return similar, nil
	}
	return exact, nil
}

// issueID returns the id, not the number, of an issue that another is a duplicate of.
func (c *Client) issueID(ctx context.Context, ref runner.Ref) (int64, error) {
	o := lookUp("look up issue", ref)
	var issue struct {
		ID          int64           `json:"id"`
		PullRequest json.RawMessage `json:"pull_request"`
	}
	if err := c.request(ctx, o, http.MethodGet, issuePath(ref, ""), nil, &issue); err != nil {
		return 0, err
	}
	if len(issue.PullRequest) > 0 && string(issue.PullRequest) != "null" {
		return 0, fmt.Errorf("%s: %w: it is a pull request", o, runner.ErrNotFound)
	}
	if issue.ID <= 0 {
		return 0, fmt.Errorf("%s: %w", o, errors.New("the answer has no id"))
	}
	return issue.ID, nil
}

// issuePath returns the path of an issue or of something below it.
func issuePath(ref runner.Ref, below string) string {
	return fmt.Sprintf("repos/%s/%s/issues/%d%s", ref.Owner, ref.Repo, ref.Number, below)
}

// segment reports whether a name can be one segment of a path. Dots alone cannot:
// the way to GitHub would take them out, and what is left of the path to remove a
// label named "." is the one that removes all labels.
func segment(name string) bool { return name != "" && name != "." && name != ".." }
