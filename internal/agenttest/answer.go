package agenttest

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/org/foreman-action/internal/testkit/loopback"
	"github.com/org/foreman-action/protocol"
)

// A CutPoint is the point at which the connection of an answer is closed.
type CutPoint int

// The points.
const (
	NoCut            CutPoint = iota
	CutBeforeHeaders          // the client receives no byte
	CutInBody                 // after the first half of the body
)

// An Answer is the answer of the agent to one task. The zero value is status 200 with
// an empty body.
type Answer struct {
	Status int         // 0 means 200
	Header http.Header // sent in addition to Content-Type: application/json, or replaces it
	// Decision is the body when Body is nil. An empty TaskID becomes that of the task.
	Decision *protocol.DecisionMessage
	Body     []byte // the body, sent unchanged
	// HoldHeaders and HoldBody delay the whole answer, or the second half of the body, until the
	// channel is closed; nil: no delay. The delay also ends when the client closes the
	// connection.
	HoldHeaders, HoldBody <-chan struct{}
	Cut                   CutPoint
}

// encode returns the answer as the server sends it.
func (a Answer) encode(tb testing.TB, task protocol.TaskMessage) loopback.Answer {
	out := loopback.Answer{
		Status: a.Status, Header: http.Header{"Content-Type": {"application/json"}}, Body: a.Body,
		Hold: a.HoldHeaders, HoldBody: a.HoldBody, Cut: loopback.Cut(a.Cut),
	}
	maps.Copy(out.Header, a.Header)
	if a.Body == nil && a.Decision != nil {
		m := *a.Decision
		m.TaskID = cmp.Or(m.TaskID, task.TaskID)
		var err error
		if out.Body, err = json.Marshal(m); err != nil {
			tb.Errorf("agenttest: encode the decision: %v", err)
		}
	}
	return out
}

// Decide answers with a decision on the received task.
func Decide(d protocol.DecisionType, rationale string, actions ...protocol.ActionItem) Answer {
	return Answer{Decision: &protocol.DecisionMessage{Decision: d, Rationale: rationale, Actions: actions}}
}

// Skip answers with the decision to skip the task.
func Skip(rationale string) Answer { return Decide(protocol.Skip, rationale) }

// WrongTask answers with a decision on another task.
func WrongTask(id string) Answer {
	a := Skip("meant for another task")
	a.Decision.TaskID = id
	return a
}

// Status answers with a status and a body.
func Status(code int, body string) Answer { return Answer{Status: code, Body: []byte(body)} }

// Raw answers with status 200 and any body.
func Raw(body string) Answer { return Status(http.StatusOK, body) }

// Redirect answers with a redirect to another address.
func Redirect(code int, to string) Answer {
	return Answer{Status: code, Header: http.Header{"Location": {to}}}
}

// Huge answers with a decision whose JSON has more than n bytes.
func Huge(n int) Answer { return Skip(strings.Repeat("x", n)) }

// Held sends no byte until the client closes the connection or the test ends.
func Held() Answer { return Answer{HoldHeaders: make(chan struct{})} }

// HeldBody sends headers and half a body. It sends no more until the client closes the connection
// or the test ends.
func HeldBody() Answer {
	a := Skip("this will not be read to its end")
	a.HoldBody = make(chan struct{})
	return a
}
