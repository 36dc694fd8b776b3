// Package sqlsteps makes the steps of a decision in SQL, each in one transaction. It joins what packages
// sqlqueue and sqlstore store.
package sqlsteps

import (
	"context"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/store"
	"github.com/org/foreman-action/store/internal/batch"
	"github.com/org/foreman-action/store/internal/sqlqueue"
	"github.com/org/foreman-action/store/internal/sqlstore"
)

// Steps make the steps of decisions in one database. They are safe for concurrent use.
type Steps struct {
	engine batch.Engine
	parts  Parts
	calls  *batch.Kind[*request] // nil: steps are not joined
	joining
}

// Parts are the parts of the database.
type Parts struct {
	Queue   *sqlqueue.Queue
	Records *sqlstore.Records
	Ledgers *sqlstore.Ledgers
	Slots   *sqlstore.Slots
}

// New returns the Steps of a database.
func New(e batch.Engine, d sqlstore.Dialect, p Parts) *Steps {
	s := &Steps{engine: e, parts: p}
	if d.Batches {
		s.joining = newJoining(d)
		s.calls = &batch.Kind[*request]{Order: 4, Join: s.together, Size: (*request).size}
	}
	return s
}

// A request is a step with its texts in the form in which they are stored.
type request struct {
	store.Step

	path   string // of the ledger; empty: none
	ledger []byte
	record *sqlstore.Next // nil: none

	out store.Advanced
}

func newRequest(s store.Step) (r *request, err error) {
	r = &request{Step: s}
	if err := s.Check(); err != nil {
		return r, err
	}
	if s.Ledger != nil {
		if r.path, err = s.Ledger.Path(); err != nil {
			return r, err
		}
		if r.ledger, err = memory.EncodeLedger(*s.Ledger); err != nil {
			return r, err
		}
	}
	if s.Record != nil {
		next, err := sqlstore.NextOf(*s.Record)
		if err != nil {
			return r, err
		}
		r.record = &next
	}
	return r, nil
}

// Advance makes a step. It stores all of it or, after an error, nothing. Errors: queue.ErrLost if the
// lease is lost; memory.ErrConflict, memory.ErrNewer and others of memory.Store.Save; those of encoding
// the ledger; queue.ErrUnavailable, after which the step may be stored.
func (s *Steps) Advance(ctx context.Context, step store.Step) (store.Advanced, error) {
	what := "store the progress of task " + step.Lease.ID
	r, err := newRequest(step)
	if err != nil {
		return store.Advanced{}, sqlstore.Wrap(what, err)
	}
	if s.calls != nil && r.usual() {
		served, err := batch.Do(ctx, s.engine, s.calls, r)
		if err != nil {
			return store.Advanced{}, sqlstore.Wrap(what, err)
		}
		if served {
			return r.out, nil
		}
	}
	out, err := sqlstore.Value(ctx, s.engine.Write, func(tx sqlstore.Tx) (store.Advanced, error) { return s.advance(tx, r) })
	if err != nil {
		return store.Advanced{}, sqlstore.Wrap(what, err)
	}
	return out, nil
}

// advance makes a step in a transaction.
func (s *Steps) advance(tx sqlstore.Tx, r *request) (out store.Advanced, err error) {
	if r.Slot != nil {
		if err := s.parts.Slots.LockIn(tx, r.Slot.Identity); err != nil {
			return out, err
		}
	}
	if err := s.parts.Queue.RenewIn(tx, r.Lease, r.For); err != nil {
		return out, err
	}
	out.Renewed = true
	if r.ledger != nil {
		if err := s.parts.Ledgers.PutIn(tx, r.path, r.ledger, r.Changed == nil); err != nil {
			return out, err
		}
	}
	if r.record != nil {
		if err := s.parts.Records.SaveIn(tx, *r.record); err != nil {
			return out, err
		}
	}
	if r.Slot != nil {
		out.Slot.Wait, out.Slot.Taken, err = s.parts.Slots.TakeIn(tx, *r.Slot)
	}
	return out, err
}
