package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/org/foreman-action/runner/effect"
	"github.com/org/foreman-action/triage"
)

// Write carries one effect out. See [runner.Issues].
func (c *Client) Write(ctx context.Context, ref triage.Ref, e effect.Effect) (effect.Written, error) {
	var w effect.Written
	var err error
	switch e := e.(type) {
	case effect.AddLabels:
		err = c.addLabels(ctx, ref, e.Names)
	case effect.RemoveLabel:
		err = c.removeLabel(ctx, ref, e.Name)
	case effect.Comment:
		if e.ID == 0 {
			w.Comment, err = c.createComment(ctx, ref, e.Body)
		} else {
			w.Comment, err = c.updateComment(ctx, ref, e.ID, e.Body)
		}
	case effect.Close:
		err = c.edit(ctx, onIssue("close", ref), edit{State: "closed", StateReason: e.Reason})
	case effect.Reopen:
		err = c.edit(ctx, onIssue("reopen", ref), edit{State: "open"})
	case effect.MarkDuplicate:
		err = c.markDuplicate(ctx, ref, e.Of)
	case effect.Assign:
		w.Accepted, err = c.assign(ctx, ref, e.Logins)
	case effect.Unassign:
		err = c.unassign(ctx, ref, e.Logins)
	case effect.SetMilestone:
		err = c.setMilestone(ctx, ref, e.Title)
	case effect.SetType:
		err = c.edit(ctx, onIssue("set the type of", ref), edit{Type: e.Name})
	case effect.Lock:
		err = c.lock(ctx, ref, e.Reason)
	case effect.React:
		err = c.react(ctx, ref, e)
	case effect.NeverAgain, effect.AllowAgain, effect.KeepOpen:
		err = fmt.Errorf("write %s on %s: only the memory keeps it", effect.TypeOf(e), ref)
	}
	return w, err
}

// addLabels adds labels to the issue; no names is no call.
func (c *Client) addLabels(ctx context.Context, ref triage.Ref, names []string) error {
	if len(names) == 0 {
		return nil
	}
	in := struct {
		Labels []string `json:"labels"`
	}{names}
	return c.request(ctx, onIssue("add labels to", ref), call{http.MethodPost, issuePath(ref, "/labels"), in, nil})
}

// removeLabel takes a label off the issue.
func (c *Client) removeLabel(ctx context.Context, ref triage.Ref, name string) error {
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

// createComment posts a comment.
func (c *Client) createComment(ctx context.Context, ref triage.Ref, body string) (triage.Comment, error) {
	return c.comment(ctx, onIssue("comment on", ref), call{method: http.MethodPost, path: issuePath(ref, "/comments")}, body)
}

// updateComment replaces the body of a comment; ErrNotFound when the comment is not
// there.
func (c *Client) updateComment(ctx context.Context, ref triage.Ref, id int64, body string) (triage.Comment, error) {
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

// markDuplicate closes the issue as a duplicate. ErrNotFound when the other is not
// there or is a pull request.
func (c *Client) markDuplicate(ctx context.Context, ref triage.Ref, of int) error {
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

// assign adds assignees; no logins is no call.
func (c *Client) assign(ctx context.Context, ref triage.Ref, logins []string) ([]string, error) {
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

// unassign removes assignees; no logins is no call.
func (c *Client) unassign(ctx context.Context, ref triage.Ref, logins []string) error {
	if len(logins) == 0 {
		return nil
	}
	return c.request(ctx, onIssue("unassign", ref), call{http.MethodDelete, issuePath(ref, "/assignees"), assignees{logins}, nil})
}

// setMilestone sets an open milestone by its title: the first of that spelling, else
// the first that differs in case only, among 400.
func (c *Client) setMilestone(ctx context.Context, ref triage.Ref, title string) error {
	o := onIssue("set the milestone of", ref)
	ctx = withBudget(ctx)
	number, err := c.milestone(ctx, ref, title)
	if err != nil {
		return fmt.Errorf("%s: %w", o, err)
	}
	return c.edit(ctx, o, edit{Milestone: number})
}

// lock locks the conversation.
func (c *Client) lock(ctx context.Context, ref triage.Ref, reason string) error {
	var in any
	if reason != "" {
		in = struct {
			Reason string `json:"lock_reason"`
		}{reason}
	}
	return c.request(ctx, onIssue("lock", ref), call{http.MethodPut, issuePath(ref, "/lock"), in, nil})
}

// react adds a reaction to the issue, or to a comment of it; ErrNotFound when the comment does
// not exist.
func (c *Client) react(ctx context.Context, ref triage.Ref, e effect.React) error {
	o, path := onIssue("react to", ref), issuePath(ref, "/reactions")
	if e.Comment != 0 {
		o = onIssue(fmt.Sprintf("react to comment %d of", e.Comment), ref)
		o.absent = triage.ErrNotFound
		path = fmt.Sprintf("repos/%s/%s/issues/comments/%d/reactions", ref.Owner, ref.Repo, e.Comment)
	}
	in := struct {
		Content string `json:"content"`
	}{e.Content}
	return c.request(ctx, o, call{http.MethodPost, path, in, nil})
}
