package triage

import (
	"github.com/org/foreman-action/internal/eventkind"

	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/protocol"
)

// An EventSource is an event that was not parsed yet: the body of a webhook, or the file that
// GITHUB_EVENT_PATH names in a workflow run.
type EventSource struct {
	Name    string // such as "issues"; empty: inferred from the payload's keys
	File    string // the file that the payload was read from, for error messages
	Repo    string // "owner/name", used if the payload names no repository
	Issue   int    // the issue of a dispatch event; 0: the payload names it
	Payload []byte
}

// ParseEvent decodes an event, in UTF-8 or UTF-16, with or without a byte order mark. An error
// names the file, and the line and column where the JSON is broken. It is [ErrUnsupported] if no
// event of that name is supported.
func ParseEvent(src EventSource) (Delivery, error) {
	e, err := parseEvent(src)
	if p, ok := errors.AsType[*placedError](err); ok {
		return Delivery{}, fmt.Errorf("%s:%d:%d: %w", src.where(), p.line, p.column, p.err)
	}
	if err != nil {
		return Delivery{}, fmt.Errorf("%s: %w", src.where(), err)
	}
	return e, nil
}

func (s EventSource) where() string {
	if s.File == "" {
		return "event"
	}
	return s.File
}

func parseEvent(src EventSource) (Delivery, error) {
	// Invalid UTF-8 would make the task invalid JSON. GitHub never sends it.
	src.Payload = bytes.ToValidUTF8(text.UTF8(src.Payload), []byte("\uFFFD"))
	var payload map[string]json.RawMessage
	if err := decodeAt(src.Payload, &payload); err != nil {
		return Delivery{}, err
	}
	if payload == nil {
		return Delivery{}, &placedError{1, 1, errors.New("the event payload is not a JSON object")}
	}
	var w wireEvent
	if err := decodeAt(src.Payload, &w); err != nil {
		return Delivery{}, err
	}
	e := Delivery{Event: Event{Name: src.Name}, payload: payload}
	if e.Name == "" {
		name, err := inferName(payload)
		if err != nil {
			return Delivery{}, err
		}
		e.Name = name
	}
	if err := e.setRepo(w.Repository.FullName, src.Repo); err != nil {
		return Delivery{}, err
	}
	w.fill(&e)
	if e.Name != EventRepositoryDispatch && !word(e.Action) {
		return Delivery{}, placed(src.Payload, valueAt(src.Payload, "action"), fmt.Errorf("action: %q is not an activity type", text.Quote(e.Action)))
	}
	if err := e.setIssue(src, w); err != nil {
		return Delivery{}, err
	}
	return e, nil
}

// wireEvent lists the fields that are read from an event.
type wireEvent struct {
	Action     string          `json:"action"`
	Issue      json.RawMessage `json:"issue"`
	Pull       json.RawMessage `json:"pull_request"`
	Repository struct {
		FullName string `json:"full_name"`
		Branch   string `json:"default_branch"`
	} `json:"repository"`
	CreatedAt wireTime  `json:"created_at"`
	Sender    wireUser  `json:"sender"`
	Label     wireLabel `json:"label"`
	Assignee  *wireUser `json:"assignee"`
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
		CreatedAt   wireTime  `json:"created_at"`
		UpdatedAt   wireTime  `json:"updated_at"`
	} `json:"comment"`
	Inputs struct {
		Issue json.RawMessage `json:"issue"`
		Scan  json.RawMessage `json:"scan"`
	} `json:"inputs"`
	ClientPayload struct {
		Issue json.RawMessage `json:"issue"`
	} `json:"client_payload"`
}

func (w wireEvent) fill(e *Delivery) {
	e.Action = w.Action
	e.Branch = w.Repository.Branch
	e.Sender = Actor{Login: w.Sender.Login, Type: w.Sender.Type}
	e.At = w.CreatedAt.Time
	e.Label = w.Label.Name
	if w.Assignee != nil {
		e.Assignee = w.Assignee.Login
	}
	if w.Milestone != nil {
		e.Milestone = w.Milestone.Title
	}
	if c := w.Comment; c != nil {
		e.Comment = Comment{ID: c.ID, Body: c.Body, Association: c.Association, URL: c.HTMLURL, CreatedAt: c.CreatedAt.Time}
		if c.User != nil {
			e.Comment.Author = c.User.Login
		}
		e.changed(c.UpdatedAt.Time)
	}
}

// changed moves the time of the event forward to a change that the payload contains.
func (e *Event) changed(at time.Time) {
	if at.After(e.At) {
		e.At = at
	}
}

// A wireTime is a time that events do not always contain. A value that is no time counts as none.
type wireTime struct{ time.Time }

// UnmarshalJSON decodes a time.
func (t *wireTime) UnmarshalJSON(data []byte) error {
	if t.Time.UnmarshalJSON(data) != nil {
		t.Time = time.Time{}
	}
	return nil
}

// word reports whether s is empty or contains only the characters of GitHub's activity types: a to
// z and "_".
func word(s string) bool {
	return strings.Trim(s, "abcdefghijklmnopqrstuvwxyz_") == ""
}

func (e *Delivery) setRepo(fromPayload, fallback string) error {
	full := fromPayload
	if full == "" {
		full = fallback
	}
	owner, name, ok := protocol.SplitRepo(full)
	if !ok {
		return fmt.Errorf("the event names no repository (want repository.full_name as owner/name, got %q)", full)
	}
	e.Repo = Repo{Owner: owner, Name: name}
	return nil
}

func (e *Delivery) setIssue(src EventSource, w wireEvent) error {
	switch eventkind.SubjectOf(e.Name) {
	case eventkind.Scan:
		if len(w.Issue) == 0 {
			return nil
		}
		fallthrough // a person asks what a scheduled run would decide on this issue
	case eventkind.Issue:
		if len(w.Issue) == 0 || string(w.Issue) == "null" {
			return fmt.Errorf("the %s event contains no issue", e.Name)
		}
		issue, err := ParseIssue(w.Issue)
		if err != nil {
			return placed(src.Payload, valueAt(src.Payload, "issue"), err)
		}
		e.Issue, e.Number = &issue.Issue, issue.Number
		e.changed(issue.UpdatedAt)
		return nil
	case eventkind.Pull:
		if len(w.Pull) == 0 || string(w.Pull) == "null" {
			return placed(src.Payload, valueAt(src.Payload, "pull_request"), fmt.Errorf("the %s event contains no pull request", e.Name))
		}
		issue, pull, err := ParsePull(w.Pull)
		if err != nil {
			return placed(src.Payload, valueAt(src.Payload, "pull_request"), err)
		}
		e.Issue, e.Number, e.Pull = &issue.Issue, issue.Number, &pull
		e.changed(issue.UpdatedAt)
		return nil
	case eventkind.Dispatch:
		if e.Name == EventWorkflowDispatch && w.wantsScan(src) {
			e.Name = EventSchedule // a person starts a scheduled run by hand
			return nil
		}
		n, err := dispatchNumber(src.Issue, w.Inputs.Issue, w.ClientPayload.Issue)
		e.Number = n
		return err
	case eventkind.Unknown:
	}
	return fmt.Errorf("%w: %s (supported: %s)", ErrUnsupported, e.Name, strings.Join(eventkind.Names(), ", "))
}

// dispatchNumber returns the issue number of a dispatch event: the given number if there is one,
// else the first number in sources.
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

// numberOf parses an issue number from JSON: a number, a string with or without "#", or an object
// with a "number".
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
		return 0, fmt.Errorf("%q is not an issue number", text.Quote(s))
	}
	return n, nil
}

// inferName infers the name of an event from the keys of its payload.
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
	return "", errors.New("cannot infer the event from the payload; set the event name")
}

// wantsScan reports whether a person asks for a scheduled run: the input scan is true, and no issue
// is named.
func (w wireEvent) wantsScan(src EventSource) bool {
	text := func(raw json.RawMessage) string { return string(bytes.Trim(raw, `" `)) }
	issue := text(w.Inputs.Issue)
	return text(w.Inputs.Scan) == "true" && src.Issue == 0 && (issue == "" || issue == "null")
}
