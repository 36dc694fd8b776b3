package memory

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/org/foreman-action/protocol"
)

// The bounds of the forbidden labels and scheduled closes of a record.
const (
	MaxNever    = 50 // labels that are never added again
	MaxClosings = 5  // scheduled closes of one issue
)

const (
	maxLabel = 200 // bytes; GitHub allows 50 characters
	maxWord  = 100 // bytes of every text of a closing
	maxVetos = 10  // veto conditions of a closing
)

// A ScheduledClose is a deferred close: a scheduled run closes the issue, unless people veto it.
type ScheduledClose struct {
	// At is the time of the decision in UTC. Only later acts of people veto the closing.
	At     time.Time `json:"at"`
	Due    time.Time `json:"due"`              // when it may be carried out; UTC
	Reason string    `json:"reason,omitempty"` // as in close_issue; empty: the service's default
	Veto   []string  `json:"veto,omitempty"`   // the acts that veto it, such as protocol.VetoComment
	Rule   string    `json:"rule,omitempty"`   // id of the rule that asked for it; empty: an agent
	Pair   string    `json:"pair,omitempty"`   // as in Action
	Task   string    `json:"task"`             // id of the task in which it was decided
	// Vetoed means that people vetoed the closing, so it is not carried out. It stays in the
	// record so that no rule schedules it again.
	Vetoed bool `json:"vetoed,omitempty"`
	// Confidence is the one that the action stated; empty: none.
	Confidence protocol.Confidence `json:"confidence,omitempty"`
	// Accepted is the login of the person who accepted the proposal of the closing; empty: nobody.
	Accepted string `json:"accepted,omitempty"`
}

// check verifies the bounds of a closing.
func (c ScheduledClose) check() error {
	switch {
	case !storable(c.At) || !storable(c.Due):
		return errors.New("the time of a scheduled close is out of range")
	case !within(maxWord, c.Reason, c.Rule, c.Task, c.Accepted, string(c.Confidence)) || !within(maxWord, c.Veto...) || !within(maxPair, c.Pair) || len(c.Veto) > maxVetos:
		return errors.New("a scheduled close has too many vetoes, or a text that is too long")
	}
	return nil
}

// clip returns a copy of c within its bounds.
func (c ScheduledClose) clip() ScheduledClose {
	c.At, c.Due = clipTime(c.At), clipTime(c.Due)
	c.Reason, c.Rule, c.Task = clip(c.Reason, maxWord), clip(c.Rule, maxWord), clip(c.Task, maxWord)
	c.Accepted, c.Confidence = clip(c.Accepted, maxWord), protocol.Confidence(clip(string(c.Confidence), maxWord))
	c.Pair = clip(c.Pair, maxPair)
	c.Veto = slices.Clone(c.Veto[:min(len(c.Veto), maxVetos)])
	for i, v := range c.Veto {
		c.Veto[i] = clip(v, maxWord)
	}
	return c
}

// checkDeferred verifies the forbidden labels and the closings of a record.
func checkDeferred(never []string, closings []ScheduledClose) error {
	switch {
	case len(never) > MaxNever || !within(maxLabel, never...):
		return errors.New("the labels that are never added again are too many, or too long")
	case len(closings) > MaxClosings:
		return fmt.Errorf("it has %d scheduled closes, more than %d", len(closings), MaxClosings)
	}
	for _, c := range closings {
		if err := c.check(); err != nil {
			return err
		}
	}
	return nil
}
