package sqlstore

import (
	"cmp"
	"context"
	"fmt"

	"github.com/org/foreman-action/memory"
)

// Ledgers implement memory.Journal. They are safe for concurrent use.
type Ledgers struct {
	engine Engine
	ledgerStatements
}

var _ memory.Journal = (*Ledgers)(nil)

// NewLedgers returns the ledgers of a database that [Migrate] was run on.
func NewLedgers(e Engine, d Dialect) *Ledgers { return &Ledgers{e, newLedgerStatements(d)} }

type ledgerStatements struct {
	ledger, ledgerHold       string
	begin, put, mark, forget string
	asides                   asides
}

func newLedgerStatements(d Dialect) ledgerStatements {
	const find = "SELECT data FROM memory_ledger WHERE path = $1"
	return ledgerStatements{
		ledger:     find,
		ledgerHold: d.Expand(find + "{lock}"),
		begin:      d.Expand("INSERT INTO memory_ledger (path, at, data) VALUES ($2, {now}, $3) ON CONFLICT DO NOTHING"),
		put:        d.Expand("INSERT INTO memory_ledger (path, at, data) VALUES ($2, {now}, $3) ON CONFLICT (path) DO UPDATE SET at = excluded.at, data = excluded.data"),
		mark:       d.Expand("UPDATE memory_ledger SET at = {now}, data = $3 WHERE path = $2"),
		forget:     d.Expand("DELETE FROM memory_ledger WHERE path IN (SELECT t.path FROM memory_ledger t WHERE t.at < {now} - $2 ORDER BY t.at LIMIT 20{skip})"),
		asides:     newAsides(d),
	}
}

// Ledger implements memory.Journal.
func (s *Ledgers) Ledger(ctx context.Context, key memory.LedgerKey) (memory.Ledger, error) {
	path, err := key.Path()
	if err != nil {
		return memory.Ledger{}, Wrap("read journal", err)
	}
	data, err := Value(ctx, s.engine.ReadOne, func(tx Tx) ([]byte, error) { return ledger(tx, s.ledger, path) })
	if err != nil {
		return memory.Ledger{}, Wrap("read journal", err)
	}
	if data == nil {
		return memory.Ledger{}, memory.ErrNotFound
	}
	l, err := memory.DecodeLedger(data, key)
	return l, Wrap("read journal "+path, err)
}

// ledger reads a stored ledger. It returns nil if there is none.
func ledger(tx Tx, query, path string) (data []byte, err error) {
	_, err = One(tx, query, Into(&data), path)
	return data, err
}

// Begin implements memory.Journal. It also deletes a few ledgers that are older than
// memory.LedgerAge.
func (s *Ledgers) Begin(ctx context.Context, l memory.Ledger) error {
	path, err := l.Path()
	if err != nil {
		return Wrap("begin journal", err)
	}
	data, err := memory.EncodeLedger(l)
	if err == nil {
		err = s.engine.Write(ctx, func(tx Tx) error { return s.open(tx, l.LedgerKey, path, data) })
	}
	return Wrap("begin journal "+path, err)
}

// PutIn stores an encoded ledger in the transaction of the caller, which must be the only writer of the
// ledger. It replaces the stored one. isNew means that the ledger was not stored before; then PutIn also
// deletes a few old ledgers.
func (s *Ledgers) PutIn(tx Tx, path string, data []byte, isNew bool) error {
	if isNew {
		if err := s.forgetOld(tx); err != nil {
			return err
		}
	}
	_, err := tx.Exec(s.put, tx.Now(), path, data)
	return err
}

// Forget returns the statement that deletes a few old ledgers.
func (s *Ledgers) Forget(now any) Statement {
	return Statement{Query: s.forget, Args: []any{now, memory.LedgerAge.Milliseconds()}, Each: Ignore}
}

// forgetOld deletes a few old ledgers.
func (s *Ledgers) forgetOld(tx Tx) error {
	_, err := tx.Exec(s.forget, tx.Now(), memory.LedgerAge.Milliseconds())
	return err
}

// open stores a new ledger, and deletes a few old ones.
func (s *Ledgers) open(tx Tx, key memory.LedgerKey, path string, data []byte) error {
	if err := s.forgetOld(tx); err != nil {
		return err
	}
	n, err := tx.Exec(s.begin, tx.Now(), path, data)
	if err != nil || n > 0 {
		return err
	}
	old, err := ledger(tx, s.ledgerHold, path)
	if err != nil {
		return err
	}
	_, err = memory.DecodeLedger(old, key)
	err = s.asides.keep(tx, path, old, cmp.Or(err, fmt.Errorf("%w: the task has a ledger already", memory.ErrConflict)))
	if err == nil {
		_, err = tx.Exec(s.mark, tx.Now(), path, data)
	}
	return err
}

// Mark implements memory.Journal.
func (s *Ledgers) Mark(ctx context.Context, key memory.LedgerKey, e memory.Entry) error {
	path, err := key.Path()
	if err != nil {
		return Wrap("mark journal", err)
	}
	err = s.engine.Write(ctx, func(tx Tx) error {
		data, err := ledger(tx, s.ledgerHold, path)
		if err != nil {
			return err
		}
		if data == nil {
			return memory.ErrNotFound
		}
		l, err := memory.DecodeLedger(data, key)
		if err != nil {
			return err
		}
		if err := l.Mark(e); err != nil {
			return err
		}
		if data, err = memory.EncodeLedger(l); err != nil {
			return err
		}
		_, err = tx.Exec(s.mark, tx.Now(), path, data)
		return err
	})
	return Wrap("mark journal "+path, err)
}
