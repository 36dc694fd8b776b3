package github

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/org/foreman-action/internal/github/rest"
	"github.com/org/foreman-action/runner/effect"
	"github.com/org/foreman-action/triage"
)

// A write performs an effect: a call, and the data that must be looked up on GitHub before it. The
// zero write makes no call.
type write struct {
	op   rest.Op
	call rest.Call
	// edit is the body of a call that changes the issue itself; nil: another call. Unless they are
	// nil, the id of the issue duplicateOf and the number of the milestone are added to it.
	edit        *edit
	duplicateOf *int
	milestone   *string
	only        bool   // no other call has the same effect
	missing     string // GitHub's message when the label to remove does not exist, which is a success
	// intended are the names of a write with intents, which are compared with the response; nil: a
	// write without intents.
	intended []string
}

// An edit is a change of an issue; empty fields are not changed.
type edit struct {
	State       string `json:"state,omitempty"`
	StateReason string `json:"state_reason,omitempty"`
	DuplicateOf int64  `json:"duplicate_issue_id,omitempty"`
	Milestone   int    `json:"milestone,omitempty"`
	Type        string `json:"type,omitempty"`
}

// The bodies of other writes.
type (
	labelNames struct {
		Labels []string `json:"labels"`
	}
	commentBody struct {
		Body string `json:"body"`
	}
	assignees struct {
		Assignees []string `json:"assignees"`
	}
	lockReason struct {
		Reason string `json:"lock_reason"`
	}
	noMilestone struct {
		Milestone *int `json:"milestone"` // always null, which removes the milestone
	}
	reviewers struct {
		Users []string `json:"reviewers"`
		Teams []string `json:"team_reviewers"`
	}
	reactionContent struct {
		Content string `json:"content"`
	}
)

// An assigned is an issue after assignees were added, in GitHub's JSON.
type assigned struct {
	changed

	Assignees []login `json:"assignees"`
}

// A changed is an issue after a write, in GitHub's JSON.
type changed struct {
	Number int `json:"number"`
}

// A labelList is the labels of an issue after a write, in GitHub's JSON.
type labelList []label

// A reacted is a reaction that was added, in GitHub's JSON.
type reacted struct {
	ID int64 `json:"id"`
}

// A noAnswer is the type of the response to a write that GitHub answers without a body.
type noAnswer struct{}

// UnmarshalJSON implements json.Unmarshaler.
func (*noAnswer) UnmarshalJSON([]byte) error { return errors.New("unexpected response body") }

// writeOf returns the write for an effect. If the effect has no names or logins, the write makes no
// call.
func writeOf(ref triage.Ref, e effect.Effect) (write, error) {
	switch e := e.(type) {
	case effect.AddLabels:
		return addLabels(ref, e)
	case effect.RemoveLabels:
		return removeLabels(ref, e)
	case effect.Comment:
		return writeComment(ref, e), nil
	case effect.Close:
		return onIssue("close", ref).editing(edit{State: "closed", StateReason: e.Reason}), nil
	case effect.Reopen:
		return onIssue("reopen", ref).editing(edit{State: "open"}), nil
	case effect.MarkDuplicate:
		return markDuplicate(ref, e.Of)
	case effect.Assign:
		return assign(ref, e)
	case effect.Unassign:
		return onIssue("unassign", ref).unlessEmpty(e.Logins, http.MethodDelete, "/assignees", assignees{e.Logins}).answered(&changed{}), nil
	case effect.SetMilestone:
		if e.Title == "" {
			return onIssue("remove the milestone of", ref).with(http.MethodPatch, "", noMilestone{}).answered(&changed{}), nil
		}
		w := onIssue("set the milestone of", ref).editing(edit{})
		w.milestone = &e.Title
		return w, nil
	case effect.SetType:
		return setType(ref, e), nil
	case effect.Lock:
		if e.Reason == "" {
			return onIssue("lock", ref).with(http.MethodPut, "/lock", nil).answered(&noAnswer{}), nil
		}
		return onIssue("lock", ref).with(http.MethodPut, "/lock", lockReason{e.Reason}).answered(&noAnswer{}), nil
	case effect.Unlock:
		return onIssue("unlock", ref).with(http.MethodDelete, "/lock", nil).answered(&noAnswer{}), nil
	case effect.React:
		return react(ref, e), nil
	case effect.HideComment:
		return hideComment(ref, e)
	case effect.RequestReview:
		return requestReview(ref, e), nil
	case effect.NeverAgain, effect.AllowAgain, effect.KeepOpen:
		return write{}, fmt.Errorf("write %s on %s: GitHub does not store it, only the memory does", effect.TypeOf(e), ref)
	case effect.Custom:
		return write{}, fmt.Errorf("write %s on %s: it is no action of GitHub", effect.TypeOf(e), ref)
	}
	return write{}, nil
}

// onIssue returns a write to the issue itself; its call is not set yet.
func onIssue(what string, ref triage.Ref) write { return write{op: rest.OnIssue(what, ref)} }

// none reports whether the write makes no call.
func (w write) none() bool { return w.call.Method == "" && !w.call.GraphQL }

// with sets the call of a write; below is the part of the path after the issue's path.
func (w write) with(method, below string, body any) write {
	w.call = rest.Call{Method: method, Path: issuePath(w.op.Ref, below), In: body}
	return w
}

// unlessEmpty is like with, but makes no call when there are no names.
func (w write) unlessEmpty(names []string, method, below string, body any) write {
	if len(names) == 0 {
		return w
	}
	return w.with(method, below, body)
}

// editing sets the call of a write to a change of the issue itself.
func (w write) editing(e edit) write {
	w = w.with(http.MethodPatch, "", &e).answered(&changed{})
	w.edit = &e
	return w
}

// answered sets the type of the expected response. If the response has another form, the outcome of
// the write is unknown, because another server may have answered instead of GitHub.
func (w write) answered(out any) write {
	w.call.Out = out
	return w
}

// labelIDs are the variables of the mutation [removal].
type labelIDs struct {
	Issue  string   `json:"issue"`
	Labels []string `json:"labels"`
}

// removal removes several labels of an issue or a pull request. The REST API has no such call: its
// call that sets all labels would undo changes that others made meanwhile. removal ignores labels
// that the issue does not have.
const removal = `mutation($issue: ID!, $labels: [ID!]!) {
  removeLabelsFromLabelable(input: {labelableId: $issue, labelIds: $labels}) {
    labelable { ... on Issue { number } ... on PullRequest { number } }
  }
}`

// A removed is the issue after a removal, in GitHub's JSON.
type removed struct {
	Data struct {
		Removal struct {
			Issue changed `json:"labelable"`
		} `json:"removeLabelsFromLabelable"`
	} `json:"data"`
}

// removeLabels removes labels from the issue: a single one by its name, several by their ids.
func removeLabels(ref triage.Ref, e effect.RemoveLabels) (write, error) {
	switch n := len(e.Names); {
	case n == 0:
		return write{}, nil
	case n == 1:
		return removeLabel(ref, e.Names[0])
	case e.Issue == "" || len(e.IDs) != n:
		return write{}, fmt.Errorf("remove %d labels from %s: their ids are missing", n, ref)
	}
	w := onIssue(fmt.Sprintf("remove %d labels from", len(e.Names)), ref)
	w.op.Absent = triage.ErrNotFound
	w.call = rest.Call{GraphQL: true, In: rest.Query{Query: removal, Variables: labelIDs{e.Issue, e.IDs}}}
	return w.answered(&removed{}), nil
}

// removeLabel removes a label from the issue. It succeeds if the issue does not have the label.
func removeLabel(ref triage.Ref, name string) (write, error) {
	w := onIssue(fmt.Sprintf("remove label %q from", rest.Clip(name, 100)), ref)
	if !rest.Segment(name) {
		return w, fmt.Errorf("%s: %w", w.op, errors.New("the name cannot be part of a path"))
	}
	w.missing = "Label does not exist"
	return w.with(http.MethodDelete, "/labels/"+url.PathEscape(name), nil).answered(&labelList{}), nil
}

// writeComment posts a comment, or replaces the body of an existing one. ErrNotFound means that the
// existing comment was deleted.
func writeComment(ref triage.Ref, e effect.Comment) write {
	w := onIssue("comment on", ref).with(http.MethodPost, "/comments", commentBody{e.Body})
	if e.ID != 0 {
		w.op = rest.OnIssue(fmt.Sprintf("update comment %d of", e.ID), ref)
		w.op.Absent = triage.ErrNotFound
		w.call.Method, w.call.Path = http.MethodPatch, commentPath(ref, e.ID)
	}
	return w.answered(&comment{})
}

// markDuplicate closes the issue as a duplicate of the issue of.
func markDuplicate(ref triage.Ref, of int) (write, error) {
	w := onIssue(fmt.Sprintf("close as a duplicate of #%d", of), ref)
	if err := w.op.Check(); err != nil {
		return w, fmt.Errorf("%s: %w", w.op, err)
	}
	if of == ref.Number {
		return w, fmt.Errorf("%s: %w", w.op, errors.New("an issue is not a duplicate of itself"))
	}
	w = w.editing(edit{State: "closed", StateReason: "duplicate"})
	w.duplicateOf = &of
	return w, nil
}

// react adds a reaction to the issue, or to a comment on it. ErrNotFound means that the comment
// does not exist.
func react(ref triage.Ref, e effect.React) write {
	w := onIssue("react to", ref).with(http.MethodPost, "/reactions", reactionContent{e.Content}).answered(&reacted{})
	if e.Comment != 0 {
		w.op = rest.OnIssue(fmt.Sprintf("react to comment %d of", e.Comment), ref)
		w.op.Absent = triage.ErrNotFound
		w.call.Path = commentPath(ref, e.Comment) + "/reactions"
	}
	return w
}

// minimization hides a comment. The REST API has no such call.
const minimization = `mutation($comment: ID!) {
  minimizeComment(input: {subjectId: $comment, classifier: OUTDATED}) { minimizedComment { isMinimized } }
}`

// A commentID is the variable of the mutation [minimization].
type commentID struct {
	Comment string `json:"comment"`
}

// A minimized is the comment after a minimization, in GitHub's JSON.
type minimized struct {
	Data struct {
		Hiding struct {
			Comment struct {
				Hidden bool `json:"isMinimized"`
			} `json:"minimizedComment"`
		} `json:"minimizeComment"`
	} `json:"data"`
}

// hideComment hides a comment as outdated. ErrNotFound means that the comment was deleted.
func hideComment(ref triage.Ref, e effect.HideComment) (write, error) {
	w := onIssue("hide a comment on", ref)
	if e.ID == "" {
		return w, fmt.Errorf("%s: its id is missing", w.op)
	}
	w.op.Absent, w.only = triage.ErrNotFound, true
	w.call = rest.Call{GraphQL: true, In: rest.Query{Query: minimization, Variables: commentID{e.ID}}}
	return w.answered(&minimized{}), nil
}

// requestReview requests reviews. A RefusedError means that GitHub does not accept one of the users
// or teams; then it requests none.
func requestReview(ref triage.Ref, e effect.RequestReview) write {
	w := onIssue("request reviews of", ref)
	if len(e.Users)+len(e.Teams) == 0 {
		return w
	}
	// GitHub does not resolve a team that the token cannot read, as with a workflow's own token.
	w.op.Need, w.op.Refusals = rest.NeedPullsWrite, []string{"review", "could not resolve to a node"}
	w.call = rest.Call{
		Method: http.MethodPost, Path: fmt.Sprintf("repos/%s/%s/pulls/%d/requested_reviewers", ref.Owner, ref.Repo, ref.Number),
		In: reviewers{append([]string{}, e.Users...), append([]string{}, e.Teams...)},
	}
	return w.answered(&changed{})
}

// complete looks up the data that a write needs: the id of an issue, or the number of an open
// milestone. It prefers a milestone with the same title to one that differs only in case. It reads
// at most 400 milestones. A RefusedError means that the milestone does not exist, or that the issue
// does not exist or is a pull request.
func complete(ctx context.Context, c *rest.Caller, w write) (err error) {
	ref, absent := w.op.Ref, ""
	switch {
	case w.duplicateOf != nil:
		ref.Number = *w.duplicateOf
		w.edit.DuplicateOf, err = issueID(ctx, c, ref)
		absent = fmt.Sprintf("the repository has no issue #%d", ref.Number)
	case w.milestone != nil:
		w.edit.Milestone, err = milestoneNumber(ctx, c, ref, *w.milestone)
		absent = fmt.Sprintf("the repository has no open milestone %q", rest.Clip(*w.milestone, 100))
	}
	if _, refused := errors.AsType[*triage.RefusedError](err); errors.Is(err, triage.ErrNotFound) && !refused {
		err = &triage.RefusedError{Reason: absent, Parameter: true, Err: err}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", w.op, err)
	}
	return nil
}

// failed returns the error of a write whose call failed; nil if the call had nothing to do.
func (w write) failed(err error) error {
	a, ok := errors.AsType[*rest.AnswerError](err)
	_, refused := errors.AsType[*triage.RefusedError](err)
	switch {
	case refused:
		return err
	case ok && w.missing != "" && a.Status == http.StatusNotFound && strings.EqualFold(a.Message, w.missing):
		return nil
	case ok && w.only && a.Type == "NOT_FOUND":
		return fmt.Errorf("%s: %w: %w", w.op, w.op.Absent, a)
	case ok && w.only && (a.Type == "FORBIDDEN" || a.Type == "INSUFFICIENT_SCOPES"):
		return fmt.Errorf("%s: %w", w.op, &triage.PermissionError{Need: w.op.Need, Err: a})
	case ok && w.only && a.Type == "UNPROCESSABLE":
		return fmt.Errorf("%s: %w", w.op, &triage.RefusedError{Reason: a.Error(), Err: a})
	case ok && w.call.GraphQL && !w.only && !errors.Is(err, triage.ErrUncertain) && !errors.Is(err, triage.ErrLimited):
		// A plain error, and no PermissionError, lets the caller try the REST API, which may accept
		// what the GraphQL API refuses.
		return fmt.Errorf("%s: %w", w.op, a)
	}
	return err
}

var errNoNumber = errors.New("it has no number")

// result returns the outcome of a successful write; logins are the users that should be assigned.
func result(w write, logins []string) (effect.Written, error) {
	var out effect.Written
	switch got := w.call.Out.(type) {
	case *comment:
		if got.ID == 0 {
			return out, w.op.Unreadable(errors.New("it has no id"))
		}
		out.Comment = got.comment()
	case *removed:
		if got.Data.Removal.Issue.Number != w.op.Ref.Number {
			return out, w.op.Unreadable(errors.New("it does not name the issue"))
		}
	case *minimized:
		if !got.Data.Hiding.Comment.Hidden {
			return out, w.op.Unreadable(errors.New("the comment is not hidden"))
		}
	case *changed:
		if got.Number == 0 {
			return out, w.op.Unreadable(errNoNumber)
		}
	case *labelList:
		if *got == nil {
			return out, w.op.Unreadable(errors.New("it is not a list"))
		}
		var has []string
		for _, l := range *got {
			has = append(has, l.Name)
		}
		out.Held = w.absent(has)
	case *typed:
		if got.Number == 0 {
			return out, w.op.Unreadable(errNoNumber)
		}
		got.compare(w.intended, &out)
	case *reacted:
		if got.ID == 0 {
			return out, w.op.Unreadable(errors.New("it has no id"))
		}
	case *assigned:
		if got.Number == 0 {
			return out, w.op.Unreadable(errNoNumber)
		}
		var has []string
		for _, user := range got.Assignees {
			has = append(has, user.Login)
			if containsFold(logins, user.Login) {
				out.Accepted = append(out.Accepted, user.Login)
			}
		}
		out.Held = w.absent(has)
	}
	return out, nil
}

// milestoneNumber returns the number of the open milestone with that title. It prefers the same
// title to one that differs only in case.
func milestoneNumber(ctx context.Context, c *rest.Caller, ref triage.Ref, title string) (int, error) {
	o := rest.LookUp(fmt.Sprintf("look up milestone %q for", rest.Clip(title, 100)), ref)
	similar := 0
	path := fmt.Sprintf("repos/%s/%s/milestones?state=open", ref.Owner, ref.Repo)
	for page, err := range rest.Pages[milestone](ctx, c, o, path) {
		if err != nil {
			return 0, err
		}
		exact := 0
		for _, m := range page {
			switch {
			case m.Title == title:
				exact = m.Number
			case similar == 0 && strings.EqualFold(m.Title, title):
				similar = m.Number
			}
		}
		if exact != 0 {
			return exact, nil
		}
	}
	if similar == 0 {
		return 0, fmt.Errorf("%s: %w", o, triage.ErrNotFound)
	}
	return similar, nil
}

// A milestone is a milestone in GitHub's JSON.
type milestone struct {
	Number int    `json:"number"`
	Title  string `json:"title"`
}

// issueID returns the id, not the number, of the original issue of a duplicate.
func issueID(ctx context.Context, c *rest.Caller, ref triage.Ref) (int64, error) {
	o := rest.LookUp("look up issue", ref)
	var issue struct {
		ID          int64           `json:"id"`
		PullRequest json.RawMessage `json:"pull_request"`
	}
	if _, err := c.Do(ctx, o, rest.Call{Method: http.MethodGet, Path: issuePath(ref, ""), Out: &issue}); err != nil {
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
