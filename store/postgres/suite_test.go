package postgres_test

import (
	"testing"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/memory/memorytest"
	"github.com/org/foreman-action/queue/queuetest"
	"github.com/org/foreman-action/queue/queuetest/conformance"
	"github.com/org/foreman-action/store/postgres"
)

func open(t testing.TB, url string, o postgres.Options) *postgres.Store {
	t.Helper()
	s, err := postgres.Open(t.Context(), url, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// TestQueue runs the suite, in which no two transactions may wait for each other.
func TestQueue(t *testing.T) {
	t.Parallel()
	conformance.Run(t, func(t *testing.T) conformance.Pair {
		clock := queuetest.NewClock()
		url := schema(t)
		o := postgres.Options{Now: clock.Now, Connections: 8}
		w := &postgres.Witness{}
		a, b := postgres.OpenWatched(t, url, o, w), postgres.OpenWatched(t, url, o, w)
		t.Cleanup(func() { w.Judge(t, 8) })
		return conformance.Pair{A: a, B: b, Clock: clock}
	})
}

func TestMemory(t *testing.T) {
	t.Parallel()
	memorytest.Run(t, func(t *testing.T) memory.Store { return open(t, schema(t), postgres.Options{}) })
}

func TestAgenda(t *testing.T) {
	t.Parallel()
	memorytest.RunAgenda(t, func(t *testing.T) memory.Agenda { return open(t, schema(t), postgres.Options{}) })
}

func TestJournal(t *testing.T) {
	t.Parallel()
	memorytest.RunJournal(t, func(t *testing.T) memory.Journal {
		url := schema(t)
		return journal{open(t, url, postgres.Options{}), url}
	})
}

// A journal is a store that the suite can close and open again.
type journal struct {
	*postgres.Store

	url string
}

func (j journal) Reopen(t *testing.T) memory.Journal {
	t.Helper()
	return open(t, j.url, postgres.Options{})
}

func TestSlots(t *testing.T) {
	t.Parallel()
	conformance.RunSlots(t, func(t *testing.T) conformance.Pair {
		clock := queuetest.NewClock()
		url := schema(t)
		o := postgres.Options{Now: clock.Now, Connections: 8}
		return conformance.Pair{A: open(t, url, o), B: open(t, url, o), Clock: clock}
	})
}
