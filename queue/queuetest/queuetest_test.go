package queuetest_test

import (
	"testing"

	"github.com/org/foreman-action/queue/queuetest"
	"github.com/org/foreman-action/queue/queuetest/conformance"
)

func TestQueue(t *testing.T) {
	t.Parallel()
	conformance.Run(t, open)
}

func TestSlots(t *testing.T) {
	t.Parallel()
	conformance.RunSlots(t, open)
}

func open(*testing.T) conformance.Pair {
	clock := queuetest.NewClock()
	q := queuetest.New(queuetest.Options{Now: clock.Now})
	return conformance.Pair{A: q, B: q, Clock: clock}
}
