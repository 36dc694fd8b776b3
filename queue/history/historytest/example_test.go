package historytest_test

import (
	"path/filepath"
	"testing"

	"github.com/org/foreman-action/queue/history/historytest"
	"github.com/org/foreman-action/queue/queuetest"
	"github.com/org/foreman-action/store/sqlite"
)

// The test of a store of your own: two handles on the same data, with one clock.
func ExampleRun() {
	_ = func(t *testing.T) {
		historytest.Run(t, func(t *testing.T) historytest.Pair {
			clock := queuetest.NewClock()
			open := func() *sqlite.Store {
				s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "foreman.db"), sqlite.Options{Now: clock.Now})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { s.Close() })
				return s
			}
			one := open()
			pair := queuetest.Pair{A: one.Queue(), B: one.Queue(), Clock: clock}
			return historytest.Pair{Pair: pair, HistoryA: one.History(), HistoryB: one.History()}
		})
	}
	// Output:
}
