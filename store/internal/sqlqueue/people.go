package sqlqueue

import (
	"context"
	"fmt"

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store/internal/sqlstore"
)

// byHand are the statements for people who take a task up again, or end it.
type byHand struct {
	retry, unreport, decided string
	places                   places
	logbook                  logbook
	lanes                    lanes
}

func newByHand(d sqlstore.Dialect) byHand {
	return byHand{
		retry: `UPDATE task SET state = $2, claims = 0, tries = 0, reason = '', run_at = 0, ended_at = NULL, followed = 1,
  slot = CASE WHEN hourly IS NULL THEN 0 ELSE slot END WHERE seq = $1`,
		unreport: "DELETE FROM task_report WHERE seq = $1",
		decided:  "SELECT 1 FROM task_result WHERE seq = $1",
		places:   newPlaces(d),
		logbook:  newLogbook(d),
		lanes:    newLanes(d),
	}
}

// takeUp takes a task up again, in the name of by, and returns its state and whose task it
// is then; "" for a decision.
func (h *byHand) takeUp(ctx context.Context, e sqlstore.Engine, id, by string) (state int, agent string, err error) {
	err = e.Write(ctx, func(tx sqlstore.Tx) error {
		before, err := h.places.look(tx, id)
		if err != nil {
			return err
		}
		behind, err := h.lanes.inLine(tx, before) // before the task itself is held: see Dialect.Crowded
		if err != nil {
			return err
		}
		t, err := h.places.take(tx, id)
		if err != nil {
			return err
		}
		if state, err = h.next(tx, t); err != nil {
			return err
		}
		if agent = t.agent; state != statePending {
			agent = ""
		}
		if _, err := tx.Exec(h.retry, t.seq, int64(state)); err != nil {
			return err
		}
		if behind != "" && t.state == stateFailed && state == statePending {
			if err := h.lanes.keepBehind(tx, t.seq, behind); err != nil {
				return err
			}
		}
		if _, err := tx.Exec(h.unreport, t.seq); err != nil {
			return err
		}
		return h.logbook.note(tx, t.seq, queue.Entry{What: "retried", Who: by})
	})
	return state, agent, err
}

// next says in which state a task is taken up again.
func (h *byHand) next(tx sqlstore.Tx, t place) (state int, err error) {
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
	if decided, err := sqlstore.One(tx, h.decided, sqlstore.None, t.seq); err != nil || decided {
		return stateCompleted, err
	}
	return statePending, nil
}

// cancel fails a task in the name of by.
func (h *byHand) cancel(ctx context.Context, e sqlstore.Engine, id, by string) (o over, err error) {
	err = e.Write(ctx, func(tx sqlstore.Tx) error {
		t, err := h.places.take(tx, id)
		switch {
		case err != nil:
			return err
		case t.state == stateDraining:
			return fmt.Errorf("%w: it is being carried out", queue.ErrState)
		case t.state == stateDone || t.state == stateFailed:
			return fmt.Errorf("%w: it is %s", queue.ErrState, stateOf(t.state))
		}
		if err := h.places.end(tx, t, "cancelled by "+by); err != nil {
			return err
		}
		if o, err = h.lanes.ended(tx, t.lane); err != nil {
			return err
		}
		return h.logbook.note(tx, t.seq, queue.Entry{What: "cancelled", Who: by})
	})
	return o, err
}
