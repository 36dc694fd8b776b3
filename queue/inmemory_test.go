package queue_test

import (
	"testing"

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/queue/queuetest"
)

func TestQueue(t *testing.T) {
	t.Parallel()
	queuetest.Run(t, open)
}

func TestSlots(t *testing.T) {
	t.Parallel()
	queuetest.RunSlots(t, open)
}

func TestPauses(t *testing.T) {
	t.Parallel()
	queuetest.RunPauses(t, open)
}

func open(*testing.T) queuetest.Pair {
	clock := queuetest.NewClock()
	o := queue.Options{Now: clock.Now}
	q, slots := queue.New(o), queue.NewSlots(o)
	return queuetest.Pair{A: q, B: q, SlotsA: slots, SlotsB: slots, PausesA: q, PausesB: q, Clock: clock}
}
