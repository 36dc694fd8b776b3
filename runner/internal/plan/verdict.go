package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/runner/effect"
	"github.com/org/foreman-action/runner/internal/history"
	"github.com/org/foreman-action/runner/internal/outcome"
	"github.com/org/foreman-action/triage"
)

// This file has the verdicts that differ by effect: before reading, from the issue in the event;
// then from the timeline; then from the memory.

// maxAssignees is GitHub's maximum number of assignees on an issue.
const maxAssignees = 10

// judge removes from a step's effect everything that is forbidden or already in place. When
// nothing remains, it sets a verdict other than Do.
func (m *Maker) judge(s *Step, nth int) {
	switch e := s.Effect.(type) {
	case effect.AddLabels:
		m.judgeAddLabels(s, e)
	case effect.RemoveLabels:
		if skip(s, outcome.Holds(e, m.now), "not there") {
			return
		}
		e.Names = m.allowed(s, e.Names)
		s.Effect = e
	case effect.Comment:
		m.judgeComment(s, e, nth)
	case effect.Close:
		if e.After > 0 {
			s.Reason = "to be closed after " + short(e.After)
			if len(e.Veto) > 0 {
				s.Reason += ", unless people veto it (" + strings.Join(e.Veto, ", ") + ")"
			}
		}
		m.judgeClose(s)
	case effect.MarkDuplicate:
		if e.Of <= 0 || e.Of == m.issue.Number {
			s.set(triage.Refuse, fmt.Sprintf("an issue cannot be a duplicate of #%d", e.Of))
			return
		}
		m.judgeClose(s)
	case effect.Reopen:
		skip(s, outcome.Holds(e, m.now), "already open")
	case effect.Assign:
		e.Logins = m.now.Assignees().NotIn(e.Logins)
		s.Effect = e
		if skip(s, len(e.Logins) == 0, "already assigned") {
			return
		}
		if len(e.Logins) > maxAssignees {
			s.set(triage.Refuse, fmt.Sprintf("at most %d people can be assigned", maxAssignees))
		}
	case effect.Unassign:
		e.Logins = m.now.Assignees().In(e.Logins)
		s.Effect = e
		skip(s, len(e.Logins) == 0, "not assigned")
	case effect.SetMilestone:
		why := "already set"
		if e.Title == "" {
			why = "it has none"
		}
		skip(s, outcome.Holds(e, m.now), why)
	case effect.SetType:
		skip(s, outcome.Holds(e, m.now), "already set")
	case effect.Lock:
		skip(s, outcome.Holds(e, m.now), "already locked")
	case effect.Unlock:
		skip(s, outcome.Holds(e, m.now), "not locked")
	case effect.React:
		if s.Answers() && !skip(s, m.commentID == 0, "the event has no comment to react to") {
			e.Comment = m.commentID
			s.Effect = e
		}
	case effect.NeverAgain:
		m.judgeNeverAgain(s, e)
	case effect.HideComment:
		m.judgeHide(s, e)
	case effect.RequestReview:
		m.judgeReview(s, e)
	case effect.AllowAgain, effect.KeepOpen, effect.Custom:
	}
}

// skip skips a step if holds is true, and returns holds.
func skip(s *Step, holds bool, why string) bool {
	if holds {
		s.set(triage.Skip, why)
		s.Holds = true
	}
	return holds
}

// overridable reports whether people can override a step.
func overridable(s *Step) bool {
	spec, _ := outcome.SpecOf(s.Action.Type)
	return spec.Overridable
}

// override removes from a step the names that people decided against. It skips the step if no name
// is left. It is false if the record or an earlier part of the timeline must be read first.
func (r *reviewer) override(s *Step) bool {
	switch e := s.Effect.(type) {
	case effect.AddLabels:
		kept, ok := r.overrideNames(s, e.Names, outcome.Outcome{Thing: outcome.Label, There: true}, "removed it")
		s.Effect = effect.AddLabels{Names: kept}
		return ok
	case effect.RemoveLabels:
		kept, ok := r.overrideNames(s, e.Names, outcome.Outcome{Thing: outcome.Label}, "added it")
		s.Effect = effect.RemoveLabels{Names: kept}
		return ok
	case effect.Assign:
		kept, ok := r.overrideNames(s, e.Logins, outcome.Outcome{Thing: outcome.Assignee, There: true}, "removed them")
		s.Effect = effect.Assign{Logins: kept}
		return ok
	case effect.Unassign:
		kept, ok := r.overrideNames(s, e.Logins, outcome.Outcome{Thing: outcome.Assignee}, "assigned them")
		s.Effect = effect.Unassign{Logins: kept}
		return ok
	case effect.Close, effect.MarkDuplicate:
		return r.stayOpen(s)
	case effect.Reopen:
		return r.stayClosed(s)
	case effect.SetMilestone:
		if e.Title != "" && !r.reaches(history.Milestone(e.Title)) || r.h.Issue.Milestone != "" && !r.reaches(history.Milestone("")) {
			return false
		}
		if e.Title != "" {
			skipBecause(s, r.h.Override("demilestoned", "removed it", history.Milestone(e.Title)))
		}
		if r.h.Issue.Milestone != "" && s.Verdict == triage.Do {
			skipBecause(s, r.h.Override("milestoned", "set "+text.Quote(r.h.Issue.Milestone), history.Milestone("")))
		}
	case effect.SetType:
		return r.overrideKinds(s, "", "decided about the type", "issue_type_added", "issue_type_changed", "issue_type_removed")
	case effect.Lock:
		return r.overrideKinds(s, "unlocked", "unlocked the conversation", "locked", "unlocked")
	case effect.Unlock:
		return r.overrideKinds(s, "locked", "locked the conversation", "locked", "unlocked")
	case effect.RequestReview:
		complete := true
		kept := filter(s, effect.Values(e), func(name string) string {
			match := history.Named(name, "review_requested", "review_request_removed")
			if complete = complete && r.reaches(match); !complete {
				return ""
			}
			return about(name, cmp.Or(r.h.Override("review_request_removed", "removed the request", match), assigned(r.h, name, match)))
		})
		s.Effect = outcome.Only(e, kept)
		return complete
	case effect.Comment, effect.React, effect.NeverAgain, effect.AllowAgain, effect.KeepOpen, effect.HideComment, effect.Custom:
	}
	return true
}

// assigned returns a reason if the last event about a team is a removal by us. We remove no requests:
// GitHub replaced the team by some of its members, and would do so again.
func assigned(h history.History, name string, match func(triage.TimelineEvent) bool) string {
	e, _ := h.Last(match)
	if !strings.HasPrefix(name, effect.TeamName("")) || e.Kind != "review_request_removed" || !h.Ours(e) {
		return ""
	}
	return "GitHub assigned members of the team instead on " + e.At.UTC().Format(time.DateOnly)
}

// notes compares the steps with the memory, and with data that only their own kind needs. It skips
// labels that the memory forbids, deferred actions that the memory already has, and what the issue
// already has. It is false if data must be read first.
func (r *reviewer) notes() bool {
	for i := range r.Steps {
		s := &r.Steps[i]
		if !s.isOpen() || outcome.Cancels(s.Action.Type) {
			continue
		}
		switch e := s.Effect.(type) {
		case effect.Close:
			if e.After <= 0 {
				continue
			}
			if r.unannounced(s) {
				s.set(triage.Skip, "its notice is deferred by the comment limits, so the close is deferred too")
				s.Deferred = true
				continue
			}
			rec, ok := r.record()
			if !ok {
				return false
			}
			r.reviewSchedule(rec, s)
		case effect.NeverAgain:
			rec, ok := r.record()
			if !ok {
				return false
			}
			reviewNever(rec, s, e)
		case effect.AddLabels:
			if !r.forbidden(s, e) {
				return false
			}
		case effect.HideComment:
			if !r.hide(s, e) {
				return false
			}
		case effect.RequestReview:
			if !r.requested(s, e) {
				return false
			}
		default: // the memory does not affect the others
		}
	}
	return true
}

// judgeHide checks the key of the comment to hide. An agent can name only the keys of agents.
func (m *Maker) judgeHide(s *Step, e effect.HideComment) {
	if e.Key != "" && !outcome.ValidKey(e.Key) {
		s.set(triage.Refuse, "key: want letters, digits, '.', '_' and '-', at most 64")
		return
	}
	if s.Source.IsAgent() {
		e.Key = outcome.AgentKey(e.Key)
		s.Effect = e
	}
}

// hide looks for the comment to hide: our newest visible one on an earlier event. A later attempt
// considers only our newest comment, because the attempt before may have hidden that comment. The same
// applies after an earlier decision on the event. A comment that was hidden before and is visible
// again stays, because people made it visible. hide is false if data must be read first.
func (r *reviewer) hide(s *Step, e effect.HideComment) bool {
	ours, which := r.a.hideable(s, e)
	again := r.Resumed || len(r.a.Earlier) > 0
	list := r.seen.Ours[which]
	if list == nil {
		r.need.Key, r.need.Ours = which, func(c triage.Comment) bool { return ours(c) && (again || !c.Hidden) }
		return false
	}
	found, some := newest(list.List, ours, again)
	switch {
	case !some && list.Err != nil:
		s.set(triage.Skip, "the issue has too many comments to find ours")
		return true
	case !some && e.Key != "":
		skip(s, true, "there is no comment of ours with the key "+outcome.BareKey(e.Key))
		return true
	case !some:
		skip(s, true, "there is no comment of ours")
		return true
	case found.ID == 0, found.Hidden && !r.Resumed:
		skip(s, true, "already hidden")
		return true
	case planned(r.Steps[:s.Index], found.NodeID):
		skip(s, true, "the plan contains it already")
		return true
	case found.Hidden:
		s.Landed, s.URL = true, found.URL
		return true
	}
	if r.a.Remembers && !s.Source.OverrideHumans {
		rec, ok := r.record()
		if !ok {
			return false
		}
		if at, before := hidden(rec, found.URL); before {
			s.set(triage.Skip, fmt.Sprintf("it was hidden on %s and made visible since; Foreman does not override people (override_humans)", at.UTC().Format(time.DateOnly)))
			return true
		}
	}
	e.ID, s.URL = found.NodeID, found.URL
	s.Effect = e
	return true
}

// hideable returns a function that reports whether a step may hide a comment: we posted it for an
// earlier event. A marker alone proves nothing, because people can copy it. Programs that share our
// login may quote it, but not at the beginning. name is the key of Snapshot.Ours.
func (a Attempt) hideable(s *Step, e effect.HideComment) (may func(triage.Comment) bool, name string) {
	if name = e.Key; s.Source.IsAgent() && name == "" {
		name = "agent/"
	}
	return func(c triage.Comment) bool {
		m, ok := history.ParseMarker(c.Body)
		return ok && strings.HasPrefix(c.Body, m.String()) && text.SameLogin(c.Author, a.Login) &&
			m.Task != a.Task && !slices.Contains(a.Earlier, m.Task) && m.Key != triage.SuggestionsKey && hides(s, e, m.Key)
	}, name
}

// hides reports whether a step may hide a comment with that key. Without a key in the action, an agent
// may hide all comments but those that rules keep up to date.
func hides(s *Step, e effect.HideComment, key string) bool {
	if e.Key != "" {
		return key == e.Key
	}
	return key == "" || !s.Source.IsAgent() || outcome.BareKey(key) != key
}

// planned reports whether one of the steps hides the comment with that id.
func planned(steps []Step, id string) bool {
	return slices.ContainsFunc(steps, func(s Step) bool {
		e, ok := s.Effect.(effect.HideComment)
		return ok && s.isOpen() && e.ID == id
	})
}

// newest returns the newest comment for which ours returns true. Hidden comments count only if all
// count. The id of the comment is 0 if there is none. some reports whether there are hidden comments.
func newest(list []triage.Comment, ours func(triage.Comment) bool, all bool) (found triage.Comment, some bool) {
	for _, c := range slices.Backward(list) {
		if !ours(c) {
			continue
		}
		if some = true; !c.Hidden || all {
			return c, true
		}
	}
	return found, some
}

// hidden returns when we hid the comment with that address; ok is false if the record does not have
// it.
func hidden(rec memory.Record, url string) (at time.Time, ok bool) {
	for _, t := range slices.Backward(rec.Tasks) {
		if slices.ContainsFunc(t.Actions, func(a memory.Action) bool {
			return a.Type == protocol.ActionHideComment && a.Result == triage.Done && a.URL != "" && a.URL == url
		}) {
			return t.At, true
		}
	}
	return time.Time{}, false
}

// judgeReview removes from a step the names that cannot be requested.
func (m *Maker) judgeReview(s *Step, e effect.RequestReview) {
	users := outcome.NamesOf(e.Users)
	kept := filter(s, effect.Values(e), func(name string) string {
		switch slug, team := strings.CutPrefix(name, effect.TeamName("")); {
		case !protocol.PlainName(slug), team && users.Has(name):
			return text.Quote(name) + ": want letters, digits, '-', '_' and '.', without @ and organisation"
		case !team && text.SameLogin(name, m.issue.Author):
			return about(name, "the author cannot review the pull request")
		}
		return ""
	})
	if s.Effect = outcome.Only(e, kept); len(kept) == 0 {
		s.Verdict = triage.Refuse
	}
}

// requested removes from a step the reviews that are requested already, also by an earlier step. It
// is false if the pull request must be read first.
func (r *reviewer) requested(s *Step, e effect.RequestReview) bool {
	if r.seen.Pull == nil {
		r.need.Pull = true
		return false
	}
	list := effect.Values(effect.RequestReview{Users: r.seen.Pull.RequestedReviewers, Teams: r.seen.Pull.RequestedTeams})
	for i := range r.Steps {
		if o, ok := r.Steps[i].Effect.(effect.RequestReview); ok && r.Steps[i].Index < s.Index && r.Steps[i].isOpen() {
			list = append(list, effect.Values(o)...)
		}
	}
	kept := outcome.NamesOf(list).NotIn(effect.Values(e))
	switch {
	case len(kept) > 0:
		s.Effect = outcome.Only(e, kept)
	case r.Resumed:
		s.Landed = true
	case s.Reason != "":
		skip(s, true, s.Reason+"; the others are requested already")
	default:
		skip(s, true, "already requested")
	}
	return true
}
