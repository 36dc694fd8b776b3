package sqlite_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/memory/memorytest"
	"github.com/org/foreman-action/queue/history/historytest"
	"github.com/org/foreman-action/queue/queuetest"
	"github.com/org/foreman-action/store/sqlite"
	"github.com/org/foreman-action/store/storetest"
)

// open opens a store, and closes it at the end of the test.
func open(t testing.TB, path string, now func() time.Time) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{Now: now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return s
}

// pairOf returns two handles of a store.
func pairOf(a, b *sqlite.Store, clock *queuetest.Clock) queuetest.Pair {
	return queuetest.Pair{A: a.Queue(), B: b.Queue(), SlotsA: a.Slots(), SlotsB: b.Slots(), PausesA: a.Pauses(), PausesB: b.Pauses(), Clock: clock}
}

func TestQueue(t *testing.T) {
	t.Parallel()
	queuetest.Run(t, func(t *testing.T) queuetest.Pair {
		path, clock := filepath.Join(t.TempDir(), "foreman.db"), queuetest.NewClock()
		return pairOf(open(t, path, clock.Now), open(t, path, clock.Now), clock)
	})
}

func TestMemory(t *testing.T) {
	t.Parallel()
	fresh := func(t *testing.T) *sqlite.Store {
		t.Helper()
		return open(t, filepath.Join(t.TempDir(), "memory.db"), nil)
	}
	t.Run("store", func(t *testing.T) {
		memorytest.Run(t, func(t *testing.T) memory.Store { return fresh(t).Memory() })
	})
	t.Run("agenda", func(t *testing.T) {
		memorytest.RunAgenda(t, func(t *testing.T) memory.Agenda { return fresh(t).Memory() })
	})
	t.Run("delete", func(t *testing.T) {
		memorytest.RunDelete(t, func(t *testing.T) memorytest.Deletable {
			s := fresh(t)
			return memorytest.Deletable{Store: s.Memory(), Journal: s.Journal(), Delete: s.DeleteRecord}
		})
	})
	t.Run("journal", func(t *testing.T) {
		memorytest.RunJournal(t, func(t *testing.T) memory.Journal {
			path := filepath.Join(t.TempDir(), "memory.db")
			return journal{open(t, path, nil).Journal(), path}
		})
	})
}

// A journal is one that the suite can close and open again.
type journal struct {
	memory.Journal

	path string
}

func (j journal) Reopen(t *testing.T) memory.Journal {
	t.Helper()
	return open(t, j.path, nil).Journal()
}

func TestSlots(t *testing.T) {
	t.Parallel()
	queuetest.RunSlots(t, func(t *testing.T) queuetest.Pair {
		path, clock := filepath.Join(t.TempDir(), "foreman.db"), queuetest.NewClock()
		return pairOf(open(t, path, clock.Now), open(t, path, clock.Now), clock)
	})
}

func TestSteps(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) storetest.Store {
		clock := queuetest.NewClock()
		s := open(t, filepath.Join(t.TempDir(), "foreman.db"), clock.Now)
		return storetest.Store{Queue: s.Queue(), Slots: s.Slots(), Journal: s.Journal(), Memory: s.Memory(), Advance: s.Advance, Clock: clock, Atomic: true}
	})
}

func TestHistory(t *testing.T) {
	t.Parallel()
	historytest.Run(t, func(t *testing.T) historytest.Pair {
		path, clock := filepath.Join(t.TempDir(), "foreman.db"), queuetest.NewClock()
		a, b := open(t, path, clock.Now), open(t, path, clock.Now)
		return historytest.Pair{Pair: pairOf(a, b, clock), HistoryA: a.History(), HistoryB: b.History()}
	})
}

func TestPauses(t *testing.T) {
	t.Parallel()
	queuetest.RunPauses(t, func(t *testing.T) queuetest.Pair {
		path, clock := filepath.Join(t.TempDir(), "foreman.db"), queuetest.NewClock()
		return pairOf(open(t, path, clock.Now), open(t, path, clock.Now), clock)
	})
}
