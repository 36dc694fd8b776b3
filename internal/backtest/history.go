package backtest

import (
	"slices"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/triage"
)

// KeptAfter is how long people must leave a label or a closing by a program unchanged before it
// counts as theirs.
const KeptAfter = 30 * 24 * time.Hour

// A history is the current state of an issue, and its timeline.
type history struct {
	triage.Timeline
	issue triage.Issue
	bot   string
	now   time.Time
}

// human reports whether a person made a change. The person's account may be deleted by now.
func (h history) human(e triage.TimelineEvent) bool {
	return e.ActorType != "Bot" && !strings.HasSuffix(e.Actor, "[bot]") && !h.ours(e)
}

func (h history) ours(e triage.TimelineEvent) bool {
	return e.Actor != "" && strings.EqualFold(e.Actor, h.bot)
}

// came reports whether a change happened while the issue was opened, through its form, a template
// or the page on which it was written. GitHub names the author as the actor of such changes. If the
// author is a maintainer, only changes within 2 seconds count, because a maintainer's own changes
// come later.
func (h history) came(e triage.TimelineEvent) bool {
	within := time.Minute
	switch h.issue.Association {
	case "OWNER", "MEMBER", "COLLABORATOR":
		within = 2 * time.Second
	}
	return e.Actor != "" && strings.EqualFold(e.Actor, h.issue.Author) && e.At.Sub(h.issue.CreatedAt) <= within
}

// opening returns the issue as it was when it was opened, but with its current body.
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

// timeline returns the changes that rules could see when the issue was opened.
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

// A verdict is the result of comparing an effect of a rule with the decisions of people. A later
// verdict in the list overrides an earlier one.
type verdict int

const (
	unjudged verdict = iota
	agreed
	kept // a program made the change, and people left it
	undecided
	disagreed // overrides all others
)

// label compares the adding of a label with what people did. It returns the reason when they
// disagree.
func (h history) label(name string) (verdict, string) {
	last, found := h.last(func(e triage.TimelineEvent) bool {
		return (e.Kind == "labeled" || e.Kind == "unlabeled") && text.SameLabel(e.Label, name)
	})
	switch {
	case h.hasLabel(name):
		// A label without an event was renamed, or was added before the timeline begins.
		return h.stood(last, found), ""
	case found && h.human(last):
		return disagreed, "a person removed the label " + name
	case h.untouched():
		return undecided, ""
	}
	return disagreed, "the issue does not have the label " + name
}

// proof reports whether what people did with a label proves that a rule is right or wrong to add it. Unlike
// label, it needs a person other than the issue's author: labels of a form, of the author, of a program or of
// unknown origin prove nothing, and neither do labels that we added.
func (h history) proof(name string) (proves, right bool) {
	named := func(kind string) (triage.TimelineEvent, bool) {
		return h.last(func(e triage.TimelineEvent) bool { return e.Kind == kind && text.SameLabel(e.Label, name) })
	}
	added, wasAdded := named("labeled")
	removed, wasRemoved := named("unlabeled")
	others := func(e triage.TimelineEvent) bool { return h.human(e) && !strings.EqualFold(e.Actor, h.issue.Author) }
	switch {
	case wasAdded && h.ours(added), !h.Complete:
		return false, false
	case h.hasLabel(name):
		return wasAdded && others(added), true
	case wasRemoved:
		return others(removed), false
	}
	return !h.untouched(), false
}

// closing compares closing for a reason with what people did. It returns the reason when they
// disagree.
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

// completed is the reason of a closing without a reason.
const completed = "completed"

// stood returns the verdict on the current state of a label or an issue. e is the event that led to
// this state; its actor and time decide.
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
	return slices.ContainsFunc(h.issue.Labels, func(l string) bool { return text.SameLabel(l, label) })
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
