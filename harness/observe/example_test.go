package observe_test

import (
	"fmt"
	"time"

	"github.com/org/foreman-action/harness"
	"github.com/org/foreman-action/harness/observe"
)

// A program counts what its harness does.
func ExampleFunc() {
	o := harness.Options{Observe: func(o observe.Observation) {
		if o.Event == observe.ApplyAttempted {
			fmt.Println("decision:", o.Status, "in", o.Took)
		}
	}}
	// The harness reports like this.
	o.Observe.Report(observe.Observation{Event: observe.ApplyAttempted, Status: "applied", Took: 200 * time.Millisecond})
	// Output: decision: applied in 200ms
}
