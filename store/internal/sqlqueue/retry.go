package sqlqueue

import (
	"context"
	"fmt"

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store/internal/sqlstore"
)

// retrying are the statements of Retry and Cancel, which people call.
type retrying struct {
	retry, unreport, decided string
	tasks                    tasks
	logbook                  logbook
	lanes                    lanes
}

func newRetrying(d sqlstore.Dialect) retrying {
	return retrying{
		retry: `UPDATE task SET state = $2, claims = 0, tries = 0, reason = '', run_at = 0, ended_at = NULL, followed = 1,
  slot = CASE WHEN hourly IS NULL THEN 0 ELSE slot END WHERE seq = $1`,
		unreport: "DELETE FROM task_report WHERE seq = $1",
		decided:  "SELECT 1 FROM task_result WHERE seq = $1",
		tasks:    newTasks(d),
		logbook:  newLogbook(d),
		lanes:    newLanes(d),
	}
}

// restart retries a task in the name of by, and returns its new state and its agent; "" for a
// decision.
func (r *retrying) restart(ctx context.Context, e sqlstore.Engine, id, by string) (state int, agent string, err error) {
	err = e.Write(ctx, func(tx sqlstore.Tx) error {
		before, err := r.tasks.look(tx, id)
		if err != nil {
			return err
		}
		behind, err := r.lanes.predecessor(tx, before) // before the task itself is locked: see Dialect.ConcurrentWrites
		if err != nil {
			return err
		}
		t, err := r.tasks.take(tx, id)
		if err != nil {
			return err
		}
		if state, err = r.next(tx, t); err != nil {
			return err
		}
		if agent = t.agent; state != statePending {
			agent = ""
		}
		if _, err := tx.Exec(r.retry, t.seq, int64(state)); err != nil {
			return err
		}
		if behind != "" && t.state == stateFailed && state == statePending {
			if err := r.lanes.keepBehind(tx, t.seq, behind); err != nil {
				return err
			}
		}
		if _, err := tx.Exec(r.unreport, t.seq); err != nil {
			return err
		}
		return r.logbook.note(tx, t.seq, queue.Entry{What: "retried", Who: by})
	})
	return state, agent, err
}

// next returns the state of a task that is retried.
func (r *retrying) next(tx sqlstore.Tx, t taskRow) (state int, err error) {
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
	if decided, err := sqlstore.One(tx, r.decided, sqlstore.Ignore, t.seq); err != nil || decided {
		return stateCompleted, err
	}
	return statePending, nil
}

// cancel fails a task in the name of by.
func (r *retrying) cancel(ctx context.Context, e sqlstore.Engine, id, by string) (followUp, error) {
	return sqlstore.Value(ctx, e.Write, func(tx sqlstore.Tx) (followUp, error) {
		t, err := r.tasks.take(tx, id)
		switch {
		case err != nil:
			return followUp{}, err
		case t.state == stateDraining:
			return followUp{}, fmt.Errorf("%w: it is being carried out", queue.ErrState)
		case t.state == stateDone || t.state == stateFailed:
			return followUp{}, fmt.Errorf("%w: it is %s", queue.ErrState, stateOf(t.state))
		}
		if err := r.tasks.end(tx, t, "cancelled by "+by); err != nil {
			return followUp{}, err
		}
		o, err := r.lanes.ended(tx, t.lane)
		if err != nil {
			return followUp{}, err
		}
		return o, r.logbook.note(tx, t.seq, queue.Entry{What: "cancelled", Who: by})
	})
}
