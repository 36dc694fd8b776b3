package poll

import (
	"slices"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/triage"
)

const (
	clockSkew = time.Minute // maximum difference of the memory's clock and GitHub's
	updateLag = 2           // maximum seconds from a change to the time that GitHub records
)

// A filter decides which accounts and issues are relevant.
type filter struct {
	bot         string   // our own login; may be empty
	ignore      []string // logins
	maintainers bool     // include their issues
}

// skip returns why an issue is skipped, or "" if it is not skipped.
func (f filter) skip(i triage.Issue) string {
	switch {
	case i.PullRequest:
		return "it is a pull request"
	case i.State == "closed":
		return "it is closed"
	case f.own(i.Author):
		return "changes by its author are ignored"
	case !f.maintainers && triage.IsMaintainer(i.Association):
		return "its author is a maintainer"
	}
	return ""
}

// own reports whether changes by an account are ignored: our own, and those of accounts in ignore.
func (f filter) own(login string) bool {
	same := func(s string) bool { return s != "" && strings.EqualFold(s, login) }
	return same(f.bot) || slices.ContainsFunc(f.ignore, same)
}

// marked reports whether a comment is ours, because it contains our marker. A person cannot hide a
// comment with the marker, unless our login is unknown.
func (f filter) marked(e triage.TimelineEvent) bool {
	return sanitize.HasMarker(e.Body) && (f.bot == "" || strings.HasSuffix(e.Actor, "[bot]"))
}

// A change is an event to be handed on.
type change struct {
	action string // empty: there is none
	sender triage.Actor
	// answers are people's comments that answer proposals, in order, and since is the time from which
	// they were looked for.
	answers []triage.TimelineEvent
	since   int64
}

// answerEvent returns the event of a comment that answers proposals. i is the issue.
func answerEvent(repo triage.Repo, i triage.Snapshot, e triage.TimelineEvent) triage.Delivery {
	return triage.Delivery{
		Event: triage.Event{
			Name: triage.EventIssueComment, Action: "created", At: e.At,
			Comment: triage.Comment{ID: e.ID, Body: e.Body, Author: e.Actor, AuthorType: e.ActorType, Association: e.Association, URL: e.URL, CreatedAt: e.At},
		},
		Repo: repo, Number: i.Number, Sender: triage.Actor{Login: e.Actor, Type: e.ActorType},
	}.WithIssue(i)
}

// answers reports whether an event of a timeline is a new comment that answers proposals.
func answers(e triage.TimelineEvent, since int64, bot string) bool {
	return e.Kind == "commented" && e.At.Unix() > since &&
		runner.AnsweringOf(answerEvent(triage.Repo{}, triage.Snapshot{}, e), bot) == runner.Answer
}

// newChange returns the change of an issue. opened: it was opened since the last poll. The
// activity is empty if the timeline was not read.
func newChange(i triage.Issue, opened bool, a activity) change {
	c := change{action: "edited", sender: triage.Actor{Login: i.Author, Type: i.AuthorType}}
	switch {
	case opened:
		c.action = "opened"
	case a.by.Login != "":
		c.sender = a.by
	case isBot(c.sender):
		c.sender = triage.Actor{} // a person may have made the change
	}
	if a.reopened {
		c.action = "reopened"
	}
	return c
}

// covers reports whether the newest task contains this state of the issue or a later one. That can
// be due to a webhook, or to a poll before a crash.
func (s taskSnapshot) covers(i triage.Issue) bool { return s.at > 0 && s.at >= i.UpdatedAt.Unix() }

// edited reports whether the title or the body changed since the task. Timelines do not contain
// edits of bodies, and Foreman makes no such edits.
func (s taskSnapshot) edited(i triage.Issue) bool {
	return s.at > 0 && (s.title != i.Title || s.body != i.Body)
}

// An activity summarizes the events of an issue since a time.
type activity struct {
	others   bool         // others changed it, or may have
	reopened bool         // others reopened it
	by       triage.Actor // the last other account, people before bots; empty: unknown
	last     int64        // our last change, or the last answer; 0: there is none
	answers  []triage.TimelineEvent
}

// onlyOurs reports whether all changes of the issue are our own, or answers to proposals.
func (a activity) onlyOurs(i triage.Issue) bool {
	return !a.others && a.last > 0 && i.UpdatedAt.Unix() <= a.last+updateLag
}

// summarize reads the events of a timeline after a time.
func summarize(t triage.Timeline, since int64, f filter) activity {
	var a activity
	if !t.Complete && (len(t.Events) == 0 || t.Events[0].At.Unix() > since) {
		a.others = true
	}
	for _, e := range t.Events {
		at := e.At.Unix()
		if !e.Edited.IsZero() {
			at = max(at, e.Edited.Unix())
		}
		if at <= since {
			continue
		}
		switch e.Kind {
		case "mentioned", "subscribed", "unsubscribed":
			continue // the actor is the mentioned account, and the mention may be ours
		case "closed":
			if !f.own(e.Actor) {
				continue // the issue was reopened since, and the account that reopened it counts
			}
		}
		if f.own(e.Actor) || e.Kind == "commented" && f.marked(e) {
			a.last = max(a.last, at)
			continue
		}
		if answers(e, since, f.bot) {
			a.answers, a.last = append(a.answers, e), max(a.last, at)
			continue
		}
		a.others = true
		a.reopened = a.reopened || e.Kind == "reopened"
		if by := (triage.Actor{Login: e.Actor, Type: e.ActorType}); a.by.Login == "" || isBot(a.by) || !isBot(by) {
			a.by = by
		}
	}
	return a
}

func isBot(a triage.Actor) bool { return a.Type == "Bot" || strings.HasSuffix(a.Login, "[bot]") }
