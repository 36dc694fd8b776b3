package runner

import (
	"errors"
	"time"

	"github.com/org/foreman-action/rules"
)

// Explain tells of every rule of a configuration, which may have none, why it matches
// the event or does not, at the given time. The event must hold its issue.
func Explain(c *Config, e Event, now time.Time) ([]rules.RuleWhy, error) {
	if e.Issue == nil {
		return nil, errors.New("explain the rules: the event holds no issue")
	}
	return c.Rules.Explain(rulesFacts(e, now)), nil
}

// rulesFacts is the event as rules see it.
func rulesFacts(e Event, now time.Time) rules.Facts {
	f := rules.Facts{
		Now: now,
		Issue: rules.Issue{
			Number: e.Issue.Number, Title: e.Issue.Title, Body: e.Issue.Body,
			State: e.Issue.State, StateReason: e.Issue.StateReason,
			Author: e.Issue.Author, AuthorType: e.Issue.AuthorType, Association: e.Issue.Association,
			Labels: e.Issue.Labels, Assignees: e.Issue.Assignees,
			Milestone: e.Issue.Milestone, Type: e.Issue.Type,
			Comments: e.Issue.Comments, Locked: e.Issue.Locked,
			CreatedAt: e.Issue.CreatedAt, UpdatedAt: e.Issue.UpdatedAt, URL: e.Issue.URL,
		},
		Event: rules.Event{Name: e.Name, Action: e.Action, Label: e.Label, Assignee: e.Assignee, Milestone: e.Milestone},
		Actor: rules.Actor{Login: e.Sender.Login, Type: e.Sender.Type},
		Repo:  rules.Repo{Owner: e.Owner, Name: e.Repo},
	}
	if e.Comment != nil {
		f.Event.Comment = rules.Comment{Body: e.Comment.Body, Author: e.Comment.Author, Association: e.Comment.Association}
		if e.Comment.Author == e.Sender.Login {
			f.Actor.Association = e.Comment.Association
		}
	}
	if e.Issue.Author == e.Sender.Login && e.Sender.Login != "" {
		f.Actor.Association = e.Issue.Association
	}
	return f
}
