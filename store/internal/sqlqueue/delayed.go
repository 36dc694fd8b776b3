package sqlqueue

import (
	"context"

	"github.com/org/foreman-action/store/internal/sqlstore"
)

// delayed are the statements about due tasks: tasks that were held back until a time that has
// passed.
type delayed struct {
	overdue, promote, rearm string
	peek                    string // whether tasks are overdue, and whether pauses skip tasks
	lanes                   lanes
}

func newDelayed(d sqlstore.Dialect) delayed {
	return delayed{
		overdue: d.Expand("SELECT 1 FROM task WHERE state >= 6 AND run_at <= {now} LIMIT 1"),
		peek: d.Expand(`SELECT CASE WHEN EXISTS (SELECT 1 FROM task WHERE state >= 6 AND run_at <= {now}) THEN 1 ELSE 0 END,
  CASE WHEN EXISTS (SELECT 1 FROM pause WHERE active = 1 AND kind > 0) THEN 1 ELSE 0 END`),
		promote: d.Expand("UPDATE task SET state = state - 6 WHERE " + d.Unlocked("state >= 6 AND state < 12 AND run_at <= {now}") + " RETURNING state, agent"),
		rearm: d.Expand("UPDATE task SET run_at = {now} + $2 WHERE " + d.Unlocked("state >= 6 AND state = 12 AND run_at <= {now}") +
			" RETURNING agent, lane"),
		lanes: newLanes(d),
	}
}

// any reports whether there are due tasks.
func (d *delayed) any(tx sqlstore.Tx) (bool, error) {
	return sqlstore.One(tx, d.overdue, sqlstore.Ignore, tx.Now())
}

// promoteNow makes due tasks ready, and returns their agents; "" means decisions. It is for
// databases where transactions do not run concurrently: see Dialect.ConcurrentWrites.
func (d *delayed) promoteNow(tx sqlstore.Tx) (agents []string, err error) {
	// Usually no task is due, and a read is much cheaper than an update that changes no row.
	if some, err := d.any(tx); err != nil || !some {
		return nil, err
	}
	if agents, err = d.ready(tx); err != nil {
		return nil, err
	}
	o, err := d.overlooked(tx)
	return append(agents, o.agents...), err
}

// ready makes due tasks ready, and returns the agent of each; "" for a decision.
func (d *delayed) ready(tx sqlstore.Tx) ([]string, error) {
	return sqlstore.All(tx, d.promote, func(r sqlstore.Row) (agent string, err error) {
		var state int
		if err := r.Scan(&state, &agent); err != nil || state != statePending {
			return "", err
		}
		return agent, nil
	}, tx.Now())
}

// overlooked checks tasks again that have waited for other tasks for a long time.
func (d *delayed) overlooked(tx sqlstore.Tx) (o followUp, err error) {
	found := map[lane]bool{}
	err = tx.Query(d.rearm, func(r sqlstore.Row) error {
		at := lane{followed: 1}
		err := r.Scan(&at.agent, &at.name)
		found[at] = true
		return err
	}, tx.Now(), again.Milliseconds())
	if err != nil {
		return followUp{}, err
	}
	for at := range found {
		ended, err := d.lanes.ended(tx, at)
		if err != nil {
			return followUp{}, err
		}
		o.add(ended)
	}
	return o, nil
}

// look reports whether there are due tasks, and whether there are pauses that skip tasks one by one.
func (d *delayed) look(ctx context.Context, e sqlstore.Engine) (due, paused bool, err error) {
	var some, skip int
	err = e.ReadOne(ctx, func(tx sqlstore.Tx) error {
		_, err := sqlstore.One(tx, d.peek, sqlstore.Into(&some, &skip), tx.Now())
		return err
	})
	return some == 1, skip == 1, err
}

// promoteAll makes due tasks ready in separate transactions. It returns the work that follows
// these transactions, even with an error.
func (d *delayed) promoteAll(ctx context.Context, e sqlstore.Engine) (o followUp, err error) {
	agents, err := sqlstore.Value(ctx, e.WriteOne, d.ready)
	if err != nil {
		return followUp{}, err
	}
	o, err = sqlstore.Value(ctx, e.Write, d.overlooked)
	if err != nil {
		o = followUp{} // its transaction was rolled back
	}
	o.agents = append(agents, o.agents...)
	return o, err
}
