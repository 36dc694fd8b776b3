package githubtest

import (
	"slices"
	"strings"
	"time"
)

// An event is one entry of an issue's timeline.
type event struct {
	id                   int64
	kind, actor          string
	at                   time.Time
	label                string
	assignee             string
	milestone            string
	issueType, prevType  string
	reason               string // of a close or a lock
	comment              int64
	renamedFrom, renamed string
}

// The methods of this file change state. Their callers hold the server's mutex.

func (r *Repo) happened(i *issue, e event) {
	e.id, e.at = r.s.id(), r.s.now()
	i.events = append(i.events, e)
	i.updated = e.at
}

func (r *Repo) label(name string) *label {
	k := slices.IndexFunc(r.labels, func(l *label) bool { return strings.EqualFold(l.name, name) })
	if k < 0 {
		return nil
	}
	return r.labels[k]
}

// ensureLabel returns a label, made silently when it is missing, as GitHub does.
func (r *Repo) ensureLabel(name string) *label {
	if l := r.label(name); l != nil {
		return l
	}
	l := &label{id: r.s.id(), name: name, color: "ededed"}
	r.labels = append(r.labels, l)
	return l
}

func (r *Repo) addLabel(i *issue, actor, name string) {
	l := r.ensureLabel(name)
	if i.has(name) {
		return
	}
	i.Labels = append(i.Labels, l.name)
	r.happened(i, event{kind: "labeled", actor: actor, label: l.name})
}

// removeLabel reports whether the issue bore the label.
func (r *Repo) removeLabel(i *issue, actor, name string) bool {
	k := slices.IndexFunc(i.Labels, same(name))
	if k < 0 {
		return false
	}
	r.happened(i, event{kind: "unlabeled", actor: actor, label: i.Labels[k]})
	i.Labels = slices.Delete(i.Labels, k, k+1)
	return true
}

func (r *Repo) milestone(title string) *milestone {
	k := slices.IndexFunc(r.milestones, func(m *milestone) bool { return m.title == title })
	if k < 0 {
		return nil
	}
	return r.milestones[k]
}

func (r *Repo) newMilestone(title string) {
	r.milestones = append(r.milestones, &milestone{
		id: r.s.id(), number: len(r.milestones) + 1, title: title, state: "open", created: r.s.now(),
	})
}

// setType sets the issue's type; the empty name takes it off.
func (r *Repo) setType(i *issue, actor, name string) {
	e := event{kind: "issue_type_changed", actor: actor, issueType: name, prevType: i.Type}
	switch {
	case i.Type == name:
		return
	case i.Type == "":
		e.kind = "issue_type_added"
	case name == "":
		e.kind = "issue_type_removed"
	}
	i.Type = name
	r.happened(i, e)
}

func (r *Repo) setMilestone(i *issue, actor, title string) {
	if i.Milestone == title {
		return
	}
	if i.Milestone != "" {
		r.happened(i, event{kind: "demilestoned", actor: actor, milestone: i.Milestone})
	}
	i.Milestone = title
	if title != "" {
		r.happened(i, event{kind: "milestoned", actor: actor, milestone: title})
	}
}

func (r *Repo) unlock(i *issue, actor string) {
	if i.Locked {
		i.Locked, i.LockReason = false, ""
		r.happened(i, event{kind: "unlocked", actor: actor})
	}
}

func (r *Repo) newComment(i *issue, author, body string) Comment {
	c := Comment{ID: r.s.id(), Author: author, Body: body, CreatedAt: r.s.now(), UpdatedAt: r.s.now()}
	i.Comments = append(i.Comments, c)
	r.happened(i, event{kind: "commented", actor: author, comment: c.ID})
	return c
}

// removeComment takes away the k-th comment. Who deletes the comment of another leaves
// an event, which GitHub does not document.
func (r *Repo) removeComment(i *issue, actor string, k int) {
	c := i.Comments[k]
	i.Comments = slices.Delete(i.Comments, k, k+1)
	i.events = slices.DeleteFunc(i.events, func(e event) bool { return e.comment == c.ID })
	if !strings.EqualFold(actor, c.Author) {
		r.happened(i, event{kind: "comment_deleted", actor: actor})
	}
}

// setState closes or opens an issue. To do so twice is to do nothing, reason
// included.
func (r *Repo) setState(i *issue, actor, state, reason string) {
	if i.State == state {
		return
	}
	i.State = state
	if state == "closed" {
		if reason == "" {
			reason = "completed"
		}
		i.StateReason, i.closed, i.closedBy = reason, r.s.now(), actor
		r.happened(i, event{kind: "closed", actor: actor, reason: reason})
		return
	}
	i.StateReason, i.closed, i.closedBy, i.DuplicateOf = "reopened", time.Time{}, "", 0
	r.happened(i, event{kind: "reopened", actor: actor})
}

func (r *Repo) rename(i *issue, actor, title string) {
	from := i.Title
	i.Title = title
	r.happened(i, event{kind: "renamed", actor: actor, renamedFrom: from, renamed: title})
}

// assign adds who can be assigned, up to ten, and drops the others silently.
func (r *Repo) assign(i *issue, actor string, logins []string) {
	for _, login := range logins {
		k := slices.IndexFunc(r.users, same(login))
		if k < 0 || len(i.Assignees) == 10 || slices.ContainsFunc(i.Assignees, same(login)) {
			continue
		}
		i.Assignees = append(i.Assignees, r.users[k])
		r.happened(i, event{kind: "assigned", actor: actor, assignee: r.users[k]})
	}
}

func (r *Repo) unassign(i *issue, actor string, logins []string) {
	for _, login := range logins {
		k := slices.IndexFunc(i.Assignees, same(login))
		if k < 0 {
			continue
		}
		r.happened(i, event{kind: "unassigned", actor: actor, assignee: i.Assignees[k]})
		i.Assignees = slices.Delete(i.Assignees, k, k+1)
	}
}

// LabelAs lets someone other than the token's owner add a label to an issue.
func (r *Repo) LabelAs(actor string, number int, name string) *Repo {
	return r.as(number, func(i *issue) { r.addLabel(i, actor, name) })
}

// UnlabelAs lets someone other than the token's owner take a label off an issue.
func (r *Repo) UnlabelAs(actor string, number int, name string) *Repo {
	return r.as(number, func(i *issue) { r.removeLabel(i, actor, name) })
}

// AssignAs lets someone other than the token's owner assign people to an issue: those
// that [Repo.AddUser] named; others are dropped silently.
func (r *Repo) AssignAs(actor string, number int, logins ...string) *Repo {
	return r.as(number, func(i *issue) { r.assign(i, actor, logins) })
}

// UnassignAs lets someone other than the token's owner take assignees off an issue.
func (r *Repo) UnassignAs(actor string, number int, logins ...string) *Repo {
	return r.as(number, func(i *issue) { r.unassign(i, actor, logins) })
}

// SetMilestoneAs lets someone other than the token's owner set a milestone, which is
// made when it is missing; the empty title takes the issue's milestone off.
func (r *Repo) SetMilestoneAs(actor string, number int, title string) *Repo {
	return r.as(number, func(i *issue) {
		if title != "" && r.milestone(title) == nil {
			r.newMilestone(title)
		}
		r.setMilestone(i, actor, title)
	})
}

// UnlockAs lets someone other than the token's owner unlock an issue.
func (r *Repo) UnlockAs(actor string, number int) *Repo {
	return r.as(number, func(i *issue) { r.unlock(i, actor) })
}

// CloseAs lets someone other than the token's owner close an issue.
func (r *Repo) CloseAs(actor string, number int, reason string) *Repo {
	return r.as(number, func(i *issue) { r.setState(i, actor, "closed", reason) })
}

// RenameAs lets someone other than the token's owner change an issue's title.
func (r *Repo) RenameAs(actor string, number int, title string) *Repo {
	return r.as(number, func(i *issue) { r.rename(i, actor, title) })
}

// EditAs lets somebody write an issue's body anew, of which its timeline does not tell.
func (r *Repo) EditAs(_ string, number int, body string) *Repo {
	return r.as(number, func(i *issue) { i.Body, i.updated = body, r.s.now() })
}

// ReopenAs lets someone other than the token's owner open an issue again.
func (r *Repo) ReopenAs(actor string, number int) *Repo {
	return r.as(number, func(i *issue) { r.setState(i, actor, "open", "") })
}

// ReactAs lets someone other than the token's owner react to an issue, or if comment is
// not 0, to that comment of it.
func (r *Repo) ReactAs(actor string, number int, comment int64, content string) *Repo {
	return r.as(number, func(i *issue) {
		list := &i.Reactions
		if comment != 0 {
			k := slices.IndexFunc(i.Comments, func(c Comment) bool { return c.ID == comment })
			list = &i.Comments[k].Reactions
		}
		Reaction{Author: actor, Content: content, At: r.s.now()}.add(list)
	})
}

func (r *Repo) as(number int, change func(*issue)) *Repo {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	change(r.must(number))
	return r
}
