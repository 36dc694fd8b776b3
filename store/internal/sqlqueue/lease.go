package sqlqueue

import (
	"context"
	"time"

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store/internal/sqlstore"
)

// leasing are the statements about leases on decisions: Renew, MarkDone, Fail and Release.
type leasing struct {
	renew, finish, release, report string
	logbook                        logbook
	lanes                          lanes
}

func newLeasing(d sqlstore.Dialect) leasing {
	return leasing{
		renew: d.Expand("UPDATE task SET lease_until = {now} + $4 WHERE task_id = $2 AND state = 3 AND epoch = $3 RETURNING lease_until"),
		finish: d.Expand(`UPDATE task SET state = $4, reason = $5, ended_at = {now}, lease_until = NULL, run_at = 0
WHERE task_id = $2 AND state = 3 AND epoch = $3 RETURNING seq, agent, lane, followed`),
		release: d.Expand(`UPDATE task SET state = CAST($4 AS BIGINT), run_at = CASE WHEN CAST($4 AS BIGINT) < 6 THEN 0 ELSE {now} + $5 END, tries = tries + $6, reason = $7, lease_until = NULL
WHERE task_id = $2 AND state = 3 AND epoch = $3 RETURNING seq, owner`),
		report:  "INSERT INTO task_report (seq, report) VALUES ($1, $2) ON CONFLICT (seq) DO UPDATE SET report = excluded.report",
		logbook: newLogbook(d),
		lanes:   newLanes(d),
	}
}

// extend renews a lease, and returns its new end.
func (l *leasing) extend(ctx context.Context, e sqlstore.Engine, lease queue.Lease, d time.Duration) (time.Time, error) {
	var until int64
	found, err := sqlstore.Value(ctx, e.WriteOne, func(tx sqlstore.Tx) (bool, error) {
		return sqlstore.One(tx, l.renew, sqlstore.Into(&until), tx.Now(), lease.ID, lease.Epoch, sqlstore.Millis(d))
	})
	return sqlstore.Time(until), lostUnless(found, err)
}

// lostUnless returns ErrLost if no row was found.
func lostUnless(found bool, err error) error {
	if err == nil && !found {
		return queue.ErrLost
	}
	return err
}

// An ending is the result of a task.
type ending struct {
	state  int64
	reason string
	report []byte // nil: none
}

// end ends the task of a lease.
func (l *leasing) end(ctx context.Context, e sqlstore.Engine, lease queue.Lease, how ending) (followUp, error) {
	if err := queue.CheckSize("report", how.report); err != nil {
		return followUp{}, err
	}
	if !queue.IsText(lease.ID) {
		return followUp{}, queue.ErrLost
	}
	do := e.WriteOne
	if how.report != nil {
		do = e.Write
	}
	var found bool
	var ended followUp
	err := do(ctx, func(tx sqlstore.Tx) (err error) {
		var seq int64
		var at lane
		found, err = sqlstore.One(tx, l.finish, sqlstore.Into(&seq, &at.agent, &at.name, &at.followed),
			tx.Now(), lease.ID, lease.Epoch, how.state, queue.CleanText(how.reason))
		if err == nil && found && how.report != nil {
			_, err = tx.Exec(l.report, seq, how.report)
		}
		if err == nil {
			ended, err = l.lanes.ended(tx, at)
		}
		return err
	})
	if err := lostUnless(found, err); err != nil {
		return followUp{}, err
	}
	o := followUp{agents: []string{""}} // the next decision on the issue is ready
	o.add(ended)
	return o, nil
}

// postpone releases a lease: the decision is ready again after a wait.
func (l *leasing) postpone(ctx context.Context, e sqlstore.Engine, lease queue.Lease, p queue.Postponement) error {
	state := int64(stateCompleted)
	if p.Wait > 0 {
		state = stateHeld
	}
	var found bool
	err := e.Write(ctx, func(tx sqlstore.Tx) (err error) {
		var seq int64
		var owner string
		found, err = sqlstore.One(tx, l.release, sqlstore.Into(&seq, &owner),
			tx.Now(), lease.ID, lease.Epoch, state, max(0, sqlstore.Millis(p.Wait)), sqlstore.Bool(!p.Free), queue.CleanText(p.Reason))
		if err != nil || !found {
			return err
		}
		return l.logbook.note(tx, seq, queue.Entry{What: "given back", Who: owner, Text: p.Reason})
	})
	return lostUnless(found, err)
}
