package script

import (
	"testing"
	"time"

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/queue/queuetest"
)

// The defaults of the arguments of calls.
const (
	Agent = "http://a:9001/"
	Lease = 5 * time.Minute
	Repo  = "org/repo"
)

// A Pair is an empty store, opened twice: A and B share only the stored data, as two
// processes do. The store's clock is Clock, and never moves by itself.
type Pair struct {
	A, B  queue.Queue
	Clock *queuetest.Clock
}

// Slots returns the handles as queue.Slots; ok is false if the store has none.
func (p Pair) Slots() (a, b queue.Slots, ok bool) {
	a, aok := p.A.(queue.Slots)
	b, bok := p.B.(queue.Slots)
	return a, b, aok && bok
}

// state is the data that calls leave for later ones.
type state struct {
	testing.TB
	Pair

	last      int                    // greatest number of a task that was enqueued
	decisions int                    // that were sent in
	leases    map[string]queue.Lease // newest lease of each task
	changes   <-chan queue.Change    // of "watch"
	slots     int                    // that were asked for
}

// A call is the call of the queue in a step.
type call struct {
	*state
	step

	q    queue.Queue // the handle
	args arguments
}

// An outcome is the result of a call.
type outcome struct {
	words  []string
	normal []string // words that the step expects if it names none; nil: any
	value  any      // its fields are compared
}

// lease returns the newest lease of a task, or the one of an epoch.
func (c *call) lease(id string) queue.Lease {
	h, ok := c.leases[id]
	if !ok {
		h.ID = id
	}
	h.Epoch = int64(c.args.int("epoch", int(h.Epoch)))
	return h
}
