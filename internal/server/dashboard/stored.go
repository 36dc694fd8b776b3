package dashboard

import (
	"encoding/json"
	"errors"

	"github.com/org/foreman-action/protocol"
)

// A message has the parts of a task's message that are shown.
type message struct {
	Title   string
	Author  string
	Summary string // memory summary
}

// parseMessage decodes what it can.
func parseMessage(data []byte) message {
	var m struct {
		Payload json.RawMessage `json:"payload"`
		Context struct {
			Memory string `json:"memory_summary"`
		} `json:"context"`
	}
	// Parts that cannot be decoded stay empty: the page also shows the raw text.
	_ = json.Unmarshal(data, &m)
	var p struct {
		Title string `json:"title"`
	}
	_ = json.Unmarshal(m.Payload, &p)
	var a struct {
		Author string `json:"author"`
	}
	_ = json.Unmarshal(m.Payload, &a)
	return message{Title: p.Title, Author: a.Author, Summary: m.Context.Memory}
}

// An origin has the parts of a task's origin that are shown.
type origin struct {
	Event    string `json:"event"`
	Delivery string `json:"delivery"`
	Source   string `json:"source"`
	Trace    string `json:"trace"`
}

// parseOrigin decodes an origin; nil is an empty one. With an error it returns the parts that it
// could decode.
func parseOrigin(data []byte) (origin, error) {
	var o origin
	if data == nil {
		return o, nil
	}
	err := json.Unmarshal(data, &o)
	return o, err
}

// A report has the parts that are shown of the report on carrying a decision out.
type report struct {
	Event     string         `json:"event"`
	Title     string         `json:"title"`
	Decision  string         `json:"decision"`
	Rationale string         `json:"rationale"`
	By        string         `json:"by"`
	Status    string         `json:"status"`
	Reason    string         `json:"reason"`
	DryRun    bool           `json:"dry_run"`
	Actions   []reportAction `json:"actions"`
	Fired     []string       `json:"fired"` // ids of the rules that fired
	Warnings  []string       `json:"warnings"`
	Missing   []string       `json:"missing"`
}

// A reportAction is one action with its result.
type reportAction struct {
	Type    string              `json:"type"`
	Action  protocol.ActionItem `json:"action"` // missing if it is large
	Source  string              `json:"source"`
	Verdict string              `json:"verdict"`
	Result  string              `json:"result"`
	Reason  string              `json:"reason"`
	URL     string              `json:"url"`
}

// parseReport decodes a report; nil is an empty one.
func parseReport(data []byte) (report, error) { return decode[report](data) }

// A decision has the parts that are shown of an agent's decision.
type decision struct {
	Decision  string                `json:"decision"`
	Rationale string                `json:"rationale"`
	Actions   []protocol.ActionItem `json:"actions"`
}

// parseDecision decodes a decision, also one of an unknown kind; nil is an empty one.
func parseDecision(data []byte) (decision, error) {
	d, err := decode[decision](data)
	if err == nil && data != nil && d.Decision == "" {
		err = errors.New("the decision is missing")
	}
	return d, err
}

// decode decodes JSON. It returns the zero value for nil, and after an error.
func decode[T any](data []byte) (T, error) {
	var v, zero T
	if data == nil {
		return zero, nil
	}
	if err := json.Unmarshal(data, &v); err != nil {
		return zero, err
	}
	return v, nil
}
