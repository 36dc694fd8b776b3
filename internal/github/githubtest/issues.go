package githubtest

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/github/githubtest/internal/render"
	"github.com/org/foreman-action/internal/github/githubtest/internal/state"
)

func getIssue(in *input) answer {
	return reply(http.StatusOK, render.Issue(in.repo, in.issue))
}

// listIssues lists issues. It supports the filters state, labels, creator and since. It sorts by
// creation or by the last change, in either direction.
func listIssues(in *input) answer {
	q := in.r.URL.Query()
	want := q.Get("state")
	since, _ := time.Parse(time.RFC3339, q.Get("since"))
	var list []*state.Record
	for _, i := range in.repo.Issues {
		open := want == "" || want == "all" || want == i.State
		if want == "" {
			open = i.State == "open"
		}
		if open && i.Visible() && !i.Updated.Before(since) && hasLabels(i, q.Get("labels")) && by(i, q.Get("creator")) {
			list = append(list, i)
		}
	}
	slices.SortFunc(list, func(a, b *state.Record) int {
		c := b.CreatedAt.Compare(a.CreatedAt)
		if q.Get("sort") == "updated" {
			c = b.Updated.Compare(a.Updated)
		}
		return cmp.Or(c, b.Number-a.Number)
	})
	if q.Get("direction") == "asc" {
		slices.Reverse(list)
	}
	return listed(in.r, list, with(in.repo, render.Issue))
}

// by reports whether an account opened the issue; an empty login matches every issue.
func by(i *state.Record, login string) bool { return login == "" || state.Same(login)(i.Author) }

func hasLabels(i *state.Record, labels string) bool {
	for name := range strings.SplitSeq(labels, ",") {
		if name != "" && !i.Has(name) {
			return false
		}
	}
	return true
}

func createIssue(in *input) answer {
	var body struct {
		Title, Body string
		Labels      json.RawMessage
		Assignees   []string
	}
	if !in.decode(&body) || body.Title == "" {
		return invalid("Issue", "title", "missing_field", "")
	}
	i := in.repo.Insert(state.Issue{Title: body.Title, Body: body.Body, Author: in.actor})
	for _, l := range labelChanges(in, body.Labels) {
		in.repo.AddLabel(i, in.actor, l.Value)
	}
	in.repo.Assign(i, in.actor, body.Assignees)
	a := reply(http.StatusCreated, render.Issue(in.repo, i))
	a.header.Set("Location", render.API(in.repo, "/issues/%d", i.Number))
	return a
}

// An edit is the body of PATCH issue.
type edit struct {
	Title, Body *string
	State       string
	Reason      string          `json:"state_reason"`
	Of          int64           `json:"duplicate_issue_id"`
	Milestone   json.RawMessage `json:"milestone"`
	Labels      json.RawMessage `json:"labels"`
	Assignees   json.RawMessage `json:"assignees"`
	Type        json.RawMessage `json:"type"`
}

func editIssue(in *input) answer {
	var e edit
	if !in.decode(&e) {
		return failure(http.StatusBadRequest, "Problems parsing JSON")
	}
	// All checks precede the first change.
	for _, check := range []func(*input, edit) (answer, bool){checkState, checkMilestone, checkType, checkChanges} {
		if a, ok := check(in, e); !ok {
			return a
		}
	}
	editText(in, e)
	editState(in, e)
	suggestions := map[string][]object{}
	if len(e.Labels) > 0 {
		suggestions["labels"] = append(setLabels(in, labelChanges(in, e.Labels)), in.pending("label")...)
	}
	if len(e.Assignees) > 0 {
		suggestions["assignees"] = append(setAssignees(in, assigneeChanges(in, e.Assignees)), in.pending("assignee")...)
	}
	if len(e.Milestone) > 0 {
		title := ""
		if m := milestoneOf(in.repo, e.Milestone); m != nil {
			title = m.Title
		}
		in.repo.SetMilestone(in.issue, in.actor, title)
	}
	if len(e.Type) > 0 {
		suggestions["type"] = append(in.intend([]state.Suggestion{typeChange(in, e.Type)}), in.pending("type")...)
	}
	o := render.Issue(in.repo, in.issue)
	maps.DeleteFunc(suggestions, func(_ string, list []object) bool { return len(list) == 0 })
	if len(suggestions) > 0 {
		o["suggestions"] = suggestions
	}
	return reply(http.StatusOK, o)
}

func checkState(in *input, e edit) (answer, bool) {
	if e.State != "" && e.State != "open" && e.State != "closed" {
		return invalid("Issue", "state", "invalid", ""), false
	}
	if e.Of == 0 {
		return answer{}, true
	}
	other := in.repo.ByID(e.Of)
	if e.State != "closed" || e.Reason != "duplicate" || other == nil || other == in.issue || other.PullRequest {
		return invalid("Issue", "duplicate_issue_id", "invalid", ""), false
	}
	return answer{}, true
}

func checkMilestone(in *input, e edit) (answer, bool) {
	if len(e.Milestone) > 0 && string(e.Milestone) != "null" && milestoneOf(in.repo, e.Milestone) == nil {
		return invalid("Issue", "milestone", "invalid", ""), false
	}
	return answer{}, true
}

func checkType(in *input, e edit) (answer, bool) {
	if len(e.Type) == 0 || string(e.Type) == "null" {
		return answer{}, true
	}
	if name := typeChange(in, e.Type).Value; !slices.ContainsFunc(in.repo.Types, state.Same(name)) {
		return invalid("Issue", "type", "invalid", "The provided value for 'type' is not a valid issue type"), false
	}
	return answer{}, true
}

func checkChanges(in *input, e edit) (answer, bool) {
	list := append(labelChanges(in, e.Labels), assigneeChanges(in, e.Assignees)...)
	return checkRationales(append(list, typeChange(in, e.Type)))
}

func editText(in *input, e edit) {
	if e.Title != nil && *e.Title != in.issue.Title {
		in.repo.Rename(in.issue, in.actor, *e.Title)
	}
	if e.Body != nil {
		in.repo.EditBody(in.issue, *e.Body)
	}
}

func editState(in *input, e edit) {
	if e.State == "" {
		return
	}
	before := in.issue.StateReason
	in.repo.SetState(in.issue, in.actor, e.State, e.Reason)
	if before != in.issue.StateReason && e.Of != 0 {
		in.issue.DuplicateOf = in.repo.ByID(e.Of).Number
	}
}

// milestoneOf returns the milestone whose number is in raw; nil when there is none.
func milestoneOf(r *state.Repository, raw json.RawMessage) *state.Milestone {
	var n int
	if json.Unmarshal(raw, &n) != nil {
		return nil
	}
	return r.MilestoneAt(n)
}

// setAssignees replaces the assignees of the issue by those of a list.
func setAssignees(in *input, list []state.Suggestion) []object {
	for _, login := range slices.Clone(in.issue.Assignees) {
		if !slices.ContainsFunc(list, func(s state.Suggestion) bool { return state.Same(login)(s.Value) }) {
			in.repo.Unassign(in.issue, in.actor, []string{login})
		}
	}
	return in.intend(list)
}

func addAssignees(in *input) answer {
	list := assigneeChanges(in, in.body)
	if a, ok := checkRationales(list); !ok {
		return a
	}
	in.intend(list)
	return reply(http.StatusCreated, render.Issue(in.repo, in.issue))
}

func removeAssignees(in *input) answer {
	for _, s := range assigneeChanges(in, in.body) {
		in.repo.Unassign(in.issue, in.actor, []string{s.Value})
	}
	return reply(http.StatusOK, render.Issue(in.repo, in.issue))
}

func lock(in *input) answer {
	var body struct {
		Reason string `json:"lock_reason"`
	}
	if len(in.body) > 0 && !in.decode(&body) {
		return failure(http.StatusBadRequest, "Problems parsing JSON")
	}
	if !slices.Contains([]string{"", "off-topic", "too heated", "resolved", "spam"}, body.Reason) {
		return invalid("Issue", "lock_reason", "invalid", "")
	}
	in.repo.Lock(in.issue, in.actor, body.Reason)
	return reply(http.StatusNoContent, nil)
}

func unlock(in *input) answer {
	in.repo.Unlock(in.issue, in.actor)
	return reply(http.StatusNoContent, nil)
}
