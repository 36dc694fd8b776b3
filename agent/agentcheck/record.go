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
	problems map[string]int // mistakes of requests, and how often
	agents   []string       // agent_url of the claims
	claims   int
	results  int                        // calls of /harness/result
	authed   int                        // requests with the credential
	requests int                        // all of them
	attempts bool                       // the agent echoes attempts
	answers  []protocol.DecisionMessage // to whole tasks
}

// An entry is a task and the agent's requests about it.
type entry struct {
	task      protocol.TaskMessage
	claimed   time.Time // zero: not yet
	beats     []time.Time
	decisions []decision
	refused   string // mistake in the form of a decision; empty: none
	lost      bool   // the claim is taken away
	excused   bool   // it stays open because of a check
}

func (e *entry) clone() entry {
	c := *e
	c.beats, c.decisions = slices.Clone(e.beats), slices.Clone(e.decisions)
	return c
}

// settled reports whether something arrived that is meant as a decision.
func (e *entry) settled() bool { return len(e.decisions) > 0 || e.refused != "" }

// open reports whether the agent owes a decision on the task.
func (e *entry) open() bool { return !e.claimed.IsZero() && !e.settled() && !e.excused }

// A decision is one that was sent in.
type decision struct {
	at      time.Time
	status  int // that it was answered with
	message protocol.DecisionMessage
}

// decisions returns how many decisions were sent in.
func (r record) decisions() int {
	n := 0
	for _, e := range r.tasks {
		n += len(e.decisions)
	}
	return n
}
