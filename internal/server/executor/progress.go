package executor

import (
	"context"
	"errors"
	"slices"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store"
)

// A progress is the journal and the memory of one attempt. Beginning the ledger and marking an entry
// only change the ledger in memory. It is stored together with the next thing that must be durable: the
// permission of a request that writes, the record of the issue, or the end of the attempt. So a ledger
// that a killed process leaves has the entry of each write that may have been sent, and may lack the
// outcome of the last one.
//
// Its methods are safe for concurrent use.
type progress struct {
	lease   *lease
	journal memory.Journal // nil: there is none
	memory  memory.Store   // nil: there is none

	turn    chan struct{}  // semaphore for the fields below, so that steps are sequential
	absent  bool           // the journal has no ledger of the decision
	ledger  *memory.Ledger // nil: it was not read, or not begun
	changed []int          // indexes of the entries that are not stored
	stored  bool           // the ledger is stored, except for the changed entries
}

func newProgress(o Options, l *lease) *progress {
	return &progress{lease: l, journal: o.Journal, memory: o.Memory, turn: make(chan struct{}, 1)}
}

// take acquires turn. The caller calls done to release it.
func (p *progress) take(ctx context.Context) (done func(), err error) {
	select {
	case p.turn <- struct{}{}:
		return func() { <-p.turn }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// keep stores a copy of a ledger. The caller holds turn.
func (p *progress) keep(l memory.Ledger, stored bool) {
	l.Entries = slices.Clone(l.Entries)
	p.ledger, p.changed, p.stored = &l, nil, stored
}

// pending returns the ledger and its changed entries for a [store.Step]; nil: everything is stored. The
// caller holds turn.
func (p *progress) pending() (*memory.Ledger, []int) {
	switch {
	case p.ledger == nil || p.stored && len(p.changed) == 0:
		return nil, nil
	case !p.stored:
		return p.ledger, nil
	}
	return p.ledger, p.changed
}

// Ledger implements [memory.Journal].
func (p *progress) Ledger(ctx context.Context, key memory.LedgerKey) (memory.Ledger, error) {
	done, err := p.take(ctx)
	if err != nil {
		return memory.Ledger{}, err
	}
	defer done()
	l, err := p.journal.Ledger(ctx, key)
	p.absent = errors.Is(err, memory.ErrNotFound)
	if err == nil {
		p.keep(l, true)
	}
	return l, err
}

// Begin implements [memory.Journal]. It stores the ledger at once if a ledger may be stored that could
// not be read.
func (p *progress) Begin(ctx context.Context, l memory.Ledger) error {
	done, err := p.take(ctx)
	if err != nil {
		return err
	}
	defer done()
	if p.absent {
		if _, err := memory.EncodeLedger(l); err != nil {
			return err
		}
		p.keep(l, false)
		return nil
	}
	bounded, cancel := context.WithTimeout(ctx, p.lease.o.Lease)
	defer cancel()
	if err := p.lease.confirm(bounded); err != nil {
		return err
	}
	if err := p.journal.Begin(ctx, l); err != nil {
		return err
	}
	p.keep(l, true)
	return nil
}

// Mark implements [memory.Journal].
func (p *progress) Mark(ctx context.Context, key memory.LedgerKey, e memory.Entry) error {
	done, err := p.take(ctx)
	if err != nil {
		return err
	}
	defer done()
	if p.ledger == nil || p.ledger.LedgerKey != key {
		return memory.ErrNotFound
	}
	if err := p.ledger.Mark(e); err != nil {
		return err
	}
	if !slices.Contains(p.changed, e.Index) {
		p.changed = append(p.changed, e.Index)
	}
	return nil
}

// Load implements [memory.Store].
func (p *progress) Load(ctx context.Context, repo string, issue int) (memory.Record, error) {
	return p.memory.Load(ctx, repo, issue)
}

// Save implements [memory.Store]. It also stores the ledger.
func (p *progress) Save(ctx context.Context, r memory.Record) error {
	_, err := p.advance(ctx, store.Step{Record: &r})
	return err
}

// permit stores the ledger, confirms the lease, and takes a slot. If it returns no error and a slot that
// starts now, a request that writes is permitted.
func (p *progress) permit(ctx context.Context, r queue.SlotRequest) (store.Slot, error) {
	out, err := p.advance(ctx, store.Step{Slot: &r})
	return out.Slot, err
}

// flush stores the ledger, unless it is stored.
func (p *progress) flush(ctx context.Context) error {
	_, err := p.advance(ctx, store.Step{})
	return err
}

// advance makes a step that also stores the ledger. A step that would store nothing is not made.
func (p *progress) advance(ctx context.Context, s store.Step) (store.Advanced, error) {
	done, err := p.take(ctx)
	if err != nil {
		return store.Advanced{}, err
	}
	defer done()
	s.Ledger, s.Changed = p.pending()
	if s.Ledger == nil && s.Record == nil && s.Slot == nil {
		return store.Advanced{}, nil
	}
	out, err := p.lease.advance(ctx, s)
	switch {
	case s.Ledger == nil:
	case err == nil:
		p.stored, p.changed = true, nil
	default:
		if _, bad := memory.EncodeLedger(*s.Ledger); bad != nil { // it became too large
			return out, &permanentError{bad}
		}
	}
	return out, err
}
