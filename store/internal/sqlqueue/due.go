package sqlqueue

import (
	"context"

	"github.com/org/foreman-action/store/internal/sqlstore"
)

// due are the statements about tasks that were held back until a time that came.
type due struct {
	overdue, promote, rearm string
	lanes                   lanes
}

func newDue(d sqlstore.Dialect) due {
	return due{
		overdue: d.Expand("SELECT 1 FROM task WHERE state >= 6 AND run_at <= {now} LIMIT 1"),
		promote: d.Expand("UPDATE task SET state = state - 6 WHERE " + d.Free("state >= 6 AND state < 12 AND run_at <= {now}") + " RETURNING state, agent"),
		rearm: d.Expand("UPDATE task SET run_at = {now} + $2 WHERE " + d.Free("state >= 6 AND state = 12 AND run_at <= {now}") +
			" RETURNING agent, lane"),
		lanes: newLanes(d),
	}
}

// any reports whether there are such tasks.
func (d *due) any(tx sqlstore.Tx) (bool, error) {
	return sqlstore.One(tx, d.overdue, sqlstore.None, tx.Now())
}

// now makes those tasks ready whose time came, and returns the agents of which there are
// some; "" for decisions. It is run where no other transaction is: see Dialect.Crowded.
func (d *due) now(tx sqlstore.Tx) (agents []string, err error) {
	// Looking is much cheaper than a change of nothing, and mostly there is nothing.
	if some, err := d.any(tx); err != nil || !some {
		return nil, err
	}
	if agents, err = d.ready(tx); err != nil {
		return nil, err
	}
	o, err := d.overlooked(tx)
	return append(agents, o.agents...), err
}

// ready is now where there are such tasks.
func (d *due) ready(tx sqlstore.Tx) (agents []string, err error) {
	err = tx.Query(d.promote, func(r sqlstore.Row) error {
		var state int
		var agent string
		if err := r.Scan(&state, &agent); err != nil {
			return err
		}
		if state != statePending {
			agent = ""
		}
		agents = append(agents, agent)
		return nil
	}, tx.Now())
	return agents, err
}

// overlooked looks again at tasks that have waited for long behind others.
func (d *due) overlooked(tx sqlstore.Tx) (o over, err error) {
	found := map[lane]bool{}
	err = tx.Query(d.rearm, func(r sqlstore.Row) error {
		at := lane{followed: 1}
		err := r.Scan(&at.agent, &at.name)
		found[at] = true
		return err
	}, tx.Now(), again.Milliseconds())
	if err != nil {
		return over{}, err
	}
	for at := range found {
		ended, err := d.lanes.ended(tx, at)
		if err != nil {
			return over{}, err
		}
		o.add(ended)
	}
	return o, nil
}

// settle makes those tasks ready whose time came, if there are any, in transactions of its
// own. It returns what is to be done then, also with an error.
func (d *due) settle(ctx context.Context, e sqlstore.Engine) (o over, err error) {
	var some bool
	err = e.Look(ctx, func(tx sqlstore.Tx) (err error) {
		some, err = d.any(tx)
		return err
	})
	if err != nil || !some {
		return over{}, err
	}
	var agents []string
	err = e.Single(ctx, func(tx sqlstore.Tx) (err error) {
		agents, err = d.ready(tx)
		return err
	})
	if err != nil {
		return over{}, err
	}
	err = e.Write(ctx, func(tx sqlstore.Tx) (err error) {
		o, err = d.overlooked(tx)
		return err
	})
	if err != nil {
		o = over{} // what a transaction found that was not kept
	}
	o.agents = append(agents, o.agents...)
	return o, err
}
