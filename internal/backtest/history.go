package backtest

import (
	"slices"
	"strings"
	"time"

	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/triage"
)

// KeptAfter is how long people must have left a label or a closing by a program alone,
// so that it counts as theirs.
const KeptAfter = 30 * 24 * time.Hour

// A history is the current state of an issue, and its timeline.
type history struct {
	triage.Timeline
	issue triage.Issue
	bot   string
	now   time.Time
}

// human reports whether a person did it, whose account may be deleted by now.
func (h history) human(e triage.TimelineEvent) bool {
	return e.ActorType != "Bot" && !strings.HasSuffix(e.Actor, "[bot]") && !h.ours(e)
}

func (h history) ours(e triage.TimelineEvent) bool {
	return e.Actor != "" && strings.EqualFold(e.Actor, h.bot)
}

// came reports whether something came with the issue, by its form, a template or the page on
// which it was written: GitHub names the author for it. Later changes by a maintainer take
// longer than GitHub's.
func (h history) came(e triage.TimelineEvent) bool {
	within := time.Minute
	switch h.issue.Association {
	case "OWNER", "MEMBER", "COLLABORATOR":
		within = 2 * time.Second
	}
	return e.Actor != "" && strings.EqualFold(e.Actor, h.issue.Author) && e.At.Sub(h.issue.CreatedAt) <= within
}

// opening is the issue when it was opened, with the body of today.
func (h history) opening() triage.Issue {
	i := h.issue
	i.State, i.StateReason, i.Comments, i.Locked, i.UpdatedAt, i.ClosedAt = "open", "", 0, false, i.CreatedAt, time.Time{}
	i.Labels, i.Assignees, i.Milestone, i.Type, i.Reactions = nil, nil, "", "", triage.Reactions{}
	renamed := false
	for _, e := range h.Events {
		if e.Kind == "renamed" && !renamed && e.From != "" {
			i.Title, renamed = e.From, true
		}
		if !h.came(e) {
			continue
		}
		switch e.Kind {
		case "labeled":
			i.Labels = append(i.Labels, e.Label)
		case "assigned":
			i.Assignees = append(i.Assignees, e.Assignee)
		case "milestoned":
			i.Milestone = e.Milestone
		case "issue_type_added":
			i.Type = e.IssueType
		}
	}
	return i
}

// timeline returns the part of the timeline that rules could see at the opening.
func (h history) timeline() facts.Timeline {
	var p facts.Timeline
	for _, e := range h.Events {
		if h.came(e) {
			p.Changes = append(p.Changes, facts.Change{
				Kind: e.Kind, At: e.At, Login: e.Actor, Label: e.Label, Human: h.human(e), Ours: h.ours(e),
			})
		}
	}
	return p
}

// A verdict compares an effect of a rule with the decisions of people.
type verdict int

const (
	unjudged verdict = iota
	agreed
	kept // a program did it, and people left it
	undecided
	disagreed // the strongest
)

// label judges the adding of a label, and returns the reason when people disagree.
func (h history) label(name string) (verdict, string) {
	last, found := h.last(func(e triage.TimelineEvent) bool {
		return (e.Kind == "labeled" || e.Kind == "unlabeled") && strings.EqualFold(e.Label, name)
	})
	switch {
	case h.hasLabel(name):
		// A label without an event was renamed, or is older than the timeline.
		return h.stood(last, found), ""
	case found && h.human(last):
		return disagreed, "a person took " + name + " off"
	case h.untouched():
		return undecided, ""
	}
	return disagreed, name + " is not on it"
}

// closing judges the closing for a reason.
func (h history) closing(reason string) (verdict, string) {
	if h.issue.State != "closed" {
		if h.untouched() {
			return undecided, ""
		}
		return disagreed, "it is open"
	}
	is := h.issue.StateReason
	if is == "" {
		is = completed
	}
	if is != reason {
		return disagreed, "it was closed as " + is
	}
	return h.stood(h.last(func(e triage.TimelineEvent) bool { return e.Kind == "closed" })), ""
}

// completed is the reason of a closing that names none.
const completed = "completed"

// stood judges the present state of a label or an issue by the actor and the time of the event that
// led to it.
func (h history) stood(e triage.TimelineEvent, found bool) verdict {
	switch {
	case !found || h.human(e):
		return agreed
	case h.now.Sub(e.At) >= KeptAfter:
		return kept
	}
	return undecided
}

// untouched reports whether the issue is open and only its author did anything.
func (h history) untouched() bool {
	if h.issue.State == "closed" {
		return false
	}
	_, touched := h.last(func(e triage.TimelineEvent) bool {
		switch e.Kind {
		case "mentioned", "subscribed", "unsubscribed", "cross-referenced", "referenced", "renamed":
			return false
		case "commented":
			return h.human(e) && !strings.EqualFold(e.Actor, h.issue.Author)
		}
		return h.human(e) && !h.came(e)
	})
	return !touched
}

func (h history) hasLabel(label string) bool {
	return slices.ContainsFunc(h.issue.Labels, func(l string) bool { return strings.EqualFold(l, label) })
}

// last returns the newest event that matches.
func (h history) last(match func(triage.TimelineEvent) bool) (triage.TimelineEvent, bool) {
	for _, e := range slices.Backward(h.Events) {
		if match(e) {
			return e, true
		}
	}
	return triage.TimelineEvent{}, false
}
