package triage

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/eventkind"
	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/internal/text"
)

// An Event is the event that a run handles. Fields that the event does not have are empty.
type Event struct {
	Name      string  `expr:"name"`      // such as "issues"
	Action    string  `expr:"action"`    // such as "opened"; empty for events without activity types
	Label     string  `expr:"label"`     // of labeled and unlabeled
	Assignee  string  `expr:"assignee"`  // of assigned and unassigned
	Milestone string  `expr:"milestone"` // of milestoned and demilestoned: its title
	Comment   Comment `expr:"comment"`   // of issue_comment events

	// At is the time of the event: the newest of the times at which its payload says that the issue,
	// the pull request or the comment changed. It is zero if the payload contains no such time.
	At time.Time `expr:"-"`
}

// A Delivery is an event as it arrived: its name and activity, the issue and the repository,
// the actor, and the service's own JSON.
type Delivery struct {
	Event

	Repo   Repo
	Branch string // the default branch of the repository; empty if the payload does not contain it
	Number int    // number of the issue
	// Issue is nil if the payload contains only the number of the issue. Then the caller fetches
	// the issue and calls [Delivery.WithIssue].
	Issue *Issue
	// Pull is set for pull request events only. It is nil for other events, even if the issue is a
	// pull request.
	Pull   *PullRequest
	Sender Actor // the account that caused the event
	// Scans are the queries that found the issue in a scheduled run.
	Scans []string
	// Fetched is the time at which the issue was fetched. It is zero if the event contained the
	// issue.
	Fetched time.Time

	payload map[string]json.RawMessage
}

// NewIssueEvent returns the delivery of an event that no webhook reported, such as one that was
// found by polling. Its payload has the form of a webhook's payload, with the known fields only.
func NewIssueEvent(action string, repo Repo, issue Snapshot, sender Actor) (Delivery, error) {
	d := Delivery{
		Event: Event{Name: EventIssues, Action: action, At: issue.UpdatedAt}, Repo: repo, Number: issue.Number, Issue: &issue.Issue, Sender: sender,
	}
	var err error
	if d.payload, err = d.encode(issue); err != nil {
		return Delivery{}, err
	}
	return d, nil
}

// Key returns "name.action", or the name alone for an event without an action.
func (d Delivery) Key() string {
	return eventKey(d.Name, d.Action)
}

// Ref returns the issue that the event is about.
func (d Delivery) Ref() Ref { return Ref{d.Repo.Owner, d.Repo.Name, d.Number} }

// FullRepo returns "owner/name".
func (d Delivery) FullRepo() string { return d.Repo.Owner + "/" + d.Repo.Name }

// Payload returns a copy of the top level of the original JSON; never nil. The values are shared
// with the delivery, and must not be changed. A Delivery that was not parsed has a payload with the
// known fields of its event and its issue.
func (d Delivery) Payload() map[string]json.RawMessage {
	if d.payload == nil && d.Issue != nil {
		if made, err := d.encode(Snapshot{Issue: *d.Issue}); err == nil {
			return made
		}
	}
	out := make(map[string]json.RawMessage, len(d.payload)+10)
	maps.Copy(out, d.payload)
	return out
}

// RuleName returns the name of the event in rules: pull_request_target is pull_request there.
func (d Delivery) RuleName() string {
	if d.Name == EventPullRequestTarget {
		return EventPullRequest
	}
	return d.Name
}

// OnPull reports whether the event is about a pull request.
func (d Delivery) OnPull() bool { return d.Pull != nil || d.Issue != nil && d.Issue.PullRequest }

// FromFork reports whether the event is pull_request, and the pull request comes from another
// repository. GitHub gives the workflows of such an event a token that cannot write. A fork that was
// deleted counts.
func (d Delivery) FromFork() bool {
	var pull struct {
		Head struct {
			Repo json.RawMessage `json:"repo"`
		} `json:"head"`
	}
	if d.Name != EventPullRequest || json.Unmarshal(d.payload["pull_request"], &pull) != nil || len(pull.Head.Repo) == 0 {
		return false
	}
	var head struct {
		FullName string `json:"full_name"`
	}
	return json.Unmarshal(pull.Head.Repo, &head) == nil && !strings.EqualFold(head.FullName, d.FullRepo())
}

// HasComment reports whether the event is about a comment.
func (d Delivery) HasComment() bool { return d.Comment != Comment{} }

// Happened reports whether the event is an activity on its issue or pull request. Such an event
// contains the time of the last change. Dispatches and scheduled runs are not activities.
func (d Delivery) Happened() bool {
	s := eventkind.SubjectOf(d.Name)
	return s == eventkind.Issue || s == eventkind.Pull
}

// Snapshot returns the issue with its JSON. The JSON is nil for a pull request event, because its
// payload contains no issue. The delivery must have an issue: from the event, or from
// [Delivery.WithIssue].
func (d Delivery) Snapshot() Snapshot { return Snapshot{*d.Issue, d.payload["issue"]} }

// WithIssue returns the delivery with a fetched issue in its Issue field and in its payload.
func (d Delivery) WithIssue(issue Snapshot) Delivery {
	payload := d.Payload()
	if raw, err := issue.encoded(); err == nil {
		payload["issue"] = raw
	}
	d.Issue, d.payload = &issue.Issue, payload
	return d
}

// WithPull is [Delivery.WithIssue] for the event of a pull request.
func (d Delivery) WithPull(p PullRequest) Delivery {
	payload := d.Payload()
	payload["pull_request"] = p.Shared.Raw
	issue := p.Shared.Issue
	d.Issue, d.Pull, d.payload = &issue, &p, payload
	return d
}

// lateAfter is the age from which an event counts as late. A workflow job can wait that long for a
// runner without having waited for another run.
const lateAfter = 5 * time.Minute

// Late reports whether the event is so old that its issue may have changed since. It is false for
// an event whose issue was fetched, and for one without a time.
func (d Delivery) Late(now time.Time) bool {
	at := d.Time()
	return d.Happened() && d.Fetched.IsZero() && !at.IsZero() && now.Sub(at) > lateAfter
}

// Time returns the time of the event, or the last change of the issue in the event if that is
// later; zero: unknown.
func (d Delivery) Time() time.Time {
	if d.Fetched.IsZero() && d.Issue != nil && d.Issue.UpdatedAt.After(d.At) {
		return d.Issue.UpdatedAt
	}
	return d.At
}

// AsOpened returns the delivery as if the sender of the event had just opened the issue in its
// current state. The event of a pull request stays one of a pull request.
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

// SkipReason returns the reason to make no decision on the event, or "". Three kinds of events are
// skipped: an event for issues on a pull request, an event caused by the account bot, and our own
// comment. A dispatch by bot is not skipped, because it is a person's request. Neither is a person's edit
// of our comment with proposals, which may be an answer.
//
// A comment with our marker is our own if its author is bot or any other app. The other apps count
// because bot may be configured wrongly, and answering our own comments would never end. A person's
// comment with our marker is not skipped, unless bot is empty.
func (d Delivery) SkipReason(bot string) string {
	switch {
	case d.OnPull() && d.Pull == nil && d.Name != EventIssueComment && d.Name != EventSchedule:
		return fmt.Sprintf("#%d is a pull request; pull requests are triaged on pull_request_target, issue_comment and schedule", d.Number)
	case !d.Happened():
		return ""
	case bot != "" && text.SameLogin(d.Sender.Login, bot):
		return "the event was caused by our own bot, " + d.Sender.Login
	case d.Key() == "issue_comment.edited" && d.Sender.Type == "User" && !text.SameLogin(d.Sender.Login, d.Comment.Author) && showsProposals(d.Comment.Body):
	case sanitize.HasMarker(d.Comment.Body) && (bot == "" || text.SameLogin(d.Comment.Author, bot) || strings.HasSuffix(d.Comment.Author, "[bot]")):
		return "the comment is our own: it contains our marker"
	}
	return ""
}

// SuggestionsKey is the key in the marker of our comment with the proposals of an issue. Rules and agents
// cannot use it for a comment.
const SuggestionsKey = "foreman-suggestions"

// showsProposals reports whether the first line of a comment is the marker of one with proposals.
func showsProposals(body string) bool {
	line, _, _ := strings.Cut(body, "\n")
	return sanitize.HasMarker(line) && strings.Contains(line, " key="+SuggestionsKey+" ")
}
