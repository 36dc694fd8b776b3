package runner

import (
	"time"

	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/triage"
)

// asOpened returns the facts of the event opened, with the look-ups of f. It is used to decide on
// an issue as if it were newly opened.
func asOpened(opened triage.Delivery, f facts.Facts) facts.Facts {
	out := factsOf(opened, f.Now)
	out.Lookup, out.Effect = f.Lookup, f.Effect
	return out
}

// factsOf returns the event in the form that rules read, without look-ups.
func factsOf(d triage.Delivery, now time.Time) facts.Facts {
	f := facts.Facts{
		Now: now, Issue: *d.Issue, Event: d.Event, Repo: d.Repo, Scans: d.Scans,
		Actor: triage.Actor{Login: d.Sender.Login, Type: d.Sender.Type},
	}
	f.Event.Name, f.Pull = d.RuleName(), d.Pull
	if d.HasComment() && d.Comment.Author == d.Sender.Login {
		f.Actor.Association = d.Comment.Association
	}
	if d.Issue.Author == d.Sender.Login && d.Sender.Login != "" {
		f.Actor.Association = d.Issue.Association
	}
	return f
}
