package history

import (
	"fmt"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/runner/effect"
	"github.com/org/foreman-action/triage"
)

// The time within which GitHub applies the labels and assignees of an issue's form or template:
// usually together with the issue. The author of an issue cannot be as fast by hand.
const (
	formTime = time.Minute
	atOnce   = 5 * time.Second
)

// Ours reports whether an event happened under our login, which we may share with other
// programs. A deleted account has no login, and is never ours.
func (h History) Ours(e triage.TimelineEvent) bool { return SameLogin(e.Actor, h.Bot) }

// SameLogin reports whether two logins are the same account's; an empty one is not an account's.
func SameLogin(a, b string) bool { return a != "" && strings.EqualFold(a, b) }

// Human reports whether an event was caused by a person, whose account may be deleted by now:
// neither by us nor by another program.
func (h History) Human(e triage.TimelineEvent) bool {
	return !h.Ours(e) && e.ActorType != "Bot" && !strings.HasSuffix(e.Actor, "[bot]")
}

// fromForm reports whether an event came with the issue, applied by a form or a template. GitHub
// names the author as its actor, even if the author has no permission to label or assign. An author
// with that permission may have chosen it, except on an issue that was opened through a form: the
// form sets its labels and assignees.
func (h History) fromForm(e triage.TimelineEvent) bool {
	switch e.Kind {
	case "labeled", "assigned", "milestoned", "issue_type_added":
	default:
		return false
	}
	if h.Issue.CreatedAt.IsZero() {
		return false
	}
	after := e.At.Sub(h.Issue.CreatedAt)
	byAuthor := SameLogin(e.Actor, h.Issue.Author) && !triage.IsMaintainer(h.Issue.Association)
	return byAuthor && after <= formTime || h.filledIn() && after <= atOnce
}

// filledIn reports whether the issue was opened through a form: GitHub writes each answer
// under a heading of the third level, and nothing before the first one.
func (h History) filledIn() bool {
	return !h.Issue.PullRequest && strings.HasPrefix(h.Issue.Body, "### ")
}

// AddedBack returns why a thing that we removed, or would remove, must stay, and an empty
// text when it need not: the last event about it is that a person put it there.
func (h History) AddedBack(o effect.Outcome, did string) string {
	there, _ := kindsOf(o.Thing)
	return h.Override(there, did, About(o))
}

// RemovedBefore returns why a thing must not be put there, and an empty text when it may: the
// last event about it is that a person removed it.
func (h History) RemovedBefore(o effect.Outcome, did string) string {
	_, gone := kindsOf(o.Thing)
	return h.Override(gone, did, About(o))
}

// Override returns the human override that forbids a step, or an empty text: the newest event
// that matches is a person's and of that kind (any kind when it is empty). did is the verb for
// the text.
func (h History) Override(kind, did string, match func(triage.TimelineEvent) bool) string {
	e, found := h.Last(match)
	switch {
	case !found && !h.Complete:
		return "the timeline of the issue is too long to find people's changes"
	case !found || kind != "" && e.Kind != kind || !h.Human(e) || h.fromForm(e):
		return ""
	}
	return fmt.Sprintf("%s %s on %s; Foreman does not override people (override_humans)", Who(e), did, e.At.UTC().Format(time.DateOnly))
}

// Since describes the newest event of the kind that a person caused at or after a time, of those
// for which counts holds; empty: there is none.
func (h History) Since(at time.Time, kind, did string, counts func(triage.TimelineEvent) bool) string {
	e, ok := h.Last(func(e triage.TimelineEvent) bool {
		return e.Kind == kind && !e.At.Before(at) && h.Human(e) && counts(e)
	})
	if !ok {
		return ""
	}
	return fmt.Sprintf("%s %s on %s", Who(e), did, e.At.UTC().Format(time.DateOnly))
}

// Who returns the login of an event's actor, for people.
func Who(e triage.TimelineEvent) string {
	if e.Actor == "" {
		return "somebody"
	}
	return text.Quote(e.Actor)
}
