package sqlhistory

import (
	"encoding/json"

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/queue/history"
	"github.com/org/foreman-action/store/internal/sqlstore"
)

// Keep returns a function that adds the decision on a task and its end to the history, unless Record has
// added them. The function is called for a task that is done or failed, in the transaction that makes the task
// ready again: afterwards no statement finds its end. It is safe for concurrent use.
//
// The function changes the cursor, so that a call of Record that has read this end at the same time adds
// nothing, and the next call reads the tasks again. Transactions lock the cursor after the task and before the
// rows.
func Keep(d sqlstore.Dialect) func(tx sqlstore.Tx, seq int64, state queue.State) error {
	k := newStatements(d)
	return k.keep
}

func (k *statements) keep(tx sqlstore.Tx, seq int64, state queue.State) error {
	var t history.Ended
	found, err := sqlstore.One(tx, k.one, func(r sqlstore.Row) (err error) {
		t, err = scanEnded(state)(r)
		return err
	}, seq)
	if err != nil || !found {
		return err
	}
	n := step{rows: map[period]map[string]history.Counts{}}
	if n.now, err = k.time(tx); err != nil {
		return err
	}
	if _, err := tx.Exec(k.newCursor, cursorKey, []byte("{}")); err != nil {
		return err
	}
	if n.to, _, err = load(tx, k.lock); err != nil {
		return err
	}
	last := n.to.Failed
	if state == queue.Done {
		last = n.to.Done
	}
	if at := t.Ended.UnixMilli(); at < last.At || at == last.At && seq <= last.Seq {
		return nil
	}
	n.add(t.Info, t.Facts()...)
	for p, scopes := range n.rows {
		if err := k.addTo(tx, p, scopes); err != nil {
			return err
		}
	}
	n.to.Kept++
	to, err := json.Marshal(n.to)
	if err != nil {
		return err
	}
	_, err = tx.Exec(k.move, tx.Now(), cursorKey, to)
	return err
}
