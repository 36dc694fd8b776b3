// Package storetest tests implementations of the steps of a decision: every implementation passes [Run].
package storetest

import (
	"context"
	"testing"
	"time"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/memory/memorytest"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/queue/queuetest"
	"github.com/org/foreman-action/store"
)

// A Store is an empty store, with the method under test and the parts that show what it stored.
type Store struct {
	Queue   queue.Queue
	Slots   queue.Slots
	Journal memory.Journal
	Memory  memory.Store
	Advance func(ctx context.Context, s store.Step) (store.Advanced, error)
	Clock   *queuetest.Clock // of all parts
	// Atomic means that a step that fails stores nothing.
	Atomic bool
}

// Run runs the tests. open is called once per subtest, and may use t.Cleanup to close the store.
func Run(t *testing.T, open func(t *testing.T) Store) {
	t.Helper()
	for _, c := range []struct {
		name string
		test func(s *suite)
	}{
		{"lease", renews},
		{"ledger", ledgers},
		{"ledger of an earlier step", sameLedger},
		{"broken ledger", invalidLedger},
		{"record", records},
		{"record in conflict", conflict},
		{"slot", slots},
		{"no slot", noSlot},
		{"missed slots", missedSlots},
		{"clock set back", clockBack},
		{"everything", everything},
		{"lost lease", lost},
		{"invalid steps", invalid},
		{"cancelled", cancelled},
		{"at the same time", together},
		{"slots at the same time", slotRace},
		{"one record at the same time", oneRecord},
		{"one lease at the same time", oneLease},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.test(&suite{t, open(t)})
		})
	}
}

// A suite is the store under test, in one test.
type suite struct {
	*testing.T
	Store
}

const (
	lease = time.Minute // of the first lease
	repo  = "Org/Repo"
)

// key returns the key of the ledger of an issue's task.
func key(issue int) memory.LedgerKey { return memorytest.SampleKey(repo, issue) }

// leased enqueues a task of an issue, decides on it, and leases the decision.
func (s *suite) leased(issue int) queue.Lease {
	s.Helper()
	id := time.Duration(issue).String()
	if _, err := s.Queue.Enqueue(s.Context(), queue.Task{ID: id, Agent: "http://a/", Repo: repo, Issue: issue, Message: []byte("{}")}); err != nil {
		s.Fatal(err)
	}
	if _, err := s.Queue.Complete(s.Context(), queue.Ref{ID: id}, []byte("{}")); err != nil {
		s.Fatal(err)
	}
	return s.lease()
}

// lease leases the next decision.
func (s *suite) lease() queue.Lease {
	s.Helper()
	list, err := s.Queue.LeaseDecisions(s.Context(), queue.DrainOptions{Owner: "test", Lease: lease, Limit: 1})
	if err != nil || len(list) != 1 {
		s.Fatalf("LeaseDecisions: got %d, %v", len(list), err)
	}
	return list[0].Lease
}

// step makes a step that must succeed.
func (s *suite) step(step store.Step) store.Advanced {
	s.Helper()
	if step.For == 0 {
		step.For = lease
	}
	out, err := s.Advance(s.Context(), step)
	if err != nil || !out.Renewed {
		s.Fatalf("Advance: got %+v, %v", out, err)
	}
	return out
}

// until returns when the lease of a task ends.
func (s *suite) until(l queue.Lease) time.Time {
	s.Helper()
	d, err := s.Queue.Inspect(s.Context(), l.ID)
	if err != nil {
		s.Fatal(err)
	}
	return d.Until
}

// record returns the record of an issue with a number of tasks in its summary.
func record(issue, revision int) memory.Record {
	r := memorytest.Sample(repo, issue)
	r.Revision = revision
	return r
}

// revision returns the revision of the stored record; 0: there is none.
func (s *suite) revision(issue int) int {
	s.Helper()
	r, err := s.Memory.Load(s.Context(), repo, issue)
	if err != nil && err != memory.ErrNotFound { //nolint:errorlint // tested by memorytest
		s.Fatal(err)
	}
	return r.Revision
}

// request is a request for a slot.
func request(perMinute int) *queue.SlotRequest {
	return &queue.SlotRequest{Identity: "bot", PerMinute: perMinute, PerHour: 100, Within: 20 * time.Second}
}
