package runner

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/protocol"
)

// The events that carry or name an issue.
const (
	EventIssues             = "issues"
	EventIssueComment       = "issue_comment"
	EventWorkflowDispatch   = "workflow_dispatch"
	EventRepositoryDispatch = "repository_dispatch"
	// EventSchedule names no issue: the rules say which ones are looked for. See
	// [Runner.Sweep].
	EventSchedule = "schedule"
)

// An EventSource is an event as it arrives: a webhook's body or the file that a
// workflow run finds at GITHUB_EVENT_PATH.
type EventSource struct {
	Name    string // such as "issues"; empty: inferred from the payload's keys
	File    string // where the payload was read, for messages
	Repo    string // "owner/name", used when the payload names none
	Issue   int    // the issue that a dispatch event is about; 0: the payload says
	Payload []byte
}

// An Event is something that happened to one issue. Its texts are hostile.
type Event struct {
	Name   string // such as "issues"
	Action string // such as "opened"; empty for events without activity types
	Owner  string
	Repo   string
	Branch string // the repository's default branch; empty when the payload does not say
	Number int    // of the issue
	// Issue is nil when the payload only names the issue: the caller fetches it and
	// calls [Event.WithIssue].
	Issue     *Issue
	Pull      *Pull  // of pull request events; else nil
	Label     string // of labeled and unlabeled
	Assignee  string // of assigned and unassigned
	Milestone string // of milestoned and demilestoned
	Comment   *EventComment
	Sender    Actor
	// Scans are the queries that found the issue, in a scheduled run.
	Scans []string

	payload map[string]json.RawMessage
	seen    time.Time // when an issue was asked for that the payload does not tell of
}

// An EventComment is the comment of an issue_comment event.
type EventComment struct {
	ID          int64
	Body        string
	Author      string
	Association string
	URL         string
}

// An Actor is who caused an event.
type Actor struct {
	Login string
	Type  string // "User", "Bot", …
}

// Key returns "name.action", or the name alone for an event without an action.
func (e Event) Key() string {
	if e.Action == "" {
		return e.Name
	}
	return e.Name + "." + e.Action
}

// Ref returns the issue that the event is about.
func (e Event) Ref() Ref { return Ref{e.Owner, e.Repo, e.Number} }

// FullRepo returns "owner/name".
func (e Event) FullRepo() string { return e.Owner + "/" + e.Repo }

// ParseEvent decodes an event. An error names the file, and the line and column
// where the JSON is broken.
func ParseEvent(src EventSource) (Event, error) {
	e, err := parseEvent(src)
	if p, ok := errors.AsType[*placedError](err); ok {
		return Event{}, fmt.Errorf("%s:%d:%d: %w", src.where(), p.line, p.column, p.err)
	}
	if err != nil {
		return Event{}, fmt.Errorf("%s: %w", src.where(), err)
	}
	return e, nil
}

func (s EventSource) where() string {
	if s.File == "" {
		return "event"
	}
	return s.File
}

func parseEvent(src EventSource) (Event, error) {
	// What is not UTF-8 would make the task no JSON; GitHub sends none.
	src.Payload = bytes.ToValidUTF8(src.Payload, []byte("\uFFFD"))
	var payload map[string]json.RawMessage
	if err := decodeAt(src.Payload, &payload); err != nil {
		return Event{}, err
	}
	if payload == nil {
		return Event{}, &placedError{1, 1, errors.New("the event payload is not a JSON object")}
	}
	var w wireEvent
	if err := decodeAt(src.Payload, &w); err != nil {
		return Event{}, err
	}
	e := Event{Name: src.Name, payload: payload}
	if e.Name == "" {
		name, err := inferName(payload)
		if err != nil {
			return Event{}, err
		}
		e.Name = name
	}
	if err := e.setRepo(w.Repository.FullName, src.Repo); err != nil {
		return Event{}, err
	}
	w.fill(&e)
	if e.Name != EventRepositoryDispatch && !word(e.Action) {
		return Event{}, placed(src.Payload, valueAt(src.Payload, "action"), fmt.Errorf("action: %q is no activity type", clip(e.Action)))
	}
	if err := e.setIssue(src, w); err != nil {
		return Event{}, err
	}
	return e, nil
}

// wireEvent lists the fields of the supported events that are read.
type wireEvent struct {
	Action     string          `json:"action"`
	Issue      json.RawMessage `json:"issue"`
	Pull       json.RawMessage `json:"pull_request"`
	Repository struct {
		FullName string `json:"full_name"`
		Branch   string `json:"default_branch"`
	} `json:"repository"`
	Sender   wireUser  `json:"sender"`
	Label    wireLabel `json:"label"`
	Assignee *wireUser `json:"assignee"`
	// Milestone is an object with a title on milestone events.
	Milestone *struct {
		Title string `json:"title"`
	} `json:"milestone"`
	Comment *struct {
		ID          int64     `json:"id"`
		Body        string    `json:"body"`
		User        *wireUser `json:"user"`
		Association string    `json:"author_association"`
		HTMLURL     string    `json:"html_url"`
	} `json:"comment"`
	Inputs struct {
		Issue json.RawMessage `json:"issue"`
		Scan  json.RawMessage `json:"scan"`
	} `json:"inputs"`
	ClientPayload struct {
		Issue json.RawMessage `json:"issue"`
	} `json:"client_payload"`
}

func (w wireEvent) fill(e *Event) {
	e.Action = w.Action
	e.Branch = w.Repository.Branch
	e.Sender = Actor(w.Sender)
	e.Label = w.Label.Name
	if w.Assignee != nil {
		e.Assignee = w.Assignee.Login
	}
	if w.Milestone != nil {
		e.Milestone = w.Milestone.Title
	}
	if c := w.Comment; c != nil {
		e.Comment = &EventComment{ID: c.ID, Body: c.Body, Association: c.Association, URL: c.HTMLURL}
		if c.User != nil {
			e.Comment.Author = c.User.Login
		}
	}
}

// word reports whether s is empty or made as GitHub makes the names of activity types.
func word(s string) bool {
	return strings.Trim(s, "abcdefghijklmnopqrstuvwxyz_") == ""
}

func (e *Event) setRepo(fromPayload, fallback string) error {
	full := fromPayload
	if full == "" {
		full = fallback
	}
	owner, name, ok := protocol.SplitRepo(full)
	if !ok {
		return fmt.Errorf("the event names no repository (want repository.full_name as owner/name, got %q)", full)
	}
	e.Owner, e.Repo = owner, name
	return nil
}

func (e *Event) setIssue(src EventSource, w wireEvent) error {
	switch e.Name {
	case EventSchedule:
		if len(w.Issue) == 0 {
			return nil
		}
		fallthrough // somebody asks what would become of this one
	case EventIssues, EventIssueComment:
		if len(w.Issue) == 0 || string(w.Issue) == "null" {
			return fmt.Errorf("the %s event carries no issue", e.Name)
		}
		issue, err := ParseIssue(w.Issue)
		if err != nil {
			return placed(src.Payload, valueAt(src.Payload, "issue"), err)
		}
		e.Issue, e.Number = &issue, issue.Number
		return nil
	case EventPullRequest, EventPullRequestTarget:
		if err := e.setPull(w.Pull); err != nil {
			return placed(src.Payload, valueAt(src.Payload, "pull_request"), err)
		}
		return nil
	case EventWorkflowDispatch, EventRepositoryDispatch:
		if e.Name == EventWorkflowDispatch && w.wantsScan(src) {
			e.Name = EventSchedule // a person wants it now
			return nil
		}
		n, err := dispatchNumber(src.Issue, w.Inputs.Issue, w.ClientPayload.Issue)
		e.Number = n
		return err
	}
	return fmt.Errorf("the event %s carries no issue (supported: %s, %s, %s, %s, %s, %s, %s)", e.Name,
		EventIssues, EventIssueComment, EventPullRequest, EventPullRequestTarget, EventWorkflowDispatch, EventRepositoryDispatch, EventSchedule)
}

// dispatchNumber finds the issue of a dispatch event: the given number, then the
// workflow's input, then the client payload's.
func dispatchNumber(given int, sources ...json.RawMessage) (int, error) {
	if given > 0 {
		return given, nil
	}
	for _, raw := range sources {
		raw = bytes.TrimSpace(raw)
		if len(raw) == 0 || string(raw) == "null" || string(raw) == `""` {
			continue
		}
		return numberOf(raw)
	}
	return 0, errors.New("the dispatch event names no issue: set the input issue, or issue in its inputs or its client_payload")
}

// numberOf reads an issue number: a number, a string with or without "#", or an
// object with number.
func numberOf(raw json.RawMessage) (int, error) {
	var o struct {
		Number json.RawMessage `json:"number"`
	}
	if raw[0] == '{' && json.Unmarshal(raw, &o) == nil && len(o.Number) > 0 && o.Number[0] != '{' {
		raw = o.Number
	}
	var text string
	if json.Unmarshal(raw, &text) != nil {
		text = string(raw)
	}
	return ParseNumber(text)
}

// ParseNumber reads an issue number such as "7" or "#7".
func ParseNumber(s string) (int, error) {
	n, err := strconv.Atoi(strings.TrimPrefix(strings.TrimSpace(s), "#"))
	if err != nil || n <= 0 {
		return 0, fmt.Errorf("%q is not an issue number", clip(s))
	}
	return n, nil
}

// inferName tells the event's name from the keys of its payload.
func inferName(payload map[string]json.RawMessage) (string, error) {
	has := func(key string) bool { _, ok := payload[key]; return ok }
	switch {
	case has("issue") && has("comment"):
		return EventIssueComment, nil
	case has("issue"):
		return EventIssues, nil
	case has("pull_request") && has("number"):
		return EventPullRequest, nil
	case has("client_payload"):
		return EventRepositoryDispatch, nil
	case has("inputs") && has("workflow"):
		return EventWorkflowDispatch, nil
	case has("schedule"):
		return EventSchedule, nil
	}
	return "", errors.New("the payload holds no issue, and no dispatch that could name one; say which event it is")
}

// WithIssue returns the event with the fetched issue in place, in the payload too.
func (e Event) WithIssue(issue Issue) Event {
	payload := make(map[string]json.RawMessage, len(e.payload)+1)
	maps.Copy(payload, e.payload)
	payload["issue"] = issue.Raw
	e.Issue, e.payload = &issue, payload
	return e
}

// SkipReason says why nothing is to be decided on the event, or is empty: the
// issue is a pull request, our own bot caused the event, or the comment is ours.
// A dispatch is always somebody's wish, whoever sent it.
func (e Event) SkipReason(bot string) string {
	switch {
	case e.Issue != nil && e.Issue.PullRequest && e.Pull == nil:
		return fmt.Sprintf("#%d is a pull request; they are triaged on the event pull_request_target", e.Number)
	case !e.happened():
		return ""
	case bot != "" && strings.EqualFold(e.Sender.Login, bot):
		return "the event was caused by our own bot, " + e.Sender.Login
	case e.Comment != nil && sanitize.HasMarker(e.Comment.Body):
		return "the comment is one of ours: it carries our marker"
	}
	return ""
}
