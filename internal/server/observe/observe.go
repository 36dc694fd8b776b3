// Package observe defines the events that the server's background services report for
// metrics.
package observe

import "time"

// The values of Observation.Event. Metrics of Requeued and Purged come from the queue itself.
const (
	Executed   = "settled"  // an attempt at a decision ended; Status is its outcome
	Notified   = "nudged"   // an agent was notified of a task, or asked; Status is the result
	Requeued   = "requeued" // tasks were requeued or failed; Status is their state now
	Purged     = "purged"   // tasks were deleted
	LoopFailed = "stumbled" // a pass of a loop failed; Status is the loop's name
)

// An Observation is one event.
type Observation struct {
	Event  string
	Status string
	Agent  string // the agent concerned; may be empty
	Repo   string // may be empty
	N      int    // how often
	Took   time.Duration
}

// A Func receives observations. It must be fast, and is called concurrently. Nil discards.
type Func func(Observation)

// Report passes o to f.
func (f Func) Report(o Observation) {
	if f != nil {
		f(o)
	}
}
