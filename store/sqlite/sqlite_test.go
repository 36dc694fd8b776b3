package sqlite_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/memory/memorytest"
	"github.com/org/foreman-action/queue/queuetest"
	"github.com/org/foreman-action/queue/queuetest/conformance"
	"github.com/org/foreman-action/store/sqlite"
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

func TestQueue(t *testing.T) {
	t.Parallel()
	conformance.Run(t, func(t *testing.T) conformance.Pair {
		path, clock := filepath.Join(t.TempDir(), "foreman.db"), queuetest.NewClock()
		return conformance.Pair{A: open(t, path, clock.Now), B: open(t, path, clock.Now), Clock: clock}
	})
}

func TestMemory(t *testing.T) {
	t.Parallel()
	fresh := func(t *testing.T) *sqlite.Store {
		t.Helper()
		return open(t, filepath.Join(t.TempDir(), "memory.db"), nil)
	}
	t.Run("store", func(t *testing.T) {
		memorytest.Run(t, func(t *testing.T) memory.Store { return fresh(t) })
	})
	t.Run("agenda", func(t *testing.T) {
		memorytest.RunAgenda(t, func(t *testing.T) memory.Agenda { return fresh(t) })
	})
	t.Run("journal", func(t *testing.T) {
		memorytest.RunJournal(t, func(t *testing.T) memory.Journal {
			path := filepath.Join(t.TempDir(), "memory.db")
			return journal{open(t, path, nil), path}
		})
	})
}

// A journal is a store that the suite can close and open again.
type journal struct {
	*sqlite.Store

	path string
}

func (j journal) Reopen(t *testing.T) memory.Journal {
	t.Helper()
	return open(t, j.path, nil)
}

func TestSlots(t *testing.T) {
	t.Parallel()
	conformance.RunSlots(t, func(t *testing.T) conformance.Pair {
		path, clock := filepath.Join(t.TempDir(), "foreman.db"), queuetest.NewClock()
		return conformance.Pair{A: open(t, path, clock.Now), B: open(t, path, clock.Now), Clock: clock}
	})
}
