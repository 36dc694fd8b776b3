package runner

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/triage"
)

// A TaskSpec contains the parts of a task that do not come from the event.
type TaskSpec struct {
	ID         string                 // UUID version 4
	LLM        protocol.LLMBackendRef // empty fields become "none"
	Memory     *string                // summary of earlier tasks on the issue; nil: none
	AllowClose bool                   // whether a close would be carried out; the agent receives it as allow_close
}

// Task returns the task that agents receive for an event, which must contain its issue.
//
// The payload is the original event plus the top-level keys that published agents read: number,
// issue_number, title, body, state, user, author, labels and allow_close. These replace keys of the
// same name in the event.
func Task(e triage.Delivery, spec TaskSpec) (protocol.TaskMessage, error) {
	if e.Issue == nil {
		return protocol.TaskMessage{}, errors.New("make task: the event contains no issue")
	}
	payload, err := taskPayload(e, spec.AllowClose)
	if err != nil {
		return protocol.TaskMessage{}, fmt.Errorf("make task: %w", err)
	}
	return protocol.TaskMessage{
		TaskID:  spec.ID,
		Type:    protocol.TypeIssueTriage,
		Repo:    e.FullRepo(),
		Payload: payload,
		Context: protocol.TaskContext{
			LLMBackend: protocol.LLMBackendRef{
				Provider: orNone(spec.LLM.Provider),
				Model:    orNone(spec.LLM.Model),
			},
			MemorySummary: spec.Memory,
		},
	}, nil
}

func taskPayload(e triage.Delivery, allowClose bool) (json.RawMessage, error) {
	type login struct {
		Login string `json:"login"`
	}
	type label struct {
		Name string `json:"name"`
	}
	labels := make([]label, 0, len(e.Issue.Labels))
	for _, name := range e.Issue.Labels {
		labels = append(labels, label{name})
	}
	var body *string
	if !e.Issue.NullBody {
		body = &e.Issue.Body
	}
	out := make(map[string]any, 16)
	for k, v := range e.Payload() {
		out[k] = v
	}
	out["number"] = e.Issue.Number
	out["issue_number"] = e.Issue.Number
	out["title"] = e.Issue.Title
	out["body"] = body
	out["state"] = e.Issue.State
	out["user"] = login{e.Issue.Author}
	out["author"] = e.Issue.Author
	out["labels"] = labels
	out["allow_close"] = allowClose
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(out); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}
