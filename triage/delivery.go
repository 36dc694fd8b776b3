package triage

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/sanitize"
)

// An Event is the event that a run is about. The zero value of a field that an event does not have is
// empty.
type Event struct {
	Name      string  `expr:"name"`      // such as "issues"
	Action    string  `expr:"action"`    // such as "opened"; empty for events without activity types
	Label     string  `expr:"label"`     // of labeled and unlabeled
	Assignee  string  `expr:"assignee"`  // of assigned and unassigned: a login
	Milestone string  `expr:"milestone"` // of milestoned and demilestoned: its title
	Comment   Comment `expr:"comment"`   // of issue_comment events
}

// A Delivery is an event as it arrived: its name and activity, the issue and the repository,
// the actor, and the service's own JSON.
type Delivery struct {
	Event

	Repo   Repo
	Branch string // the repository's default branch; empty when the payload does not name it
	Number int    // of the issue
	// Issue is nil when the payload only names the issue: the caller fetches it and calls
	// [Delivery.WithIssue].
	Issue  *Issue
	Pull   *PullRequest // of pull request events; else nil, also where the issue is a pull request
	Sender Actor        // who caused the event
	// Scans are the queries that found the issue, in a scheduled run.
	Scans []string
	// Fetched is when the issue was fetched that the payload only names; zero: it came
	// with the event.
	Fetched time.Time

	payload map[string]json.RawMessage
}

// NewIssueEvent returns the delivery of an event on an issue that no webhook reported, such
// as a poll finds: with the payload that a webhook would have, as far as it is known.
func NewIssueEvent(action string, repo Repo, issue Snapshot, sender Actor) (Delivery, error) {
	type account struct {
		Login string `json:"login"`
		Type  string `json:"type,omitempty"`
	}
	payload := map[string]json.RawMessage{"issue": issue.Raw}
	for key, value := range map[string]any{
		"action":     action,
		"repository": map[string]string{"full_name": repo.Owner + "/" + repo.Name},
		"sender":     account{sender.Login, sender.Type},
	} {
		raw, err := json.Marshal(value)
		if err != nil {
			return Delivery{}, fmt.Errorf("make an event for issue %d: %s: %w", issue.Number, key, err)
		}
		payload[key] = raw
	}
	return Delivery{
		Event: Event{Name: EventIssues, Action: action}, Repo: repo, Number: issue.Number, Issue: &issue.Issue,
		Sender: sender, payload: payload,
	}, nil
}

// Key returns "name.action", or the name alone for an event without an action.
func (d Delivery) Key() string {
	return eventKey(d.Name, d.Action)
}

// Ref returns the issue that the event is about.
func (d Delivery) Ref() Ref { return Ref{d.Repo.Owner, d.Repo.Name, d.Number} }

// FullRepo returns "owner/name".
func (d Delivery) FullRepo() string { return d.Repo.Owner + "/" + d.Repo.Name }

// Payload returns a copy of the top level of the service's JSON; never nil. The values are
// shared and must not be changed.
func (d Delivery) Payload() map[string]json.RawMessage {
	out := make(map[string]json.RawMessage, len(d.payload)+10)
	maps.Copy(out, d.payload)
	return out
}

// RuleName returns the event's name as rules know it.
func (d Delivery) RuleName() string {
	if d.Name == EventPullRequestTarget {
		return EventPullRequest
	}
	return d.Name
}

// OnPull reports whether the event is about a pull request.
func (d Delivery) OnPull() bool { return d.Pull != nil || d.Issue != nil && d.Issue.PullRequest }

// HasComment reports whether the event is about a comment.
func (d Delivery) HasComment() bool { return d.Comment != Comment{} }

// Happened reports whether the event is an activity on its issue or pull request, so that it
// contains the time of the last change. Dispatches and scheduled runs are not activities.
func (d Delivery) Happened() bool {
	s := SubjectOf(d.Name)
	return s == SubjectIssue || s == SubjectPull
}

// Snapshot returns the issue with its JSON; the JSON is nil for a pull request, whose event has
// no issue. The event must carry an issue, or have got one by [Delivery.WithIssue].
func (d Delivery) Snapshot() Snapshot { return Snapshot{*d.Issue, d.payload["issue"]} }

// WithIssue returns the delivery with a fetched issue in place, in the payload too.
func (d Delivery) WithIssue(issue Snapshot) Delivery {
	payload := d.Payload()
	payload["issue"] = issue.Raw
	d.Issue, d.payload = &issue.Issue, payload
	return d
}

// AsOpened returns the delivery as if the issue, as it is now, had just been opened by
// the sender of the event. A pull request stays one.
func (d Delivery) AsOpened() Delivery {
	payload := d.Payload()
	for _, key := range []string{"comment", "label", "assignee", "milestone", "changes", "inputs", "client_payload", "workflow", "ref", "schedule"} {
		delete(payload, key)
	}
	payload["action"] = json.RawMessage(`"opened"`)
	name := d.Name
	switch {
	case !d.OnPull():
		name = EventIssues
	case d.Pull == nil:
		name = EventPullRequestTarget
	}
	d.Event, d.payload = Event{Name: name, Action: "opened"}, payload
	return d
}

// SkipReason returns why no decision is due on the event, or is empty: the issue is a pull
// request and the event one that is for issues, such as a dispatch, the event was caused by the account bot, or the comment is our own. A dispatch
// is a person's request, whoever sent it. Our marker makes a comment ours only under the
// account bot, or under another app's: bot may be the wrong one, and answering our own
// comments would never end. A person cannot hide a comment by it, unless bot is empty.
func (d Delivery) SkipReason(bot string) string {
	switch {
	case d.OnPull() && d.Pull == nil && d.Name != EventIssueComment && d.Name != EventSchedule:
		return fmt.Sprintf("#%d is a pull request; they are triaged on pull_request_target, issue_comment and schedule", d.Number)
	case !d.Happened():
		return ""
	case bot != "" && strings.EqualFold(d.Sender.Login, bot):
		return "the event was caused by our own bot, " + d.Sender.Login
	case sanitize.HasMarker(d.Comment.Body) && (bot == "" || strings.EqualFold(d.Comment.Author, bot) || strings.HasSuffix(d.Comment.Author, "[bot]")):
		return "the comment is one of ours: it carries our marker"
	}
	return ""
}
