package queue

import "encoding/json"

// The values of Origin.Source.
const (
	SourceWebhook = "webhook"
	SourcePoll    = "poll"
	// SourceProposals is the harness itself, without an event: proposals of the issue are too old, or
	// the comment with them is missing. The task has no decision.
	SourceProposals = "proposals"
)

// An Origin is the data of an event that a harness stores beside the task: Task.Origin is its JSON.
type Origin struct {
	// Event is the event's name, such as "issues". It is needed to parse the payload in the task's
	// message as an event again.
	Event    string `json:"event"`
	Delivery string `json:"delivery,omitempty"` // id of the webhook's delivery; empty: none
	Trace    string `json:"trace,omitempty"`    // a W3C traceparent; empty: none
	Source   string `json:"source,omitempty"`   // such as SourceWebhook
}

// ParseOrigin parses the origin of a task. Rows of other programs have none, or another format: no
// data is the zero Origin, and with an error ParseOrigin returns the fields that it could parse.
func ParseOrigin(data []byte) (Origin, error) {
	var o Origin
	if len(data) == 0 {
		return o, nil
	}
	err := json.Unmarshal(data, &o)
	return o, err
}
