package state

import (
	"slices"
	"strings"
	"time"
)

func (r *Repository) happened(i *Record, e Event) {
	e.ID, e.At = r.clock.ID(), r.clock.Now()
	i.Events = append(i.Events, e)
	i.Updated = e.At
	i.settle(e)
}

// AddLabel adds a label as the user actor. It creates a label that the repository lacks.
func (r *Repository) AddLabel(i *Record, actor, name string) {
	l := r.EnsureLabel(name)
	if i.Has(name) {
		return
	}
	i.Labels = append(i.Labels, l.Name)
	r.happened(i, Event{Kind: "labeled", Actor: actor, Label: l.Name})
}

// RemoveLabel removes a label from an issue as the user actor. It reports whether the issue had the
// label.
func (r *Repository) RemoveLabel(i *Record, actor, name string) bool {
	k := slices.IndexFunc(i.Labels, Same(name))
	if k < 0 {
		return false
	}
	r.happened(i, Event{Kind: "unlabeled", Actor: actor, Label: i.Labels[k]})
	i.Labels = slices.Delete(i.Labels, k, k+1)
	return true
}

// SetType sets the issue's type as the user actor; an empty name removes it.
func (r *Repository) SetType(i *Record, actor, name string) {
	e := Event{Kind: "issue_type_changed", Actor: actor, IssueType: name, PrevType: i.Type}
	switch {
	case i.Type == name:
		return
	case i.Type == "":
		e.Kind = "issue_type_added"
	case name == "":
		e.Kind = "issue_type_removed"
	}
	i.Type = name
	r.happened(i, e)
}

// SetMilestone sets the milestone as the user actor; an empty title removes it.
func (r *Repository) SetMilestone(i *Record, actor, title string) {
	if i.Milestone == title {
		return
	}
	if i.Milestone != "" {
		r.happened(i, Event{Kind: "demilestoned", Actor: actor, Milestone: i.Milestone})
	}
	i.Milestone = title
	if title != "" {
		r.happened(i, Event{Kind: "milestoned", Actor: actor, Milestone: title})
	}
}

// Unlock unlocks an issue as the user actor.
func (r *Repository) Unlock(i *Record, actor string) {
	if i.Locked {
		i.Locked, i.LockReason = false, ""
		r.happened(i, Event{Kind: "unlocked", Actor: actor})
	}
}

// Push adds a commit to a pull request. name is the author's name in git, and at is the commit's
// date.
func (r *Repository) Push(i *Record, name string, at time.Time) {
	r.happened(i, Event{Kind: "committed", Actor: name, Dated: at})
}

// Review adds a review by the user actor to a pull request.
func (r *Repository) Review(i *Record, actor, body string) {
	i.Reviewers = slices.DeleteFunc(i.Reviewers, Same(actor))
	r.happened(i, Event{Kind: "reviewed", Actor: actor, Body: body})
}

// RequestReview requests reviews of a pull request as the user actor. It reports false, and changes
// nothing, if a user or a team has no access.
func (r *Repository) RequestReview(i *Record, actor string, users, teams []string) bool {
	for _, login := range users {
		if !slices.ContainsFunc(r.Users, Same(login)) {
			return false
		}
	}
	for _, slug := range teams {
		if !slices.ContainsFunc(r.About.Teams, Same(slug)) {
			return false
		}
	}
	for _, login := range users {
		if !slices.ContainsFunc(i.Reviewers, Same(login)) {
			i.Reviewers = append(i.Reviewers, login)
			r.happened(i, Event{Kind: "review_requested", Actor: actor, Reviewer: login})
		}
	}
	for _, slug := range teams {
		if !slices.ContainsFunc(i.Teams, Same(slug)) {
			i.Teams = append(i.Teams, slug)
			r.happened(i, Event{Kind: "review_requested", Actor: actor, Team: slug})
		}
	}
	return true
}

// RemoveReviewer removes a requested review of a user as the user actor.
func RemoveReviewer(r *Repository, i *Record, actor, login string) {
	i.Reviewers = slices.DeleteFunc(i.Reviewers, Same(login))
	r.happened(i, Event{Kind: "review_request_removed", Actor: actor, Reviewer: login})
}

// NewComment adds a comment.
func (r *Repository) NewComment(i *Record, author, body string) Comment {
	c := Comment{ID: r.clock.ID(), Author: author, Body: body, CreatedAt: r.clock.Now(), UpdatedAt: r.clock.Now()}
	i.Comments = append(i.Comments, c)
	r.happened(i, Event{Kind: "commented", Actor: author, Comment: c.ID})
	return c
}

// RemoveComment deletes the k-th comment as the user actor. If the comment is by another user, the
// timeline gets an event, which GitHub does not document.
func (r *Repository) RemoveComment(i *Record, actor string, k int) {
	c := i.Comments[k]
	i.Comments = slices.Delete(i.Comments, k, k+1)
	i.Events = slices.DeleteFunc(i.Events, func(e Event) bool { return e.Comment == c.ID })
	if !strings.EqualFold(actor, c.Author) {
		r.happened(i, Event{Kind: "comment_deleted", Actor: actor})
	}
}

// SetState closes or opens an issue. Closing a closed issue changes nothing, unless the reason
// differs: then GitHub's timeline shows a second "closed" event. Pull requests have no reason.
func (r *Repository) SetState(i *Record, actor, state, reason string) {
	again := state == "closed" && reason != "" && reason != i.StateReason && !i.PullRequest
	if i.State == state && !again {
		return
	}
	i.State = state
	if state == "closed" {
		if reason == "" {
			reason = "completed"
		}
		i.StateReason, i.Closed, i.ClosedBy = reason, r.clock.Now(), actor
		r.happened(i, Event{Kind: "closed", Actor: actor, Reason: reason})
		return
	}
	i.StateReason, i.Closed, i.ClosedBy, i.DuplicateOf = "reopened", time.Time{}, "", 0
	r.happened(i, Event{Kind: "reopened", Actor: actor})
}

// Rename changes an issue's title as the user actor.
func (r *Repository) Rename(i *Record, actor, title string) {
	from := i.Title
	i.Title = title
	r.happened(i, Event{Kind: "renamed", Actor: actor, RenamedFrom: from, Renamed: title})
}

// Assign adds assignees as the user actor, up to ten. It silently drops users who cannot be
// assigned.
func (r *Repository) Assign(i *Record, actor string, logins []string) {
	for _, login := range logins {
		k := slices.IndexFunc(r.Users, Same(login))
		if k < 0 || len(i.Assignees) == 10 || slices.ContainsFunc(i.Assignees, Same(login)) {
			continue
		}
		i.Assignees = append(i.Assignees, r.Users[k])
		r.happened(i, Event{Kind: "assigned", Actor: actor, Assignee: r.Users[k]})
	}
}

// Unassign removes assignees as the user actor.
func (r *Repository) Unassign(i *Record, actor string, logins []string) {
	for _, login := range logins {
		k := slices.IndexFunc(i.Assignees, Same(login))
		if k < 0 {
			continue
		}
		r.happened(i, Event{Kind: "unassigned", Actor: actor, Assignee: i.Assignees[k]})
		i.Assignees = slices.Delete(i.Assignees, k, k+1)
	}
}

// Lock locks an issue as the user actor. A second lock changes nothing, not even the reason.
func (r *Repository) Lock(i *Record, actor, reason string) {
	if !i.Locked {
		i.Locked, i.LockReason = true, reason
		r.happened(i, Event{Kind: "locked", Actor: actor, Reason: reason})
	}
}

// EditBody replaces an issue's body. The timeline does not show such an edit.
func (r *Repository) EditBody(i *Record, body string) { i.Body, i.Updated = body, r.clock.Now() }

// EditComment replaces the body of the k-th comment.
func (r *Repository) EditComment(i *Record, k int, body string) {
	i.Comments[k].Body, i.Comments[k].UpdatedAt = body, r.clock.Now()
}
