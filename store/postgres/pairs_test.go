package postgres_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/org/foreman-action/queue/queuetest"
	"github.com/org/foreman-action/queue/queuetest/conformance"
	"github.com/org/foreman-action/store/postgres"
)

// A pair is two stores that share a schema.
type pair struct {
	url     string
	a, b    *postgres.Store
	clock   atomic.Pointer[queuetest.Clock]
	witness postgres.Witness
}

func openPair(t *testing.T, url string) *pair {
	t.Helper()
	p := &pair{url: url}
	p.clock.Store(queuetest.NewClock())
	o := postgres.Options{Now: func() time.Time { return p.clock.Load().Now() }, Connections: 8}
	p.a, p.b = postgres.OpenWatched(t, url, o, &p.witness), postgres.OpenWatched(t, url, o, &p.witness)
	return p
}

// pairs are the pairs of a suite. Its cases use a pair one after the other, because connecting and
// creating tables would take most of the time of a case.
type pairs struct {
	suite  *testing.T                       // at its end, the stores are closed
	schema func(tb testing.TB) (url string) // creates a schema

	mu   sync.Mutex
	free []*pair
}

// lend returns a pair without rows for one test. At its end, lend checks that no two transactions
// waited for each other.
func (p *pairs) lend(t *testing.T) *pair {
	t.Helper()
	got := p.take()
	if got == nil {
		got = openPair(p.suite, p.schema(p.suite))
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
func (p *pair) conformance() conformance.Pair {
	return conformance.Pair{A: p.a, B: p.b, Clock: p.clock.Load()}
}
