package storetest_test

import (
	"testing"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/queue/queuetest"
	"github.com/org/foreman-action/store"
	"github.com/org/foreman-action/store/storetest"
)

// The tests of a store of your own. The function opens an empty store for each test, which takes the
// time from the clock.
func ExampleRun() {
	test := func(t *testing.T) {
		storetest.Run(t, func(*testing.T) storetest.Store {
			clock := queuetest.NewClock()
			q, slots := queue.New(queue.Options{Now: clock.Now}), queue.NewSlots(queue.Options{Now: clock.Now})
			journal, records := memory.NewJournal(), memory.New()
			advance := store.Parts{Queue: q, Slots: slots, Journal: journal, Memory: records}.Advance // here: your method
			return storetest.Store{Queue: q, Slots: slots, Journal: journal, Memory: records, Advance: advance, Clock: clock}
		})
	}
	_ = test
	// Output:
}
