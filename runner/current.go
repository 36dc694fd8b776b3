package runner

import (
	"slices"
	"strings"
	"time"

	"github.com/org/foreman-action/runner/internal/outcome"
	"github.com/org/foreman-action/triage"
)

// A current issue is the issue of an event as it is now, with the data that shows it.
type current struct {
	event triage.Delivery
	// timeline is the timeline of the issue, which was read for this; nil: it was not.
	timeline *triage.Timeline
	// untouched means that nothing has happened on the issue since it was opened: the issue was read,
	// and its fields show it.
	untouched bool
}

// unchanged reports whether a timeline proves that the issue in an event is the current one, except
// for its body. Times on a timeline have seconds, so what happened in the second of the event counts as
// later unless the event contains its result.
func unchanged(d triage.Delivery, t triage.Timeline) bool {
	at := d.Time().Truncate(time.Second)
	if !t.Complete && (len(t.Events) == 0 || !t.Events[0].At.Before(at)) {
		return false // older events that were not read may be later than the event
	}
	return !slices.ContainsFunc(t.Events, func(e triage.TimelineEvent) bool {
		return !e.At.Before(at) && !incidental(e.Kind) && !shows(d, e)
	})
}

// incidental reports whether events of a kind change nothing on the issue. The time of a commit is
// its author's choice.
func incidental(kind string) bool {
	return slices.Contains([]string{"committed", "mentioned", "subscribed", "unsubscribed", "cross-referenced", "referenced"}, kind)
}

// shows reports whether the issue in an event already has the result of a change on the timeline.
func shows(d triage.Delivery, e triage.TimelineEvent) bool {
	i := d.Issue
	switch e.Kind {
	case "labeled", "unlabeled":
		return outcome.NamesOf(i.Labels).Has(e.Label) == (e.Kind == "labeled")
	case "assigned", "unassigned":
		return outcome.NamesOf(i.Assignees).Has(e.Assignee) == (e.Kind == "assigned")
	case "milestoned":
		return i.Milestone == e.Milestone
	case "demilestoned":
		return i.Milestone == ""
	case "issue_type_added", "issue_type_changed":
		return strings.EqualFold(i.Type, e.IssueType)
	case "issue_type_removed":
		return i.Type == ""
	case "closed":
		return i.State == "closed"
	case "reopened":
		return i.State == "open"
	case "locked", "unlocked":
		return i.Locked == (e.Kind == "locked")
	case "commented":
		return d.Comment.ID != 0 && e.ID == d.Comment.ID
	}
	return false
}

// untouched reports whether nothing has happened on an issue since it was opened. was is the issue in
// the event opened, and now the current one. Every act on an issue changes its UpdatedAt.
func untouched(was, now triage.Issue) bool {
	return !now.CreatedAt.IsZero() && now.UpdatedAt.Equal(now.CreatedAt) && was.UpdatedAt.Equal(now.UpdatedAt) &&
		now.Comments == 0 && now.State == was.State && now.Locked == was.Locked && now.Milestone == was.Milestone && now.Type == was.Type &&
		slices.Equal(now.Labels, was.Labels) && slices.Equal(now.Assignees, was.Assignees)
}
