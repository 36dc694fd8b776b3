// Package protocol holds the messages that the harness and its agents exchange.
//
// The harness sends a [TaskMessage]; the agent answers with a [DecisionMessage],
// whose ordered [ActionItem] list the harness executes. Decoding is strict: keys
// are case-sensitive, required fields must be there with the right type, and all
// problems of a message are reported at once as a [ValidationError]. Unknown fields
// of an action survive a round trip byte for byte; unknown fields elsewhere are
// ignored, so that either side may be older than the other. [Encode] is the way back.
//
// [Schemas] describes the messages to programs in other languages.
package protocol

import (
	"bytes"
	"encoding/json"
)

// TypeIssueTriage is the task type of everything that happens to an issue.
const TypeIssueTriage = "issue.triage"

// A TaskMessage is one task as an agent receives it.
type TaskMessage struct {
	TaskID  string          `json:"task_id"` // UUID version 4; the idempotency key
	Type    string          `json:"type"`    // such as TypeIssueTriage
	Repo    string          `json:"repo"`    // "owner/name"
	Payload json.RawMessage `json:"payload"` // a JSON object; kept as it came; nil encodes as {}
	Context TaskContext     `json:"context"`
	// Claim identifies this claim of the task; nil: the task was not claimed from a queue, or
	// the harness sends no claims.
	Claim *TaskClaim `json:"claim,omitempty"`
}

// A TaskClaim is an agent's lease of a task from a queue. An agent that sends the attempt with
// its heartbeats and its decision learns when it has lost the task.
type TaskClaim struct {
	Attempt int `json:"attempt"` // counts the claims of the task, from 1
	// Lease is how many seconds the claim lasts without a heartbeat; each one makes it
	// last that long again.
	Lease int `json:"lease_seconds"`
}

// A TaskContext contains the fields that the harness adds to the event.
type TaskContext struct {
	LLMBackend LLMBackendRef `json:"llm_backend"`
	// MemorySummary is the summary of earlier tasks on the issue; nil (JSON null, never
	// omitted) when there were none.
	MemorySummary *string `json:"memory_summary"`
}

// An LLMBackendRef names the model that the agent should use. Without a configured model the
// harness sends "none" for both.
type LLMBackendRef struct {
	Provider string `json:"provider"` // such as "anthropic" or "ollama"
	Model    string `json:"model"`    // such as "claude-sonnet-4-6"
}

// A DecisionType is the kind of an agent's decision.
type DecisionType string

// The four decisions.
const (
	LabelAndRespond DecisionType = "label_and_respond" // execute the actions
	Close           DecisionType = "close"             // execute the actions, one of which closes
	Escalate        DecisionType = "escalate"          // a human must look; nothing is written
	Skip            DecisionType = "skip"              // nothing to do; nothing is written
)

// DecisionTypes returns the four decisions in the order of the protocol.
func DecisionTypes() []DecisionType {
	return []DecisionType{LabelAndRespond, Close, Escalate, Skip}
}

// Writes reports whether actions of the decision may be executed at all.
func (d DecisionType) Writes() bool { return d == LabelAndRespond || d == Close }

// A DecisionMessage is an agent's answer to a task.
type DecisionMessage struct {
	TaskID    string       `json:"task_id"`   // that of the task
	Decision  DecisionType `json:"decision"`  // one of DecisionTypes
	Rationale string       `json:"rationale"` // why, for humans; may be empty
	Actions   []ActionItem `json:"actions"`   // in order of execution; nil encodes as []
}

// MarshalJSON encodes the message with an empty list for nil Actions. See [Encode]
// on HTML characters.
func (m DecisionMessage) MarshalJSON() ([]byte, error) {
	type plain DecisionMessage
	if m.Actions == nil {
		m.Actions = []ActionItem{}
	}
	return Encode(plain(m))
}

// UnmarshalJSON decodes as [ParseDecision] does.
func (m *DecisionMessage) UnmarshalJSON(data []byte) error {
	got, err := ParseDecision(data)
	if err != nil {
		return err
	}
	*m = got
	return nil
}

// MarshalJSON encodes the message with an empty object for a nil Payload. See
// [Encode] on HTML characters.
func (m TaskMessage) MarshalJSON() ([]byte, error) {
	type plain TaskMessage
	if m.Payload == nil {
		m.Payload = json.RawMessage("{}")
	}
	return Encode(plain(m))
}

// UnmarshalJSON decodes as [ParseTask] does.
func (m *TaskMessage) UnmarshalJSON(data []byte) error {
	got, err := ParseTask(data)
	if err != nil {
		return err
	}
	*m = got
	return nil
}

// Encode returns v, a message or a part of one, as compact JSON in which '<', '>'
// and '&' stay as they are: payloads and bodies go out with the bytes that they
// came in with, and stay readable in logs and queue rows. json.Marshal escapes the
// three, in raw parts too; that is the same message in other bytes.
func Encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
