package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/queue"
)

// maxSlotTime is how long a step waits for slots. It waits at most a sixth of the lease, so that the lease
// can still be renewed several times.
const maxSlotTime = 3 * time.Second

// Parts make steps of parts that are stored separately. They are safe for concurrent use if their parts
// are.
//
// The lease is renewed before anything else is stored, and once more after a slot was taken: what is
// stored, in particular the entry of a write that follows, is stored before the lease was confirmed.
type Parts struct {
	Queue   Renewer        // required
	Slots   queue.Slots    // nil: each slot is taken at once
	Journal memory.Journal // nil: no step has a ledger
	Memory  memory.Store   // nil: no step has a record
}

// A Renewer renews leases, as [queue.Queue] does.
type Renewer interface {
	Renew(ctx context.Context, l queue.Lease, d time.Duration) (time.Time, error)
}

// Advance makes a step. After an error, a part of it may be stored: first the lease is renewed, then the
// ledger and the record are stored, then the slot is taken. Errors: [queue.ErrLost] if the lease is lost,
// [memory.ErrConflict] if the stored record has another revision, and those of the parts.
func (p Parts) Advance(ctx context.Context, s Step) (out Advanced, err error) {
	if err := s.Check(); err != nil {
		return out, fmt.Errorf("store the progress of task %s: %w", s.Lease.ID, err)
	}
	if err := p.renew(ctx, s); err != nil {
		return out, err
	}
	out.Renewed = true
	if s.Ledger != nil {
		if err := p.write(ctx, *s.Ledger, s.Changed); err != nil {
			return out, err
		}
	}
	if s.Record != nil {
		if err := p.Memory.Save(ctx, *s.Record); err != nil {
			return out, err
		}
	}
	if s.Slot == nil {
		return out, nil
	}
	if out.Slot = p.take(ctx, *s.Slot, min(maxSlotTime, s.For/6)); !out.Slot.Taken && out.Slot.Err == nil {
		return out, nil // no write follows
	}
	if err := p.renew(ctx, s); err != nil {
		return Advanced{}, err
	}
	return out, nil
}

func (p Parts) renew(ctx context.Context, s Step) error {
	_, err := p.Queue.Renew(ctx, s.Lease, s.For)
	return err
}

// write stores a ledger, of which the entries with the indexes changed were changed since it was last
// stored.
func (p Parts) write(ctx context.Context, l memory.Ledger, changed []int) error {
	if changed == nil {
		err := p.Journal.Begin(ctx, l)
		if !errors.Is(err, memory.ErrConflict) {
			return err
		}
		// An earlier step stored the ledger, although it returned an error.
		for i := range l.Entries {
			changed = append(changed, i)
		}
	}
	for _, i := range changed {
		if err := p.Journal.Mark(ctx, l.LedgerKey, l.Entries[i]); err != nil {
			return err
		}
	}
	return nil
}

// take takes a slot. It waits for the slots for at most d.
func (p Parts) take(ctx context.Context, r queue.SlotRequest, d time.Duration) (out Slot) {
	if p.Slots == nil {
		return Slot{Taken: true}
	}
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	out.Wait, out.Taken, out.Err = p.Slots.TakeSlot(ctx, r)
	out.Wait = max(out.Wait, 0)
	return out
}
