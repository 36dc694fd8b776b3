package sqlqueue

import (
	"context"
	"fmt"

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store/internal/sqlhistory"
	"github.com/org/foreman-action/store/internal/sqlstore"
)

// retrying are the statements of Retry, AskAgain and Cancel, which people call.
type retrying struct {
	retry, unreport, decided string
	ask, undecide, earlier   string
	tasks                    tasks
	logbook                  logbook
	lanes                    lanes
	keep                     func(tx sqlstore.Tx, seq int64, state queue.State) error // as sqlhistory.Keep
}

func newRetrying(d sqlstore.Dialect) retrying {
	return retrying{
		retry: `UPDATE task SET state = $2, claims = 0, tries = 0, reason = '', run_at = 0, ended_at = NULL, followed = 1,
  slot = CASE WHEN hourly IS NULL THEN 0 ELSE slot END WHERE seq = $1`,
		ask: `UPDATE task SET asks = asks + 1, asked_attempt = attempt, asked_epoch = epoch,
  completed_at = CASE WHEN agent = '' THEN completed_at ELSE 0 END WHERE seq = $1`,
		undecide: "DELETE FROM task_result WHERE seq = $1",
		earlier:  "SELECT t.reason, r.decision FROM task t LEFT JOIN task_result r ON r.seq = t.seq WHERE t.seq = $1",
		unreport: "DELETE FROM task_report WHERE seq = $1",
		decided:  "SELECT 1 FROM task_result WHERE seq = $1",
		tasks:    newTasks(d),
		logbook:  newLogbook(d),
		lanes:    newLanes(d),
		keep:     sqlhistory.Keep(d),
	}
}

// A restart is a call of Retry or AskAgain.
type restart struct {
	seen   queue.Seen
	by     string
	asks   bool   // true for AskAgain
	reason string // reason for AskAgain
}

// restart makes a task ready again, and returns its new state and its agent. For a decision the
// agent is "".
func (r *retrying) restart(ctx context.Context, e sqlstore.Engine, c restart) (state int, agent string, err error) {
	err = e.Write(ctx, func(tx sqlstore.Tx) error {
		before, err := r.tasks.look(tx, c.seen.ID)
		if err != nil {
			return err
		}
		behind, err := r.lanes.predecessor(tx, before) // before the task itself is locked: see Dialect.ConcurrentWrites
		if err != nil {
			return err
		}
		t, err := r.tasks.takeSeen(tx, c.seen)
		if err != nil {
			return err
		}
		if ended := stateOf(t.state); ended == queue.Failed || ended == queue.Done {
			if err := r.keep(tx, t.seq, ended); err != nil {
				return err
			}
		}
		if state, err = r.next(tx, t, c.asks); err != nil {
			return err
		}
		if agent = t.agent; state != statePending {
			agent = ""
		}
		if _, err := tx.Exec(r.retry, t.seq, int64(state)); err != nil {
			return err
		}
		if behind != "" && (t.state == stateFailed || t.state == stateDone) && state == statePending {
			if err := r.lanes.keepBehind(tx, t.seq, behind); err != nil {
				return err
			}
		}
		if _, err := tx.Exec(r.unreport, t.seq); err != nil {
			return err
		}
		entry := queue.Entry{What: "retried", Who: c.by}
		if c.asks {
			entry = queue.Entry{What: "asked again", Who: c.by, Text: queue.AskText(t.attempt, c.reason)}
		}
		return r.logbook.note(tx, t.seq, entry)
	})
	return state, agent, err
}

// forget deletes the decision on a task for AskAgain, and logs the task's earlier result.
func (r *retrying) forget(tx sqlstore.Tx, t taskRow) error {
	var reason string
	var decision []byte
	if _, err := sqlstore.One(tx, r.earlier, sqlstore.Into(&reason, &decision), t.seq); err != nil {
		return err
	}
	entry := queue.Entry{What: "earlier result", Text: queue.EarlierText(stateOf(t.state), reason, decision)}
	if err := r.logbook.note(tx, t.seq, entry); err != nil {
		return err
	}
	for _, query := range []string{r.undecide, r.ask} {
		if _, err := tx.Exec(query, t.seq); err != nil {
			return err
		}
	}
	return nil
}

// next returns the new state of a task for Retry or AskAgain. For AskAgain it also deletes the
// decision.
func (r *retrying) next(tx sqlstore.Tx, t taskRow, asks bool) (state int, err error) {
	switch {
	case t.state == stateDone && asks, t.state == stateFailed:
	case t.state == stateBehind && !asks:
		return statePending, nil
	case (t.state == stateDelayed || t.state == stateHeld) && !asks:
		return t.state - holding, nil
	default:
		return 0, fmt.Errorf("%w: it is %s", queue.ErrState, stateOf(t.state))
	}
	if asks {
		if err := r.forget(tx, t); err != nil {
			return 0, err
		}
	}
	if t.agent == "" {
		return stateCompleted, nil
	}
	if decided, err := sqlstore.One(tx, r.decided, sqlstore.Ignore, t.seq); err != nil || decided {
		return stateCompleted, err
	}
	return statePending, nil
}

// cancel fails a task. by is the person who cancels it.
func (r *retrying) cancel(ctx context.Context, e sqlstore.Engine, seen queue.Seen, by string) (followUp, error) {
	return sqlstore.Value(ctx, e.Write, func(tx sqlstore.Tx) (followUp, error) {
		t, err := r.tasks.takeSeen(tx, seen)
		switch {
		case err != nil:
			return followUp{}, err
		case t.state == stateDraining:
			return followUp{}, fmt.Errorf("%w: it is being applied", queue.ErrState)
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
