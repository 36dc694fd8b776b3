package memory

import (
	"time"

	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/triage"
)

// The bounds of the proposals of a record.
const (
	MaxPending = 20 // proposals of one issue that wait for an answer
	MaxEnded   = 50 // proposals of one issue that ended; the oldest are dropped
)

// A ProposalState is the progress of a proposal.
type ProposalState string

// The states. All but pending are final.
const (
	Pending   ProposalState = "pending"   // it waits for an answer
	Accepted  ProposalState = "accepted"  // a person accepted it, and it was carried out
	Rejected  ProposalState = "rejected"  // a person rejected it
	Overtaken ProposalState = "overtaken" // it holds already, the issue is closed, or the policy refuses it now
	Expired   ProposalState = "expired"   // nobody answered in time
)

// A Proposal is an action, or several that belong together, which people accept or reject.
type Proposal struct {
	Number  int       `json:"number"` // on the issue, from 1; never used again
	ID      string    `json:"id"`     // a UUID; the task id of what is written when it is accepted
	At      time.Time `json:"at"`     // UTC
	Expires time.Time `json:"expires"`
	// Source is the [triage.Source.ID] of the action: the id of a rule, or empty for an agent.
	Source string              `json:"source"`
	Action protocol.ActionItem `json:"action"`
	// Group are all actions that are carried out together, in their order, Action among them. Nil: Action
	// alone.
	Group      []protocol.ActionItem `json:"group,omitempty"`
	Confidence protocol.Confidence   `json:"confidence,omitempty"`
	Rationale  string                `json:"rationale,omitempty"` // neutralized; never shown to an agent
	Carrier    triage.Carrier        `json:"carrier"`
	State      ProposalState         `json:"state"`
	By         string                `json:"by,omitempty"`     // login of the person who answered; empty: none, or unknown
	Ended      time.Time             `json:"ended,omitzero"`   // UTC
	Reason     string                `json:"reason,omitempty"` // why it was overtaken or expired; may be empty
}

// Actions returns the actions of the proposal in the order in which they are carried out.
func (p Proposal) Actions() []protocol.ActionItem {
	if len(p.Group) > 0 {
		return p.Group
	}
	return []protocol.ActionItem{p.Action}
}
