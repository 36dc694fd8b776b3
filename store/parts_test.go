package store_test

import (
	"testing"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/queue/queuetest"
	"github.com/org/foreman-action/store"
	"github.com/org/foreman-action/store/storetest"
)

func TestParts(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(*testing.T) storetest.Store {
		clock := queuetest.NewClock()
		o := queue.Options{Now: clock.Now}
		p := store.Parts{Queue: queue.New(o), Slots: queue.NewSlots(o), Journal: memory.NewJournal(), Memory: memory.New()}
		q, _ := p.Queue.(queue.Queue)
		return storetest.Store{Queue: q, Slots: p.Slots, Journal: p.Journal, Memory: p.Memory, Advance: p.Advance, Clock: clock}
	})
}
