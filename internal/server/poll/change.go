package poll

import (
	"slices"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/triage"
)

const (
	clockSkew = time.Minute // between the clock of our memory and GitHub's
	updateLag = 2           // seconds by which GitHub may date the change of an issue after its cause
)

// A filter knows which accounts and issues count.
type filter struct {
	bot         string   // our own login; may be empty
	ignore      []string // logins
	maintainers bool     // their issues count
}

// skip returns why an issue is skipped; empty: it is not.
func (f filter) skip(i triage.Issue) string {
	switch {
	case i.PullRequest:
		return "it is a pull request"
	case i.State == "closed":
		return "it is closed"
	case f.own(i.Author):
		return "its author does not count"
	case !f.maintainers && triage.IsMaintainer(i.Association):
		return "its author is a maintainer"
	}
	return ""
}

// own reports whether changes by an account are not events.
func (f filter) own(login string) bool {
	same := func(s string) bool { return s != "" && strings.EqualFold(s, login) }
	return same(f.bot) || slices.ContainsFunc(f.ignore, same)
}

// marked reports whether our marker makes a comment ours. A person cannot hide a comment by
// it, unless our login is not known.
func (f filter) marked(e triage.TimelineEvent) bool {
	return sanitize.HasMarker(e.Body) && (f.bot == "" || strings.HasSuffix(e.Actor, "[bot]"))
}

// A change is an event to hand on.
type change struct {
	action string // empty: there is none
	sender triage.Actor
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
		c.sender = triage.Actor{} // a person may have changed it as well
	}
	if a.reopened {
		c.action = "reopened"
	}
	return c
}

// covers reports whether the task was made of this state of the issue, or of a later one,
// such as by a webhook or before a crash.
func (s taskSnapshot) covers(i triage.Issue) bool { return s.at > 0 && s.at >= i.UpdatedAt.Unix() }

// edited reports whether the title or the body changed since the task. The timeline does not
// contain edits of bodies, and we make none.
func (s taskSnapshot) edited(i triage.Issue) bool {
	return s.at > 0 && (s.title != i.Title || s.body != i.Body)
}

// An activity summarizes the events of an issue since a time.
type activity struct {
	others   bool         // others changed it, or may have
	reopened bool         // others reopened it
	by       triage.Actor // the last of the others, a person before a bot; empty: none is known
	last     int64        // our last change; 0: there is none
}

// onlyOurs reports whether we alone changed the issue.
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
				continue // it is open again, and the account that reopened it counts
			}
		}
		if f.own(e.Actor) || e.Kind == "commented" && f.marked(e) {
			a.last = max(a.last, at)
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
