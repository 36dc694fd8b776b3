package postgres_test

import (
	"testing"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/memory/memorytest"
	"github.com/org/foreman-action/queue/history/historytest"
	"github.com/org/foreman-action/queue/queuetest"
	"github.com/org/foreman-action/store/postgres"
	"github.com/org/foreman-action/store/storetest"
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

func TestQueue(t *testing.T) {
	t.Parallel()
	stores := pairs{suite: t, schema: postgres.Server(t).Schema}
	queuetest.Run(t, func(t *testing.T) queuetest.Pair { return stores.lend(t).conformance() })
}

func TestMemory(t *testing.T) {
	t.Parallel()
	stores := pairs{suite: t, schema: postgres.Server(t).Schema, databaseClock: true}
	memorytest.Run(t, func(t *testing.T) memory.Store { return stores.lend(t).a.Memory() })
}

func TestAgenda(t *testing.T) {
	t.Parallel()
	stores := pairs{suite: t, schema: postgres.Server(t).Schema, databaseClock: true}
	memorytest.RunAgenda(t, func(t *testing.T) memory.Agenda { return stores.lend(t).a.Memory() })
}

func TestDelete(t *testing.T) {
	t.Parallel()
	stores := pairs{suite: t, schema: postgres.Server(t).Schema, databaseClock: true}
	memorytest.RunDelete(t, func(t *testing.T) memorytest.Deletable {
		s := stores.lend(t).a
		return memorytest.Deletable{Store: s.Memory(), Journal: s.Journal(), Delete: s.DeleteRecord}
	})
}

func TestJournal(t *testing.T) {
	t.Parallel()
	stores := pairs{suite: t, schema: postgres.Server(t).Schema, databaseClock: true}
	memorytest.RunJournal(t, func(t *testing.T) memory.Journal {
		p := stores.lend(t)
		return journal{p.a.Journal(), p.url}
	})
}

// A journal is one that the suite can close and open again.
type journal struct {
	memory.Journal

	url string
}

func (j journal) Reopen(t *testing.T) memory.Journal {
	t.Helper()
	return open(t, j.url, postgres.Options{}).Journal()
}

func TestSlots(t *testing.T) {
	t.Parallel()
	stores := pairs{suite: t, schema: postgres.Server(t).Schema}
	queuetest.RunSlots(t, func(t *testing.T) queuetest.Pair { return stores.lend(t).conformance() })
}

func TestAdvance(t *testing.T) {
	t.Parallel()
	stores := pairs{suite: t, schema: postgres.Server(t).Schema}
	storetest.Run(t, func(t *testing.T) storetest.Store {
		p := stores.lend(t)
		s := p.a
		return storetest.Store{Queue: s.Queue(), Slots: s.Slots(), Journal: s.Journal(), Memory: s.Memory(), Advance: s.Advance, Clock: p.clock.Load(), Atomic: true}
	})
}

func TestHistory(t *testing.T) {
	t.Parallel()
	stores := pairs{suite: t, schema: postgres.Server(t).Schema}
	historytest.Run(t, func(t *testing.T) historytest.Pair {
		p := stores.lend(t)
		return historytest.Pair{Pair: p.conformance(), HistoryA: p.a.History(), HistoryB: p.b.History()}
	})
}

func TestPauses(t *testing.T) {
	t.Parallel()
	stores := pairs{suite: t, schema: postgres.Server(t).Schema}
	queuetest.RunPauses(t, func(t *testing.T) queuetest.Pair { return stores.lend(t).conformance() })
}
