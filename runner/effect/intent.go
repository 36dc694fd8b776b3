package effect

import "github.com/org/foreman-action/protocol"

// An Intent is why a change is made. A host that has a place for it shows it beside the change. The
// zero value is none, and the host gets the change without one.
//
// A host must not be given an Intent with Suggest unless the timeline of the issue showed that it
// knows intents: a host that does not know them may carry out what was only proposed.
type Intent struct {
	Rationale  string // neutralized text of at most 280 characters; may be empty
	Confidence protocol.Confidence
	Suggest    bool // the change is only proposed: a person accepts or rejects it
}
