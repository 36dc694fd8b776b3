package queuetest

import "testing"

func TestQueue(t *testing.T) {
	t.Parallel()
	Run(t, openMemory)
}

func openMemory(*testing.T) Pair {
	clock := NewClock()
	q := New(Options{Now: clock.Now})
	return Pair{A: q, B: q, Clock: clock}
}
