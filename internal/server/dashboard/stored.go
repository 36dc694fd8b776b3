package dashboard

import (
	"encoding/json"
	"errors"

	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/runner"
)

// A stored task has the texts of a task, parsed once for all parts of a page.
type stored struct {
	message  message
	origin   queue.Origin
	decision decision // of the agent
	report   runner.Report
	broken   []unreadable // texts that cannot be parsed
}

// A message has the parts of a task's message that are shown.
type message struct {
	Payload struct {
		Title  string `json:"title"`
		Author string `json:"author"`
	} `json:"payload"`
	Context struct {
		Summary string `json:"memory_summary"`
	} `json:"context"`
}

// A decision has the parts of an agent's decision that the page shows. Its kind may be unknown.
type decision struct {
	Decision  string                `json:"decision"`
	Rationale string                `json:"rationale"`
	Actions   []protocol.ActionItem `json:"actions"`
}

// parse parses the texts of a task. A text that is missing or cannot be parsed becomes the zero value.
// If only a part of the message or of the origin cannot be parsed, the other parts are kept.
func parse(t queue.Details) stored {
	var s stored
	check := func(name, problem string, data []byte, err error) {
		if err != nil {
			s.broken = append(s.broken, unreadable{name, problem, block(string(data), maxLine)})
		}
	}
	var err error
	s.origin, err = queue.ParseOrigin(t.Origin)
	check("Origin", "It is not JSON.", t.Origin, err)
	err = json.Unmarshal(t.Message, &s.message)
	if _, other := errors.AsType[*json.UnmarshalTypeError](err); other {
		err = nil // it is JSON in the form of another program
	}
	check("Message", "It is not JSON, so no agent can be asked.", t.Message, err)
	s.decision, err = decode[decision](t.Result)
	if err == nil && t.Result != nil && s.decision.Decision == "" {
		err = errors.New("the decision is missing")
	}
	check("Decision", "It cannot be read.", t.Result, err)
	s.report, err = decode[runner.Report](t.Report)
	check("Report", "It cannot be read.", t.Report, err)
	return s
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
