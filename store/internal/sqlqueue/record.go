package sqlqueue

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/org/foreman-action/memory"
)

var (
	_ memory.Agenda  = (*Store)(nil)
	_ memory.Journal = (*Store)(nil)
)

// Load implements memory.Store.
func (s *Store) Load(ctx context.Context, repo string, issue int) (memory.Record, error) {
	if _, err := memory.Key(repo, issue); err != nil {
		return memory.Record{}, doing("read memory", err)
	}
	var data []byte
	err := s.engine.Look(ctx, func(tx Tx) (err error) {
		data, err = s.record(tx, s.sql.record, repo, issue)
		return err
	})
	if err == nil && data == nil {
		return memory.Record{}, memory.ErrNotFound
	}
	var r memory.Record
	if err == nil {
		r, err = memory.Decode(data, repo, issue)
	}
	return r, doing(fmt.Sprintf("read memory of %s#%d", repo, issue), err)
}

// record reads a stored record; nil: there is none.
func (s *Store) record(tx Tx, query, repo string, issue int) (data []byte, err error) {
	_, err = one(tx, query, func(r Row) error { return r.Scan(&data) }, strings.ToLower(repo), int64(issue))
	return data, err
}

// Save implements memory.Store.
func (s *Store) Save(ctx context.Context, r memory.Record) error {
	if _, err := memory.Key(r.Repo, r.Issue); err != nil {
		return doing("save memory", err)
	}
	next := r
	next.Revision++
	data, err := memory.Encode(next)
	if err == nil {
		err = s.engine.Write(ctx, func(tx Tx) error { return s.save(tx, r, data) })
	}
	return doing(fmt.Sprintf("save memory of %s#%d", r.Repo, r.Issue), err)
}

// save stores the encoded form of a record that had the revision of r.
func (s *Store) save(tx Tx, r memory.Record, data []byte) error {
	var due any
	if at, ok := r.Due(); ok {
		due = at.UnixMilli()
	}
	args := []any{strings.ToLower(r.Repo), int64(r.Issue), int64(r.Revision), due, data}
	if r.Revision > 0 {
		n, err := tx.Exec(s.sql.update, args...)
		if err == nil && n == 0 {
			err = memory.ErrConflict
		}
		return err
	}
	n, err := tx.Exec(s.sql.create, args...)
	if err != nil || n > 0 {
		return err
	}
	old, err := s.record(tx, s.sql.recordHold, r.Repo, r.Issue)
	if err != nil {
		return err
	}
	if _, err := memory.Decode(old, r.Repo, r.Issue); !errors.Is(err, memory.ErrBroken) {
		if err == nil {
			err = memory.ErrConflict
		}
		return err
	}
	path, err := memory.Key(r.Repo, r.Issue)
	if err != nil {
		return err
	}
	if err := s.setAside(tx, path, old); err != nil {
		return err
	}
	_, err = tx.Exec(s.sql.replace, args...)
	return err
}

// Pending implements memory.Agenda.
func (s *Store) Pending(ctx context.Context, repo string) (list []memory.Due, complete bool, err error) {
	if _, err := memory.Key(repo, 1); err != nil {
		return nil, false, doing("look for closings", err)
	}
	err = s.engine.Look(ctx, func(tx Tx) error {
		list = nil
		return tx.Query(s.sql.due, func(r Row) error {
			var d memory.Due
			var at int64
			err := r.Scan(&d.Issue, &at)
			d.At = timeOf(at)
			list = append(list, d)
			return err
		}, strings.ToLower(repo))
	})
	return list, err == nil, doing("look for closings", err)
}

// Ledger implements memory.Journal.
func (s *Store) Ledger(ctx context.Context, key memory.LedgerKey) (memory.Ledger, error) {
	path, err := key.Path()
	if err != nil {
		return memory.Ledger{}, doing("read journal", err)
	}
	var data []byte
	err = s.engine.Look(ctx, func(tx Tx) (err error) {
		data, err = ledger(tx, s.sql.ledger, path)
		return err
	})
	if err != nil {
		return memory.Ledger{}, doing("read journal", err)
	}
	if data == nil {
		return memory.Ledger{}, memory.ErrNotFound
	}
	l, err := memory.DecodeLedger(data, key)
	return l, doing("read journal "+path, err)
}

// ledger reads a stored ledger; nil: there is none.
func ledger(tx Tx, query, path string) (data []byte, err error) {
	_, err = one(tx, query, func(r Row) error { return r.Scan(&data) }, path)
	return data, err
}

// Begin implements memory.Journal. It deletes a few ledgers that are older than
// memory.LedgerAge.
func (s *Store) Begin(ctx context.Context, l memory.Ledger) error {
	path, err := l.Path()
	if err != nil {
		return doing("begin journal", err)
	}
	data, err := memory.EncodeLedger(l)
	if err == nil {
		err = s.engine.Write(ctx, func(tx Tx) error { return s.begin(tx, l.LedgerKey, path, data) })
	}
	return doing("begin journal "+path, err)
}

func (s *Store) begin(tx Tx, key memory.LedgerKey, path string, data []byte) error {
	if _, err := tx.Exec(s.sql.forget, tx.Now(), memory.LedgerAge.Milliseconds()); err != nil {
		return err
	}
	n, err := tx.Exec(s.sql.begin, tx.Now(), path, data)
	if err != nil || n > 0 {
		return err
	}
	old, err := ledger(tx, s.sql.ledgerHold, path)
	if err != nil {
		return err
	}
	if _, err := memory.DecodeLedger(old, key); !errors.Is(err, memory.ErrBroken) {
		if err == nil {
			err = fmt.Errorf("%w: the task has a ledger already", memory.ErrConflict)
		}
		return err
	}
	if err := s.setAside(tx, path, old); err != nil {
		return err
	}
	_, err = tx.Exec(s.sql.mark, tx.Now(), path, data)
	return err
}

// Mark implements memory.Journal.
func (s *Store) Mark(ctx context.Context, key memory.LedgerKey, e memory.Entry) error {
	path, err := key.Path()
	if err != nil {
		return doing("mark journal", err)
	}
	err = s.engine.Write(ctx, func(tx Tx) error {
		data, err := ledger(tx, s.sql.ledgerHold, path)
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
		_, err = tx.Exec(s.sql.mark, tx.Now(), path, data)
		return err
	})
	return doing("mark journal "+path, err)
}

// maxAside is how many texts that cannot be read are kept: the newest.
const maxAside = 1000

// setAside keeps a text that cannot be read, for people to look at.
func (s *Store) setAside(tx Tx, path string, data []byte) error {
	var id int64
	if _, err := one(tx, s.sql.aside, func(r Row) error { return r.Scan(&id) }, tx.Now(), path, data); err != nil {
		return err
	}
	_, err := tx.Exec(s.sql.trimAside, id-maxAside)
	return err
}
