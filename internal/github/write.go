package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/org/foreman-action/triage"
)

// AddLabels adds labels to the issue; no names is no call. See [runner.Host].
func (c *Client) AddLabels(ctx context.Context, ref triage.Ref, names []string) error {
	if len(names) == 0 {
		return nil
	}
	in := struct {
		Labels []string `json:"labels"`
	}{names}
	return c.request(ctx, onIssue("add labels to", ref), call{http.MethodPost, issuePath(ref, "/labels"), in, nil})
}

// RemoveLabel takes a label off the issue. See [runner.Host].
func (c *Client) RemoveLabel(ctx context.Context, ref triage.Ref, name string) error {
	o := onIssue(fmt.Sprintf("remove label %q from", clip(name, 100)), ref)
	if !segment(name) {
		return fmt.Errorf("%s: %w", o, errors.New("the name cannot be part of a path"))
	}
	err := c.request(ctx, o, call{http.MethodDelete, issuePath(ref, "/labels/"+url.PathEscape(name)), nil, nil})
	if a, ok := errors.AsType[*answerError](err); ok &&
		a.status == http.StatusNotFound && strings.EqualFold(a.message, "Label does not exist") {
		return nil
	}
	return err
}

// CreateComment posts a comment. See [runner.Host].
func (c *Client) CreateComment(ctx context.Context, ref triage.Ref, body string) (triage.Comment, error) {
	return c.comment(ctx, onIssue("comment on", ref), call{method: http.MethodPost, path: issuePath(ref, "/comments")}, body)
}

// UpdateComment replaces the body of a comment; ErrNotFound when the comment is not
// there. See [runner.Host].
func (c *Client) UpdateComment(ctx context.Context, ref triage.Ref, id int64, body string) (triage.Comment, error) {
	o := onIssue(fmt.Sprintf("update comment %d of", id), ref)
	o.absent = triage.ErrNotFound
	path := fmt.Sprintf("repos/%s/%s/issues/comments/%d", ref.Owner, ref.Repo, id)
	return c.comment(ctx, o, call{method: http.MethodPatch, path: path}, body)
}

// comment writes a comment's body and returns the comment as GitHub has it now.
func (c *Client) comment(ctx context.Context, o op, to call, body string) (triage.Comment, error) {
	var out comment
	to.in, to.out = struct {
		Body string `json:"body"`
	}{body}, &out
	err := c.do(ctx, o, func(ctx context.Context) error {
		_, err := c.exchange(ctx, to)
		if err == nil && out.ID == 0 {
			err = errors.New("it has no id")
		}
		return err
	})
	if err != nil {
		return triage.Comment{}, err
	}
	return out.comment(), nil
}

// An edit is what of an issue is to be changed; what is empty stays.
type edit struct {
	State       string `json:"state,omitempty"`
	StateReason string `json:"state_reason,omitempty"`
	DuplicateOf int64  `json:"duplicate_issue_id,omitempty"`
	Milestone   int    `json:"milestone,omitempty"`
	Type        string `json:"type,omitempty"`
}

func (c *Client) edit(ctx context.Context, o op, in edit) error {
	return c.request(ctx, o, call{http.MethodPatch, issuePath(o.ref, ""), in, nil})
}

// CloseIssue closes the issue. See [runner.Host].
func (c *Client) CloseIssue(ctx context.Context, ref triage.Ref, reason string) error {
	return c.edit(ctx, onIssue("close", ref), edit{State: "closed", StateReason: reason})
}

// ReopenIssue opens the issue again. See [runner.Host].
func (c *Client) ReopenIssue(ctx context.Context, ref triage.Ref) error {
	return c.edit(ctx, onIssue("reopen", ref), edit{State: "open"})
}

// MarkDuplicate closes the issue as a duplicate. ErrNotFound when the other is not
// there or is a pull request. See [runner.Host].
func (c *Client) MarkDuplicate(ctx context.Context, ref triage.Ref, of int) error {
	o := onIssue(fmt.Sprintf("close as a duplicate of #%d", of), ref)
	if err := checkRef(ref, false); err != nil {
		return fmt.Errorf("%s: %w", o, err)
	}
	if of == ref.Number {
		return fmt.Errorf("%s: %w", o, errors.New("an issue is no duplicate of itself"))
	}
	ctx = withBudget(ctx)
	id, err := c.issueID(ctx, triage.Ref{Owner: ref.Owner, Repo: ref.Repo, Number: of})
	if err != nil {
		return fmt.Errorf("%s: %w", o, err)
	}
	return c.edit(ctx, o, edit{State: "closed", StateReason: "duplicate", DuplicateOf: id})
}

// assignees is the body of the requests about assignees.
type assignees struct {
	Assignees []string `json:"assignees"`
}

// Assign adds assignees; no logins is no call. See [runner.Host].
func (c *Client) Assign(ctx context.Context, ref triage.Ref, logins []string) ([]string, error) {
	if len(logins) == 0 {
		return nil, nil
	}
	var issue struct {
		Assignees []login `json:"assignees"`
	}
	err := c.request(ctx, onIssue("assign", ref), call{http.MethodPost, issuePath(ref, "/assignees"), assignees{logins}, &issue})
	if err != nil {
		return nil, err
	}
	var accepted []string
	for _, user := range issue.Assignees {
		if slices.ContainsFunc(logins, func(l string) bool { return strings.EqualFold(l, user.Login) }) {
			accepted = append(accepted, user.Login)
		}
	}
	return accepted, nil
}

// Unassign removes assignees; no logins is no call. See [runner.Host].
func (c *Client) Unassign(ctx context.Context, ref triage.Ref, logins []string) error {
	if len(logins) == 0 {
		return nil
	}
	return c.request(ctx, onIssue("unassign", ref), call{http.MethodDelete, issuePath(ref, "/assignees"), assignees{logins}, nil})
}

// SetMilestone sets an open milestone by its title: the first of that spelling, else
// the first that differs in case only, among 400. See [runner.Host].
func (c *Client) SetMilestone(ctx context.Context, ref triage.Ref, title string) error {
	o := onIssue("set the milestone of", ref)
	ctx = withBudget(ctx)
	number, err := c.milestone(ctx, ref, title)
	if err != nil {
		return fmt.Errorf("%s: %w", o, err)
	}
	return c.edit(ctx, o, edit{Milestone: number})
}

// SetType sets the issue type by its name. See [runner.Host].
func (c *Client) SetType(ctx context.Context, ref triage.Ref, name string) error {
	return c.edit(ctx, onIssue("set the type of", ref), edit{Type: name})
}

// Lock locks the conversation. See [runner.Host].
func (c *Client) Lock(ctx context.Context, ref triage.Ref, reason string) error {
	var in any
	if reason != "" {
		in = struct {
			Reason string `json:"lock_reason"`
		}{reason}
	}
	return c.request(ctx, onIssue("lock", ref), call{http.MethodPut, issuePath(ref, "/lock"), in, nil})
}

// React adds a reaction to the issue. See [runner.Host].
func (c *Client) React(ctx context.Context, ref triage.Ref, content string) error {
	in := struct {
		Content string `json:"content"`
	}{content}
	return c.request(ctx, onIssue("react to", ref), call{http.MethodPost, issuePath(ref, "/reactions"), in, nil})
}

// ReactToComment adds a reaction to a comment; ErrNotFound when the comment is not
// there. See [runner.Host].
func (c *Client) ReactToComment(ctx context.Context, ref triage.Ref, comment int64, content string) error {
	o := onIssue(fmt.Sprintf("react to comment %d of", comment), ref)
	o.absent = triage.ErrNotFound
	in := struct {
		Content string `json:"content"`
	}{content}
	path := fmt.Sprintf("repos/%s/%s/issues/comments/%d/reactions", ref.Owner, ref.Repo, comment)
	return c.request(ctx, o, call{http.MethodPost, path, in, nil})
}
