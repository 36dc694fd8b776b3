package history

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/runner/internal/outcome"
	"github.com/org/foreman-action/triage"
)

// GitHub applies the labels and assignees of an issue form or template within this time, usually
// together with the issue. The author cannot do it by hand as fast.
const (
	formTime = time.Minute
	atOnce   = 5 * time.Second
)

// Ours reports whether our login caused an event. Other programs may use the same login. The login
// of a deleted account is empty, so its events are never ours.
func (h History) Ours(e triage.TimelineEvent) bool { return text.SameLogin(e.Actor, h.Bot) }

// Human reports whether a person caused an event: neither our login nor another program. The
// person's account may be deleted by now.
func (h History) Human(e triage.TimelineEvent) bool {
	return !h.Ours(e) && e.ActorType != "Bot" && !strings.HasSuffix(e.Actor, "[bot]")
}

// FromForm reports whether an issue form or a template caused an event together with the issue.
// GitHub names the author as the actor, even if the author has no permission to label or assign. An
// author with that permission may have made the change by hand, except on an issue that was opened
// through a form, because the form sets its labels and assignees.
func (h History) FromForm(e triage.TimelineEvent) bool {
	switch e.Kind {
	case "labeled", "assigned", "milestoned", "issue_type_added":
	default:
		return false
	}
	if h.Issue.CreatedAt.IsZero() {
		return false
	}
	after := e.At.Sub(h.Issue.CreatedAt)
	byAuthor := text.SameLogin(e.Actor, h.Issue.Author) && !triage.IsMaintainer(h.Issue.Association)
	return byAuthor && after <= formTime || h.filledIn() && after <= atOnce
}

// filledIn reports whether the issue was opened through a form. GitHub then writes each answer
// under a heading of level 3, and nothing before the first heading.
func (h History) filledIn() bool {
	return !h.Issue.PullRequest && strings.HasPrefix(h.Issue.Body, "### ")
}

// AddedBack returns the reason why a thing must not be removed, or "": the last event about it is
// that a person added it. did describes the event in the reason.
func (h History) AddedBack(o outcome.Outcome, did string) string {
	there, _ := kindsOf(o.Thing)
	return h.Override(there, did, About(o))
}

// RemovedBefore returns the reason why a thing must not be added, or "": the last event about it is
// that a person removed it. did describes the event in the reason.
func (h History) RemovedBefore(o outcome.Outcome, did string) string {
	_, gone := kindsOf(o.Thing)
	return h.Override(gone, did, About(o))
}

// RemovedFormerly returns the event by which a person removed a label that we had added, if that label
// may be the given label under an earlier name. It may be if the timeline is complete and has no event
// about the given name, and if the timeline has only one name that fits. The caller must check that the repository has no label of that name
// any more.
func (h History) RemovedFormerly(label string) (removed triage.TimelineEvent, found bool) {
	if _, known := h.Last(About(outcome.Outcome{Thing: outcome.Label, Name: label})); known || !h.Complete {
		return removed, false
	}
	names := outcome.NamesOf(h.Issue.Labels)
	for _, e := range slices.Backward(h.Events) {
		if e.Kind != "labeled" && e.Kind != "unlabeled" || names.Has(e.Label) {
			continue
		}
		names[text.Fold(e.Label)] = true
		added := func(o triage.TimelineEvent) bool {
			return o.Kind == "labeled" && h.Ours(o) && text.Fold(o.Label) == text.Fold(e.Label)
		}
		if _, ours := h.Last(added); e.Kind == "labeled" || !h.Human(e) || !ours {
			continue
		}
		if found {
			return removed, false
		}
		removed, found = e, true
	}
	return removed, found
}

// Override returns the human override that forbids a step, or "". There is an override
// if a person caused the newest matching event, and the event is of that kind; an empty kind means any. did describes
// the event in the text.
func (h History) Override(kind, did string, match func(triage.TimelineEvent) bool) string {
	e, found := h.Last(match)
	switch {
	case !found && !h.Complete:
		return "the timeline of the issue is too long to find people's changes"
	case !found || kind != "" && e.Kind != kind || !h.Human(e) || h.FromForm(e):
		return ""
	}
	return fmt.Sprintf("%s %s on %s; Foreman does not override people (override_humans)", Who(e), did, e.At.UTC().Format(time.DateOnly))
}

// closedByHuman reports whether an event is a person's close.
func (h History) closedByHuman(e triage.TimelineEvent) bool { return e.Kind == "closed" && h.Human(e) }

// opens reports whether an event permits us to reopen an issue that a person closed: a person
// reopened it, or the author commented. If somebody other than the author closed it, the comment
// may also be by a person who may triage. GitHub lets only the author and people with the
// permission triage reopen an issue.
func (h History) opens(e triage.TimelineEvent, byAuthor bool) bool {
	switch {
	case !h.Human(e):
		return false
	case e.Kind == "reopened":
		return true
	}
	return e.Kind == "commented" && (text.SameLogin(e.Actor, h.Issue.Author) || !byAuthor && triage.IsMaintainer(e.Association))
}

// SettlesReopen reports whether the events before e do not matter for [History.Reopen].
func (h History) SettlesReopen(e triage.TimelineEvent) bool {
	return h.closedByHuman(e) || h.opens(e, true)
}

// Reopen reports whether the issue may be reopened although people may have closed it, and why.
// Only what the author or a person who may triage did after the newest close by a person permits
// it.
func (h History) Reopen() (may bool, why string) {
	closed, found := h.Last(h.closedByHuman)
	if _, settled := h.Last(h.SettlesReopen); !settled {
		if !h.Complete {
			return false, "the timeline of the issue is too long to find people's changes"
		}
		return true, "the timeline was read: no person closed the issue"
	}
	byAuthor := found && text.SameLogin(closed.Actor, h.Issue.Author)
	word, ok := h.Last(func(e triage.TimelineEvent) bool {
		return (!found || e.At.After(closed.At)) && h.opens(e, byAuthor)
	})
	switch {
	case ok:
		return true, fmt.Sprintf("the timeline was read: %s %s on %s", Who(word), word.Kind, word.At.UTC().Format(time.DateOnly))
	case byAuthor:
		return false, fmt.Sprintf("%s, the author, closed it on %s, and has not commented since; Foreman does not override people (override_humans)",
			Who(closed), closed.At.UTC().Format(time.DateOnly))
	}
	return false, fmt.Sprintf("%s closed it on %s, and neither the author nor a maintainer has commented since; Foreman does not override people (override_humans)",
		Who(closed), closed.At.UTC().Format(time.DateOnly))
}

// Since describes the newest event of the kind that a person caused at or after a time, and for
// which counts returns true. Empty: there is none.
func (h History) Since(at time.Time, kind, did string, counts func(triage.TimelineEvent) bool) string {
	e, ok := h.Last(func(e triage.TimelineEvent) bool {
		return e.Kind == kind && !e.At.Before(at) && h.Human(e) && counts(e)
	})
	if !ok {
		return ""
	}
	return fmt.Sprintf("%s %s on %s", Who(e), did, e.At.UTC().Format(time.DateOnly))
}

// Who returns the login of an event's actor, or "somebody" for a deleted account.
func Who(e triage.TimelineEvent) string {
	if e.Actor == "" {
		return "somebody"
	}
	return text.Quote(e.Actor)
}
