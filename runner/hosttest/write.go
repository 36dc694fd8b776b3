package hosttest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/org/foreman-action/runner/effect"
	"github.com/org/foreman-action/runner/internal/outcome"
	"github.com/org/foreman-action/triage"
)

// Write implements [runner.Issues].
func (v view) Write(ctx context.Context, ref triage.Ref, e effect.Effect) (effect.Written, error) {
	if outcome.RecordOnly(e) {
		return effect.Written{}, fmt.Errorf("write %s on %s: only the memory stores it", effect.TypeOf(e), ref)
	}
	if err := effect.PassGate(ctx); err != nil { // without the mutex, because the gate may use the host
		return effect.Written{}, err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	i, err := v.find(ctx, ref)
	if err != nil {
		return effect.Written{}, err
	}
	w, err := author(v).change(i, ref, e)
	if err != nil {
		return effect.Written{}, fmt.Errorf("write %s on %s: %w", effect.TypeOf(e), ref, err)
	}
	return w, nil
}

// An author changes issues. Its methods are called with the mutex.
type author struct {
	*content

	login string
}

// change carries out an effect.
func (v author) change(i *record, ref triage.Ref, e effect.Effect) (w effect.Written, err error) {
	switch e := e.(type) {
	case effect.AddLabels:
		w.Held = v.addLabels(i, e)
	case effect.RemoveLabels:
		for _, name := range e.Names {
			if k := index(i.Labels, name); k >= 0 {
				v.did(i, triage.TimelineEvent{Kind: "unlabeled", Label: i.Labels[k]})
				i.Labels = slices.Delete(i.Labels, k, k+1)
			}
		}
	case effect.Comment:
		w.Comment, err = v.post(i, ref, e)
	case effect.Close:
		v.close(i, e.Reason)
	case effect.Reopen:
		if i.State != "open" {
			i.State, i.StateReason, i.closed = "open", "reopened", time.Time{}
			v.did(i, triage.TimelineEvent{Kind: "reopened"})
		}
	case effect.MarkDuplicate:
		if of := v.issues[e.Of]; of == nil || of == i || of.Pull != nil {
			return w, refused(fmt.Sprintf("the repository has no issue #%d", e.Of))
		}
		v.close(i, "duplicate")
	case effect.Assign:
		w = v.assign(i, e)
	case effect.Unassign:
		for _, login := range e.Logins {
			if k := index(i.Assignees, login); k >= 0 {
				v.did(i, triage.TimelineEvent{Kind: "unassigned", Assignee: i.Assignees[k]})
				i.Assignees = slices.Delete(i.Assignees, k, k+1)
			}
		}
	case effect.SetType:
		return v.setType(i, e)
	default:
		return w, v.changeMore(i, ref, e)
	}
	return w, err
}

// changeMore carries out the effects that have no result.
func (v author) changeMore(i *record, ref triage.Ref, e effect.Effect) error {
	switch e := e.(type) {
	case effect.SetMilestone:
		return v.setMilestone(i, e.Title)
	case effect.Lock:
		if !i.Locked {
			i.Locked = true
			v.did(i, triage.TimelineEvent{Kind: "locked", Reason: e.Reason})
		}
	case effect.Unlock:
		if i.Locked {
			i.Locked = false
			v.did(i, triage.TimelineEvent{Kind: "unlocked"})
		}
	case effect.React:
		return v.react(i, ref, e)
	case effect.HideComment:
		c, err := i.commentAt(ref, func(c comment) bool { return e.ID != "" && c.NodeID == e.ID })
		if err != nil {
			return err
		}
		c.Hidden = true
	case effect.RequestReview:
		return v.requestReview(i, e)
	default:
		return errors.New("the host in memory does not know this effect")
	}
	return nil
}

// did adds an event of the account of the view.
func (v author) did(i *record, e triage.TimelineEvent) {
	e.Actor = v.login
	v.happened(i, e)
}

func refused(reason string) error { return &triage.RefusedError{Reason: reason, Parameter: true} }

// because adds an event of the account of the view with an intent.
func (v author) because(i *record, e triage.TimelineEvent, in effect.Intent) {
	e.Intended = v.repo.Intents && in != effect.Intent{}
	v.did(i, e)
}

// holds reports whether a change with an intent waits for a person.
func (v author) holds(in effect.Intent) bool { return v.repo.Intents && in.Suggest }

// intentAt returns the intent of a name, which is zero if there are none.
func intentAt(list []effect.Intent, k int) effect.Intent {
	if k >= len(list) {
		return effect.Intent{}
	}
	return list[k]
}

// addLabels adds labels, and returns those that it held.
func (v author) addLabels(i *record, e effect.AddLabels) (held []string) {
	for k, name := range e.Names {
		in := intentAt(e.Intents, k)
		switch {
		case index(i.Labels, name) >= 0:
		case v.holds(in):
			held = append(held, name)
		default:
			name = v.label(name)
			i.Labels = append(i.Labels, name)
			v.because(i, triage.TimelineEvent{Kind: "labeled", Label: name}, in)
		}
	}
	return held
}

func (v author) setType(i *record, e effect.SetType) (w effect.Written, err error) {
	k := index(v.repo.Types, e.Name)
	if k < 0 {
		return w, refused(fmt.Sprintf("the repository has no issue type %q", e.Name))
	}
	name, kind := v.repo.Types[k], "issue_type_changed"
	if i.Type == "" {
		kind = "issue_type_added"
	}
	switch {
	case name == i.Type && v.holds(e.Intent):
		w.Overtaken = []string{e.Name}
	case name == i.Type:
	case v.holds(e.Intent):
		w.Held = []string{e.Name}
	default:
		i.Type = name
		v.because(i, triage.TimelineEvent{Kind: kind, IssueType: name}, e.Intent)
	}
	return w, nil
}

// post posts or replaces a comment.
func (v author) post(i *record, ref triage.Ref, e effect.Comment) (triage.Comment, error) {
	if e.ID == 0 {
		c := v.comment(i, v.login, e.Body)
		if v.repo.LoseAnswers {
			return triage.Comment{}, fmt.Errorf("the answer is lost: %w", triage.ErrUncertain)
		}
		return c, nil
	}
	c, err := i.commentAt(ref, func(c comment) bool { return c.ID == e.ID })
	if err != nil {
		return triage.Comment{}, err
	}
	c.Body, c.changed = e.Body, v.time()
	k := slices.IndexFunc(i.events, func(o triage.TimelineEvent) bool { return o.Kind == "commented" && o.ID == e.ID })
	i.events[k].Body, i.events[k].Edited = e.Body, c.changed
	return c.Comment, nil
}

// close closes an issue, or changes why it is closed.
func (v author) close(i *record, reason string) {
	if i.State == "closed" && (reason == "" || reason == i.StateReason) {
		return
	}
	if reason == "" {
		reason = "completed"
	}
	i.State, i.StateReason, i.closed = "closed", reason, v.time()
	v.did(i, triage.TimelineEvent{Kind: "closed", Reason: reason})
}

// assign adds assignees. The result has those that it accepted, and those that it held.
func (v author) assign(i *record, e effect.Assign) (w effect.Written) {
	for k, login := range e.Logins {
		in := intentAt(e.Intents, k)
		if !v.may(login) {
			continue
		}
		for name := range v.repo.Permissions {
			if strings.EqualFold(name, login) {
				login = name
			}
		}
		there := index(i.Assignees, login) >= 0
		if !there && v.holds(in) {
			w.Held = append(w.Held, e.Logins[k])
			continue
		}
		w.Accepted = append(w.Accepted, login)
		if !there {
			i.Assignees = append(i.Assignees, login)
			v.because(i, triage.TimelineEvent{Kind: "assigned", Assignee: login}, in)
		}
	}
	return w
}

func (v author) setMilestone(i *record, title string) error {
	if title != "" {
		k := slices.Index(v.repo.Milestones, title)
		if k < 0 {
			k = index(v.repo.Milestones, title)
		}
		if k < 0 {
			return refused(fmt.Sprintf("the repository has no open milestone %q", title))
		}
		title = v.repo.Milestones[k]
	}
	if title == i.Milestone {
		return nil
	}
	if i.Milestone != "" {
		v.did(i, triage.TimelineEvent{Kind: "demilestoned", Milestone: i.Milestone})
	}
	if i.Milestone = title; title != "" {
		v.did(i, triage.TimelineEvent{Kind: "milestoned", Milestone: title})
	}
	return nil
}

func (v author) react(i *record, ref triage.Ref, e effect.React) error {
	list := &i.reactions
	if e.Comment != 0 {
		c, err := i.commentAt(ref, func(c comment) bool { return c.ID == e.Comment })
		if err != nil {
			return err
		}
		list = &c.reactions
	}
	if !slices.ContainsFunc(*list, func(r reaction) bool { return r.Actor == v.login && r.content == e.Content }) {
		*list = append(*list, reaction{triage.Reaction{Actor: v.login, At: v.time()}, e.Content})
	}
	return nil
}

// requestReview requests all reviews, or none.
func (v author) requestReview(i *record, e effect.RequestReview) error {
	if i.Pull == nil {
		return refused("it is not a pull request")
	}
	for _, login := range e.Users {
		if !v.may(login) || strings.EqualFold(login, i.Author) {
			return refused(login + " cannot review")
		}
	}
	for _, slug := range e.Teams {
		if index(v.repo.Teams, slug) < 0 {
			return refused("the team " + slug + " cannot review")
		}
	}
	for _, login := range e.Users {
		if index(i.Pull.RequestedReviewers, login) < 0 {
			i.Pull.RequestedReviewers = append(i.Pull.RequestedReviewers, login)
			v.did(i, triage.TimelineEvent{Kind: "review_requested", Reviewer: login})
		}
	}
	for _, slug := range e.Teams {
		if index(i.Pull.RequestedTeams, slug) < 0 {
			i.Pull.RequestedTeams = append(i.Pull.RequestedTeams, slug)
			v.did(i, triage.TimelineEvent{Kind: "review_requested", Reviewer: effect.TeamName(slug)})
		}
	}
	return nil
}
