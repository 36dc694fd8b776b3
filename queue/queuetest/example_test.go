package queuetest_test

import (
	"testing"

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/queue/queuetest"
)

// The tests of a queue of your own. The function opens two stores on the same data for each test,
// as two servers do. They take the time from the clock.
func ExampleRun() {
	test := func(t *testing.T) {
		queuetest.Run(t, func(*testing.T) queuetest.Pair {
			clock := queuetest.NewClock()
			q := queue.New(queue.Options{Now: clock.Now}) // here: your queue
			slots := queue.NewSlots(queue.Options{Now: clock.Now})
			return queuetest.Pair{A: q, B: q, SlotsA: slots, SlotsB: slots, Clock: clock}
		})
	}
	_ = test
	// Output:
}
