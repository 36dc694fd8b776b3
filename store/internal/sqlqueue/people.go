package sqlqueue

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/org/foreman-action/queue"
)

// Retry implements queue.Queue.
func (s *Store) Retry(ctx context.Context, id, by string) (queue.State, error) {
	var state int
	var agent string
	if err := s.settle(ctx); err != nil { // one whose time has come is not held back
		return "", doing("retry task "+id, err)
	}
	err := s.engine.Write(ctx, func(tx Tx) error {
		behind, err := s.inLine(tx, id) // before the task itself is held: see crowded
		if err != nil {
			return err
		}
		t, err := lookup(tx, s.sql.hold, id)
		if err != nil {
			return err
		}
		if state, err = s.taken(tx, t); err != nil {
			return err
		}
		if agent = t.agent; state != statePending {
			agent = ""
		}
		if _, err := tx.Exec(s.sql.retry, t.seq, int64(state)); err != nil {
			return err
		}
		if behind != "" && t.state == stateFailed && state == statePending {
			if err := s.keepBehind(tx, t.seq, behind); err != nil {
				return err
			}
		}
		if _, err := tx.Exec(s.sql.unreport, t.seq); err != nil {
			return err
		}
		return s.note(tx, t.seq, queue.Entry{What: "retried", Who: by})
	})
	if err != nil {
		return "", doing("retry task "+id, err)
	}
	s.tell(agent)
	return stateOf(state), nil
}

// taken says in which state a task is taken up again.
func (s *Store) taken(tx Tx, t place) (state int, err error) {
	switch t.state {
	case stateBehind:
		return statePending, nil
	case stateDelayed, stateHeld:
		return t.state - holding, nil
	case stateFailed:
	default:
		return 0, fmt.Errorf("%w: it is %s", queue.ErrState, stateOf(t.state))
	}
	if t.agent == "" {
		return stateCompleted, nil
	}
	if decided, err := one(tx, s.sql.decided, none, t.seq); err != nil || decided {
		return stateCompleted, err
	}
	return statePending, nil
}

// Cancel implements queue.Queue.
func (s *Store) Cancel(ctx context.Context, id, by string) error {
	var o over
	err := s.engine.Write(ctx, func(tx Tx) error {
		t, err := lookup(tx, s.sql.hold, id)
		switch {
		case err != nil:
			return err
		case t.state == stateDraining:
			return fmt.Errorf("%w: it is being carried out", queue.ErrState)
		case t.state == stateDone || t.state == stateFailed:
			return fmt.Errorf("%w: it is %s", queue.ErrState, stateOf(t.state))
		}
		if o, err = s.fail(tx, t, "cancelled by "+by); err != nil {
			return err
		}
		return s.note(tx, t.seq, queue.Entry{What: "cancelled", Who: by})
	})
	if err == nil {
		s.follows(ctx, o)
	}
	return doing("cancel task "+id, err)
}

// Purge implements queue.Queue.
func (s *Store) Purge(ctx context.Context, before time.Time, limit int) (int, error) {
	if limit <= 0 {
		return 0, ctx.Err()
	}
	var gone []int64
	err := s.engine.Write(ctx, func(tx Tx) error {
		gone = nil
		if _, err := tx.Exec(s.sql.purgeAside, before.UnixMilli()); err != nil {
			return err
		}
		for _, state := range []int64{stateDone, stateFailed} {
			err := tx.Query(s.sql.purge, func(r Row) error {
				var seq int64
				err := r.Scan(&seq)
				gone = append(gone, seq)
				return err
			}, before.UnixMilli(), state, int64(limit-len(gone)))
			if err != nil {
				return err
			}
		}
		if len(gone) == 0 {
			return nil
		}
		list, err := json.Marshal(gone)
		if err != nil {
			return err
		}
		for _, query := range s.sql.purgeTexts {
			if _, err := tx.Exec(query, string(list)); err != nil {
				return err
			}
		}
		return nil
	})
	return len(gone), doing("purge tasks", err)
}
