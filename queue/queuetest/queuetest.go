// Package queuetest holds the tests that every queue.Queue passes, and one that lives
// in memory for tests of what uses queues.
package queuetest

import (
	"cmp"
	"slices"
	"testing"

	"github.com/org/foreman-action/queue"
)

// A Pair is an empty store, opened twice: A and B share nothing but what is stored, as
// two processes do. The store's clock is Clock, and never moves by itself.
type Pair struct {
	A, B  queue.Queue
	Clock *Clock
}

// Run runs the suite. open is called once per subtest, and may use t.Cleanup to close
// what it opened.
func Run(t *testing.T, open func(t *testing.T) Pair) {
	t.Helper()
	for _, c := range cases() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := open(t)
			c.test(&rig{TB: t, a: p.A, b: p.B, clock: p.Clock})
		})
	}
}

// testCase is a behaviour of the contract.
type testCase struct {
	name string
	test func(*rig)
}

// cases returns all of the suite.
func cases() []testCase {
	all := slices.Concat(enqueueCases(), behindCases(), claimCases(), heartbeatCases(), completeCases(), drainCases(), leaseCases(),
		sweepCases(), limitCases(), readCases(), peopleCases(), purgeCases(), watchCases(), hostileCases(), parallelCases())
	slices.SortStableFunc(all, func(a, b testCase) int { return cmp.Compare(a.name, b.name) })
	return all
}
