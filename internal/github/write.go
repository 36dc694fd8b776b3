package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	gh "github.com/google/go-github/v62/github"

	"github.com/org/foreman-action/runner"
)

// AddLabels adds labels to the issue; no names is no call. See [runner.Host].
func (c *Client) AddLabels(ctx context.Context, ref runner.Ref, names []string) error {
	if len(names) == 0 {
		return nil
	}
	in := struct {
		Labels []string `json:"labels"`
	}{names}
	return c.request(ctx, onIssue("add labels to", ref), http.MethodPost, issuePath(ref, "/labels"), in, nil)
}

// RemoveLabel takes a label off the issue. See [runner.Host].
func (c *Client) RemoveLabel(ctx context.Context, ref runner.Ref, name string) error {
	o := onIssue(fmt.Sprintf("remove label %q from", clip(name, 100)), ref)
	if !segment(name) {
		return fmt.Errorf("%s: %w", o, errors.New("the name cannot be part of a path"))
	}
	err := c.request(ctx, o, http.MethodDelete, issuePath(ref, "/labels/"+url.PathEscape(name)), nil, nil)
	if a, ok := errors.AsType[*answerError](err); ok &&
		a.status == http.StatusNotFound && strings.EqualFold(a.message, "Label does not exist") {
		return nil
	}
	return err
}

// CreateComment posts a comment. See [runner.Host].
func (c *Client) CreateComment(ctx context.Context, ref runner.Ref, body string) (runner.Comment, error) {
	return c.comment(ctx, onIssue("comment on", ref), func(ctx context.Context) (*gh.IssueComment, *gh.Response, error) {
		return c.gh.Issues.CreateComment(ctx, ref.Owner, ref.Repo, ref.Number, &gh.IssueComment{Body: &body})
	})
}

// UpdateComment replaces the body of a comment; ErrNotFound when the comment is not
// there. See [runner.Host].
func (c *Client) UpdateComment(ctx context.Context, ref runner.Ref, id int64, body string) (runner.Comment, error) {
	o := onIssue(fmt.Sprintf("update comment %d of", id), ref)
	o.absent = runner.ErrNotFound
	return c.comment(ctx, o, func(ctx context.Context) (*gh.IssueComment, *gh.Response, error) {
		return c.gh.Issues.EditComment(ctx, ref.Owner, ref.Repo, id, &gh.IssueComment{Body: &body})
	})
}

func (c *Client) comment(ctx context.Context, o op,
	call func(context.Context) (*gh.IssueComment, *gh.Response, error),
) (runner.Comment, error) {
	var comment *gh.IssueComment
	err := c.do(ctx, o, func(ctx context.Context) (err error) {
		comment, _, err = call(ctx)
		if err == nil && comment.GetID() == 0 {
			err = errors.New("it has no id")
		}
		return err
	})
	if err != nil {
		return runner.Comment{}, err
	}
	return toComment(comment), nil
}

// CloseIssue closes the issue. See [runner.Host].
func (c *Client) CloseIssue(ctx context.Context, ref runner.Ref, reason string) error {
	in := &gh.IssueRequest{State: gh.String("closed")}
	if reason != "" {
		in.StateReason = &reason
	}
	return c.edit(ctx, onIssue("close", ref), in)
}

// ReopenIssue opens the issue again. See [runner.Host].
func (c *Client) ReopenIssue(ctx context.Context, ref runner.Ref) error {
	return c.edit(ctx, onIssue("reopen", ref), &gh.IssueRequest{State: gh.String("open")})
}

func (c *Client) edit(ctx context.Context, o op, in *gh.IssueRequest) error {
	return c.do(ctx, o, func(ctx context.Context) error {
		_, _, err := c.gh.Issues.Edit(ctx, o.ref.Owner, o.ref.Repo, o.ref.Number, in)
		return err
	})
}

// MarkDuplicate closes the issue as a duplicate. ErrNotFound when the other is not
// there or is a pull request. See [runner.Host].
func (c *Client) MarkDuplicate(ctx context.Context, ref runner.Ref, of int) error {
	o := onIssue(fmt.Sprintf("close as a duplicate of #%d", of), ref)
	if err := checkRef(ref, false); err != nil {
		return fmt.Errorf("%s: %w", o, err)
	}
	if of == ref.Number {
		return fmt.Errorf("%s: %w", o, errors.New("an issue is no duplicate of itself"))
	}
	ctx = withBudget(ctx)
	id, err := c.issueID(ctx, runner.Ref{Owner: ref.Owner, Repo: ref.Repo, Number: of})
	if err != nil {
		return fmt.Errorf("%s: %w", o, err)
	}
	in := struct {
		State  string `json:"state"`
		Reason string `json:"state_reason"`
		Of     int64  `json:"duplicate_issue_id"`
	}{"closed", "duplicate", id}
	return c.request(ctx, o, http.MethodPatch, issuePath(ref, ""), in, nil)
}

// Assign adds assignees; no logins is no call. See [runner.Host].
func (c *Client) Assign(ctx context.Context, ref runner.Ref, logins []string) ([]string, error) {
	if len(logins) == 0 {
		return nil, nil
	}
	var issue *gh.Issue
	err := c.do(ctx, onIssue("assign", ref), func(ctx context.Context) (err error) {
		issue, _, err = c.gh.Issues.AddAssignees(ctx, ref.Owner, ref.Repo, ref.Number, logins)
		return err
	})
	if err != nil {
		return nil, err
	}
	var accepted []string
	for _, user := range issue.Assignees {
		if slices.ContainsFunc(logins, func(l string) bool { return strings.EqualFold(l, user.GetLogin()) }) {
			accepted = append(accepted, user.GetLogin())
		}
	}
	return accepted, nil
}

// Unassign removes assignees; no logins is no call. See [runner.Host].
func (c *Client) Unassign(ctx context.Context, ref runner.Ref, logins []string) error {
	if len(logins) == 0 {
		return nil
	}
	return c.do(ctx, onIssue("unassign", ref), func(ctx context.Context) error {
		_, _, err := c.gh.Issues.RemoveAssignees(ctx, ref.Owner, ref.Repo, ref.Number, logins)
		return err
	})
}

// SetMilestone sets an open milestone by its title: the first of that spelling, else
// the first that differs in case only, among 400. See [runner.Host].
func (c *Client) SetMilestone(ctx context.Context, ref runner.Ref, title string) error {
	o := onIssue("set the milestone of", ref)
	ctx = withBudget(ctx)
	number, err := c.milestone(ctx, ref, title)
	if err != nil {
		return fmt.Errorf("%s: %w", o, err)
	}
	return c.edit(ctx, o, &gh.IssueRequest{Milestone: &number})
}

// SetType sets the issue type by its name. See [runner.Host].
func (c *Client) SetType(ctx context.Context, ref runner.Ref, name string) error {
	in := struct {
		Type string `json:"type"`
	}{name}
	return c.request(ctx, onIssue("set the type of", ref), http.MethodPatch, issuePath(ref, ""), in, nil)
}

// Lock locks the conversation. See [runner.Host].
func (c *Client) Lock(ctx context.Context, ref runner.Ref, reason string) error {
	var opts *gh.LockIssueOptions
	if reason != "" {
		opts = &gh.LockIssueOptions{LockReason: reason}
	}
	return c.do(ctx, onIssue("lock", ref), func(ctx context.Context) error {
		_, err := c.gh.Issues.Lock(ctx, ref.Owner, ref.Repo, ref.Number, opts)
		return err
	})
}

// React adds a reaction to the issue. See [runner.Host].
func (c *Client) React(ctx context.Context, ref runner.Ref, content string) error {
	return c.do(ctx, onIssue("react to", ref), func(ctx context.Context) error {
		_, _, err := c.gh.Reactions.CreateIssueReaction(ctx, ref.Owner, ref.Repo, ref.Number, content)
		return err
	})
}
