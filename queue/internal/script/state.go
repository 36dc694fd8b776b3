package script

import (
	"testing"
	"time"

	"github.com/org/foreman-action/queue"
)

// The default values of arguments.
const (
	Agent = "http://a:9001/"
	Lease = 5 * time.Minute
	Repo  = "org/repo"
)

// A Pair is an empty store with two handles, A and B. They share only the stored data, like two
// processes. SlotsA and SlotsB are nil for scripts that take no slots, PausesA and PausesB for scripts
// without pauses.
type Pair struct {
	A, B             queue.Queue
	SlotsA, SlotsB   queue.Slots
	PausesA, PausesB queue.Pauses
	Clock            Clock
}

// A Clock is the clock of a store. It moves only by Advance.
type Clock interface {
	Now() time.Time
	Advance(d time.Duration)
}

// state is the data that later calls of a script use.
type state struct {
	testing.TB
	Pair

	last      int                    // greatest number of an enqueued task
	decisions int                    // number of decisions sent to Complete
	leases    map[string]queue.Lease // newest lease of each task
	changes   <-chan queue.Change    // the channel of the last "watch"
	slots     int                    // number of slots asked for
}

// A call is one call of the queue.
type call struct {
	*state
	step

	q      queue.Queue // the handle
	pauses queue.Pauses
	args   arguments
}

// An outcome is the result of a call.
type outcome struct {
	words  []string
	normal []string // expected words if the step names none; nil: any
	value  any      // its fields are compared
}

// lease returns the newest lease of a task, or its lease with the epoch in the arguments.
func (c *call) lease(id string) queue.Lease {
	h, ok := c.leases[id]
	if !ok {
		h.ID = id
	}
	h.Epoch = int64(c.args.int("epoch", int(h.Epoch)))
	return h
}
