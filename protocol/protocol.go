// Package protocol defines the messages that the harness and its agents exchange.
//
// The harness sends a [TaskMessage]. The agent answers with a [DecisionMessage], whose [ActionItem]
// list the harness executes in order. Decoding is strict: keys are case-sensitive, and required
// fields must exist and have the right type. A [ValidationError] reports all problems of a message
// at once. Unknown fields of an action are kept byte for byte; other unknown fields are ignored, so
// that harness and agent may have different versions. [Encode] encodes a message.
//
// [Schemas] describes the messages to programs in other languages.
package protocol

import (
	"bytes"
	"encoding/json"
	"strings"
)

// TypeIssueTriage is the type of all tasks about an issue.
const TypeIssueTriage = "issue.triage"

// A TaskMessage is one task as an agent receives it.
type TaskMessage struct {
	TaskID  string          `json:"task_id"` // UUID version 4; the idempotency key; empty: not chosen yet
	Type    string          `json:"type"`    // such as TypeIssueTriage
	Repo    string          `json:"repo"`    // "owner/name"
	Payload json.RawMessage `json:"payload"` // a JSON object, kept byte for byte; nil encodes as {}
	Context TaskContext     `json:"context"`
	// Claim identifies this claim of the task. Nil: the task was not claimed from a queue, or the
	// harness does not send claims.
	Claim *TaskClaim `json:"claim,omitempty"`
}

// A TaskClaim is an agent's claim of a task from a queue. If an agent sends the attempt with its
// heartbeats and its decision, it receives an error once it has lost the task.
type TaskClaim struct {
	Attempt int `json:"attempt"` // counts the claims of the task, from 1
	// Lease is the duration of the claim in seconds. Each heartbeat starts it anew.
	Lease int `json:"lease_seconds"`
}

// A TaskContext contains the fields that the harness adds to the event.
type TaskContext struct {
	LLMBackend LLMBackendRef `json:"llm_backend"`
	// MemorySummary is the summary of earlier tasks on the issue. If there were none, it is nil,
	// which is encoded as null and never omitted.
	MemorySummary *string `json:"memory_summary"`
}

// An LLMBackendRef names the model that the agent should use. If no model is configured, both
// fields are "none".
type LLMBackendRef struct {
	Provider string `json:"provider"` // such as "anthropic" or "ollama"
	Model    string `json:"model"`    // such as "claude-sonnet-4-6"
}

// A DecisionType is the kind of an agent's decision.
type DecisionType string

// The four decisions.
const (
	LabelAndRespond DecisionType = "label_and_respond" // execute the actions
	Close           DecisionType = "close"             // execute the actions; one of them closes the issue
	Escalate        DecisionType = "escalate"          // a person must look at the issue; nothing is written
	Skip            DecisionType = "skip"              // nothing to do; nothing is written
)

// DecisionTypes returns the four decisions in the order of the protocol.
func DecisionTypes() []DecisionType {
	return []DecisionType{LabelAndRespond, Close, Escalate, Skip}
}

// Writes reports whether the actions of such a decision are executed.
func (d DecisionType) Writes() bool { return d == LabelAndRespond || d == Close }

// A DecisionMessage is an agent's answer to a task.
type DecisionMessage struct {
	TaskID    string       `json:"task_id"`   // the id of the task
	Decision  DecisionType `json:"decision"`  // one of DecisionTypes
	Rationale string       `json:"rationale"` // why, for humans; may be empty
	Actions   []ActionItem `json:"actions"`   // in order of execution; nil encodes as []

	// AgentVersion is the version of the agent, from [AgentVersionHeader]; empty: unknown. The JSON form
	// does not contain it.
	AgentVersion string `json:"-"`
}

// AgentVersionHeader is the header of an answer with a decision, and of a request that completes a task,
// in which an agent may name its version. A version has 1 to 64 letters, digits, '.', '_' and '-'. Another
// version of an agent has another track record.
const AgentVersionHeader = "Foreman-Agent-Version"

const maxAgentVersion = 64 // bytes

// ParseAgentVersion returns the value of [AgentVersionHeader] without surrounding white space, or "" if it
// is not a version. Agents are not trusted, so the value may be anything.
func ParseAgentVersion(s string) string {
	s = strings.TrimSpace(s)
	if len(s) > maxAgentVersion || strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '.' && r != '_' && r != '-'
	}) {
		return ""
	}
	return s
}

// MarshalJSON encodes nil Actions as an empty list. HTML characters are encoded as in [Encode].
func (m DecisionMessage) MarshalJSON() ([]byte, error) {
	type plain DecisionMessage
	if m.Actions == nil {
		m.Actions = []ActionItem{}
	}
	return Encode(plain(m))
}

// UnmarshalJSON decodes a decision with [ParseDecision].
func (m *DecisionMessage) UnmarshalJSON(data []byte) error {
	got, err := ParseDecision(data)
	if err != nil {
		return err
	}
	*m = got
	return nil
}

// MarshalJSON encodes a nil Payload as an empty object. HTML characters are encoded as in [Encode].
func (m TaskMessage) MarshalJSON() ([]byte, error) {
	type plain TaskMessage
	if m.Payload == nil {
		m.Payload = json.RawMessage("{}")
	}
	return Encode(plain(m))
}

// UnmarshalJSON decodes a task with [ParseTask].
func (m *TaskMessage) UnmarshalJSON(data []byte) error {
	got, err := ParseTask(data)
	if err != nil {
		return err
	}
	*m = got
	return nil
}

// Encode returns a message, or a part of one, as compact JSON. Unlike json.Marshal, it does not
// escape '<', '>' and '&', not even in raw parts. So payloads keep their bytes, and stay readable
// in logs and in the queue.
func Encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
