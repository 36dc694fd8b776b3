package memorytest_test

import (
	"testing"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/memory/memorytest"
)

func TestStore(t *testing.T) {
	t.Parallel()
	memorytest.Run(t, func(*testing.T) memory.Store { return memory.New() })
}

func TestJournal(t *testing.T) {
	t.Parallel()
	memorytest.RunJournal(t, func(*testing.T) memory.Journal { return memory.NewJournal() })
}

func TestAgenda(t *testing.T) {
	t.Parallel()
	memorytest.RunAgenda(t, func(*testing.T) memory.Agenda { return memory.New() })
}
