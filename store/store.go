// Package store stores the progress of a decision that is carried out: its lease, its journal, its
// writes and its record.
//
// A [Step] changes them together. In one database a step is one transaction: the stores of packages
// store/sqlite and store/postgres have the method Advance. Of a queue, slots, a journal and a memory
// that are stored separately, [Parts] makes the steps, with a transaction for each part. Both pass the
// suite of package storetest.
package store

import (
	"context"
	"fmt"
	"time"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/queue"
)

// A Step is a step of the process that has leased a decision. Only Lease and For must be set.
type Step struct {
	// Lease is renewed to For from now. If it is lost, nothing else is stored. So a process whose
	// decision was leased by another one changes nothing.
	Lease queue.Lease
	For   time.Duration

	// Ledger replaces the stored ledger of the decision, if there is one: only the holder of the lease
	// writes the ledger, so it knows all entries. Nil: the ledger stays as it is.
	Ledger *memory.Ledger
	// Changed are the indexes of the entries that were changed since the ledger was last stored. Nil:
	// it was never stored. A journal that stores each entry separately needs to store only these.
	Changed []int

	// Record is saved as by [memory.Store]. Nil: none.
	Record *memory.Record

	// Slot is a request for a slot, as by [queue.Slots]; nil: none. If there is no slot, the other parts
	// of the step are stored nevertheless.
	Slot *queue.SlotRequest
}

// Advanced is the result of a [Step].
type Advanced struct {
	// Renewed means that the lease was renewed. After an error it may be true only if the parts are
	// stored separately.
	Renewed bool
	Slot    Slot // zero: no slot was requested
}

// A Slot is the answer to the request for a slot.
type Slot struct {
	Wait  time.Duration // the time until the slot, or until there may be one
	Taken bool
	// Err means that slots are stored separately and are unavailable. A slot may have been taken.
	Err error
}

// Progress makes steps of decisions. Implementations are safe for concurrent use, and pass the suite of package
// storetest. Errors of Advance: [queue.ErrLost] if the lease is lost, and those of the stores.
type Progress interface {
	Advance(ctx context.Context, s Step) (Advanced, error)
}

// Check returns the reason why the step is invalid, or nil. It does not check the ledger and the record,
// because encoding them does.
func (s Step) Check() error {
	if err := (queue.ClaimOptions{Lease: s.For}).Check(); err != nil {
		return err
	}
	if !queue.IsText(s.Lease.ID) {
		return queue.ErrLost
	}
	for _, i := range s.Changed {
		if s.Ledger == nil || i < 0 || i >= len(s.Ledger.Entries) {
			return fmt.Errorf("%w: the task has no action %d", memory.ErrNotFound, i)
		}
	}
	if s.Slot != nil {
		return s.Slot.Check()
	}
	return nil
}
