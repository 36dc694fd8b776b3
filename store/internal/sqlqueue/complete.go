package sqlqueue

import (
	"context"
	"errors"

	"github.com/org/foreman-action/queue"
)

// Complete implements queue.Queue.
func (s *Store) Complete(ctx context.Context, ref queue.Ref, decision []byte) (queue.Receipt, error) {
	if err := queue.CheckDecision(decision); err != nil {
		return queue.Receipt{}, doing("complete a task", err)
	}
	if !queue.IsText(ref.ID) {
		return queue.Receipt{Reason: noSuchTask}, nil
	}
	ref.By = queue.CleanText(ref.By)
	d := s.engine.Dialect()
	do := s.engine.Write
	if d.Complete != "" {
		do = s.engine.Single
	}
	var accepted bool
	err := do(ctx, func(tx Tx) (err error) {
		accepted, err = s.complete(tx, ref, decision)
		return err
	})
	var receipt queue.Receipt
	if err == nil && accepted {
		receipt.Accepted = true
		s.tell("")
	} else if err == nil {
		receipt, err = s.refuse(ctx, ref, decision)
	}
	return receipt, doing("complete task "+ref.ID, err)
}

// noSuchTask is why a decision is not accepted on a task that is not there.
const noSuchTask = "there is no such task"

// complete keeps a decision, if the task is waiting for it.
func (s *Store) complete(tx Tx, ref queue.Ref, decision []byte) (accepted bool, err error) {
	args := []any{tx.Now(), ref.ID, attemptOf(ref), ref.By}
	if d := s.engine.Dialect(); d.Complete != "" {
		return one(tx, s.sql.complete, none, append(args, decision)...)
	}
	var seq int64
	accepted, err = one(tx, s.sql.complete, func(r Row) error { return r.Scan(&seq) }, args...)
	if err == nil && accepted {
		_, err = tx.Exec(s.sql.result, seq, decision)
	}
	return accepted, err
}

// refuse finds out why a decision was not accepted, and notes it.
func (s *Store) refuse(ctx context.Context, ref queue.Ref, decision []byte) (receipt queue.Receipt, err error) {
	var why error
	err = s.engine.Write(ctx, func(tx Tx) error {
		receipt, why = queue.Receipt{}, nil
		t, err := lookup(tx, s.sql.hold, ref.ID)
		if errors.Is(err, queue.ErrNotFound) {
			receipt.Reason = noSuchTask
			return nil
		}
		if err != nil {
			return err
		}
		switch {
		case ref.By != "" && ref.By != t.claimedBy:
			receipt.Reason, why = "it was claimed by somebody else", queue.ErrNotYours
		case t.state == stateFailed:
			receipt.Reason = "the task failed before"
		case t.state == stateClaimed:
			receipt.Reason, why = "the task was given to another attempt", queue.ErrLost
		default:
			receipt.Reason = "the task is decided on already"
		}
		text := receipt.Reason + ": " + string(decision[:min(len(decision), 2*queue.MaxText)])
		return s.note(tx, t.seq, queue.Entry{What: "decision not accepted", Who: ref.By, Text: text})
	})
	if err == nil {
		err = why
	}
	return receipt, err
}

// The log of a task keeps its first entries and its newest ones.
const firstLogs = queue.MaxLogs / 2

// note adds an entry to the log of a task; its time is now.
func (s *Store) note(tx Tx, seq int64, e queue.Entry) error {
	var n int64
	_, err := one(tx, s.sql.log, func(r Row) error { return r.Scan(&n) }, tx.Now(), seq, e.What, queue.CleanText(e.Who), queue.CleanText(e.Text))
	if err == nil && n > queue.MaxLogs {
		_, err = tx.Exec(s.sql.trim, seq, int64(firstLogs), n-(queue.MaxLogs-firstLogs))
	}
	return err
}
