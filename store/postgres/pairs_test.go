package postgres_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/org/foreman-action/queue/queuetest"
	"github.com/org/foreman-action/store/postgres"
)

// A pair is two stores that share a schema.
type pair struct {
	url     string
	a, b    *postgres.Store
	clock   atomic.Pointer[queuetest.Clock]
	witness postgres.Witness
}

// pairs are the pairs of a suite. Its tests use a pair one after the other, because connecting and
// creating tables would take most of the time of a test.
type pairs struct {
	suite         *testing.T                       // at its end, the stores are closed
	schema        func(tb testing.TB) (url string) // creates a schema
	databaseClock bool                             // the stores use the clock of the database instead of the test's

	mu   sync.Mutex
	free []*pair
}

// lend returns a pair without rows for one test. What the stores keep in memory remains. When the test
// ends, lend checks that there was no deadlock.
func (p *pairs) lend(t *testing.T) *pair {
	t.Helper()
	got := p.take()
	if got == nil {
		got = p.open(t)
	}
	got.clock.Store(queuetest.NewClock())
	t.Cleanup(func() {
		got.witness.Judge(t, 8)
		if t.Failed() {
			return // no other test gets this pair
		}
		got.a.Empty(t)
		p.mu.Lock()
		defer p.mu.Unlock()
		p.free = append(p.free, got)
	})
	return got
}

// open opens a pair. If it fails, only the test t fails.
func (p *pairs) open(t *testing.T) *pair {
	t.Helper()
	next := &pair{url: p.schema(t)}
	next.clock.Store(queuetest.NewClock())
	o := postgres.Options{Connections: 8}
	if !p.databaseClock {
		o.Now = func() time.Time { return next.clock.Load().Now() }
	}
	for _, store := range []**postgres.Store{&next.a, &next.b} {
		s, err := postgres.OpenTraced(t.Context(), next.url, o, &next.witness)
		if err != nil {
			t.Fatal(err)
		}
		p.suite.Cleanup(func() { s.Close() })
		*store = s
	}
	return next
}

// take returns a free pair, or nil.
func (p *pairs) take() *pair {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.free)
	if n == 0 {
		return nil
	}
	got := p.free[n-1]
	p.free = p.free[:n-1]
	return got
}

// conformance returns the pair for the suites of queues and slots.
func (p *pair) conformance() queuetest.Pair {
	return queuetest.Pair{A: p.a.Queue(), B: p.b.Queue(), SlotsA: p.a.Slots(), SlotsB: p.b.Slots(), PausesA: p.a.Pauses(), PausesB: p.b.Pauses(), Clock: p.clock.Load()}
}
