package agentcheck

import (
	"slices"
	"time"

	"github.com/org/foreman-action/protocol"
)

// A record lists the exchanges between the harness and the agent.
type record struct {
	counts

	lease time.Duration
	tasks []entry
}

// counts are the numbers of requests to the harness.
type counts struct {
	problems map[string]int // mistakes in requests, and how often each occurred
	agents   []string       // agent_url of the claims
	claims   int
	results  int                        // calls of /harness/result
	authed   int                        // requests with the right password
	requests int                        // all requests
	attempts bool                       // the agent sends the attempt of a claim back
	answers  []protocol.DecisionMessage // decisions on whole tasks
}

// An entry is a task and the agent's requests about it.
type entry struct {
	task      protocol.TaskMessage
	claimed   time.Time // zero: not claimed
	beats     []time.Time
	decisions []decision
	refused   string // mistake in the form of a rejected decision; empty: none
	lost      bool   // the agent lost the claim
	excused   bool   // a check has reported that it stayed open
}

func (e *entry) clone() entry {
	c := *e
	c.beats, c.decisions = slices.Clone(e.beats), slices.Clone(e.decisions)
	return c
}

// settled reports whether a decision arrived, even one with mistakes.
func (e *entry) settled() bool { return len(e.decisions) > 0 || e.refused != "" }

// open reports whether a decision on the claimed task is missing.
func (e *entry) open() bool { return !e.claimed.IsZero() && !e.settled() && !e.excused }

// A decision is a decision that the agent sent to the queue.
type decision struct {
	at      time.Time
	status  int // status of the harness's answer
	message protocol.DecisionMessage
}

// decisions returns the number of decisions that the agent sent to the queue.
func (r record) decisions() int {
	n := 0
	for _, e := range r.tasks {
		n += len(e.decisions)
	}
	return n
}
