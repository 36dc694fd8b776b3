package githubtest

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"
)

func getIssue(in *input) answer {
	return reply(http.StatusOK, in.repo.renderIssue(in.issue))
}

// listIssues knows the filters state, labels and since, and the orders by creation and
// by the last change, either way.
func listIssues(in *input) answer {
	q := in.r.URL.Query()
	state := q.Get("state")
	since, _ := time.Parse(time.RFC3339, q.Get("since"))
	var list []*issue
	for _, i := range in.repo.issues {
		open := state == "" || state == "all" || state == i.State
		if state == "" {
			open = i.State == "open"
		}
		if open && !i.deleted && i.transferred == "" && !i.updated.Before(since) && bearsAll(i, q.Get("labels")) {
			list = append(list, i)
		}
	}
	slices.SortFunc(list, func(a, b *issue) int {
		c := b.CreatedAt.Compare(a.CreatedAt)
		if q.Get("sort") == "updated" {
			c = b.updated.Compare(a.updated)
		}
		return cmp.Or(c, b.Number-a.Number)
	})
	if q.Get("direction") == "asc" {
		slices.Reverse(list)
	}
	return listed(in.r, list, in.repo.renderIssue)
}

func bearsAll(i *issue, labels string) bool {
	for name := range strings.SplitSeq(labels, ",") {
		if name != "" && !i.has(name) {
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
	i := in.repo.insert(Issue{Title: body.Title, Body: body.Body, Author: in.actor()})
	for _, name := range names(body.Labels) {
		in.repo.addLabel(i, in.actor(), name)
	}
	in.repo.assign(i, in.actor(), body.Assignees)
	a := reply(http.StatusCreated, in.repo.renderIssue(i))
	a.header.Set("Location", in.repo.api("/issues/%d", i.Number))
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
	Assignees   *[]string       `json:"assignees"`
	Type        json.RawMessage `json:"type"`
}

func editIssue(in *input) answer {
	var e edit
	if !in.decode(&e) {
		return failure(http.StatusBadRequest, "Problems parsing JSON")
	}
	// Everything is checked before anything is changed.
	for _, check := range []func(*input, edit) (answer, bool){checkState, checkMilestone, checkType} {
		if a, ok := check(in, e); !ok {
			return a
		}
	}
	in.editText(e)
	in.editState(e)
	if len(e.Labels) > 0 {
		in.setLabels(names(e.Labels))
	}
	if e.Assignees != nil {
		in.repo.unassign(in.issue, in.actor(), slices.Clone(in.issue.Assignees))
		in.repo.assign(in.issue, in.actor(), *e.Assignees)
	}
	if len(e.Milestone) > 0 {
		title := ""
		if m := in.repo.byNumber(e.Milestone); m != nil {
			title = m.title
		}
		in.repo.setMilestone(in.issue, in.actor(), title)
	}
	if len(e.Type) > 0 {
		in.editType(e)
	}
	return reply(http.StatusOK, in.repo.renderIssue(in.issue))
}

func checkState(in *input, e edit) (answer, bool) {
	if e.State != "" && e.State != "open" && e.State != "closed" {
		return invalid("Issue", "state", "invalid", ""), false
	}
	if e.Of == 0 {
		return answer{}, true
	}
	other := in.repo.byID(e.Of)
	if e.State != "closed" || e.Reason != "duplicate" || other == nil || other == in.issue || other.PullRequest {
		return invalid("Issue", "duplicate_issue_id", "invalid", ""), false
	}
	return answer{}, true
}

func checkMilestone(in *input, e edit) (answer, bool) {
	if len(e.Milestone) > 0 && string(e.Milestone) != "null" && in.repo.byNumber(e.Milestone) == nil {
		return invalid("Issue", "milestone", "invalid", ""), false
	}
	return answer{}, true
}

func checkType(in *input, e edit) (answer, bool) {
	var name string
	if len(e.Type) > 0 && string(e.Type) != "null" {
		if json.Unmarshal(e.Type, &name) != nil || !slices.ContainsFunc(in.repo.types, same(name)) {
			return invalid("Issue", "type", "invalid", "The provided value for 'type' is not a valid issue type"), false
		}
	}
	return answer{}, true
}

func (in *input) editText(e edit) {
	if e.Title != nil && *e.Title != in.issue.Title {
		in.repo.rename(in.issue, in.actor(), *e.Title)
	}
	if e.Body != nil {
		in.issue.Body, in.issue.updated = *e.Body, in.now()
	}
}

func (in *input) editState(e edit) {
	if e.State == "" {
		return
	}
	open := in.issue.State == "open"
	in.repo.setState(in.issue, in.actor(), e.State, e.Reason)
	if open && e.Of != 0 {
		in.issue.DuplicateOf = in.repo.byID(e.Of).Number
	}
}

func (in *input) editType(e edit) {
	var name string
	_ = json.Unmarshal(e.Type, &name) // checkType has seen to it
	if k := slices.IndexFunc(in.repo.types, same(name)); k >= 0 {
		name = in.repo.types[k]
	}
	in.repo.setType(in.issue, in.actor(), name)
}

func (r *Repo) byID(id int64) *issue {
	for _, i := range r.issues {
		if i.id == id {
			return i
		}
	}
	return nil
}

func (r *Repo) byNumber(raw json.RawMessage) *milestone {
	var n int
	if json.Unmarshal(raw, &n) != nil || n < 1 || n > len(r.milestones) {
		return nil
	}
	return r.milestones[n-1]
}

// logins reads {"assignees": [...]}.
func (in *input) logins() []string {
	var body struct{ Assignees []string }
	in.decode(&body)
	return body.Assignees
}

func addAssignees(in *input) answer {
	in.repo.assign(in.issue, in.actor(), in.logins())
	return reply(http.StatusCreated, in.repo.renderIssue(in.issue))
}

func removeAssignees(in *input) answer {
	in.repo.unassign(in.issue, in.actor(), in.logins())
	return reply(http.StatusOK, in.repo.renderIssue(in.issue))
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
	if !in.issue.Locked {
		in.issue.Locked, in.issue.LockReason = true, body.Reason
		in.repo.happened(in.issue, event{kind: "locked", actor: in.actor(), reason: body.Reason})
	}
	return reply(http.StatusNoContent, nil)
}

func unlock(in *input) answer {
	in.repo.unlock(in.issue, in.actor())
	return reply(http.StatusNoContent, nil)
}
