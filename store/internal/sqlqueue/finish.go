package sqlqueue

import (
	"context"
	"time"

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store/internal/sqlstore"
)

// finishing are the statements for those who have a lease: they renew it, or end it.
type finishing struct {
	renew, finish, release, report string
	logbook                        logbook
	lanes                          lanes
}

func newFinishing(d sqlstore.Dialect) finishing {
	return finishing{
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

// extend renews a lease, and returns until when it lasts.
func (f *finishing) extend(ctx context.Context, e sqlstore.Engine, h queue.Hold, d time.Duration) (time.Time, error) {
	var until int64
	var found bool
	err := e.Single(ctx, func(tx sqlstore.Tx) (err error) {
		found, err = sqlstore.One(tx, f.renew, func(r sqlstore.Row) error { return r.Scan(&until) }, tx.Now(), h.ID, h.Epoch, sqlstore.Millis(d))
		return err
	})
	return sqlstore.Time(until), lostUnless(found, err)
}

// lostUnless is ErrLost if nothing was found.
func lostUnless(found bool, err error) error {
	if err == nil && !found {
		return queue.ErrLost
	}
	return err
}

// An ending is how a task ends.
type ending struct {
	state  int64
	reason string
	report []byte // nil: none
}

// end ends a task that is under the lease h.
func (f *finishing) end(ctx context.Context, e sqlstore.Engine, h queue.Hold, how ending) (over, error) {
	if err := queue.CheckSize("report", how.report); err != nil {
		return over{}, err
	}
	if !queue.IsText(h.ID) {
		return over{}, queue.ErrLost
	}
	do := e.Single
	if how.report != nil {
		do = e.Write
	}
	var found bool
	var ended over
	err := do(ctx, func(tx sqlstore.Tx) (err error) {
		var seq int64
		var at lane
		found, err = sqlstore.One(tx, f.finish, func(r sqlstore.Row) error { return r.Scan(&seq, &at.agent, &at.name, &at.followed) },
			tx.Now(), h.ID, h.Epoch, how.state, queue.CleanText(how.reason))
		if err == nil && found && how.report != nil {
			_, err = tx.Exec(f.report, seq, how.report)
		}
		if err == nil {
			ended, err = f.lanes.ended(tx, at)
		}
		return err
	})
	if err := lostUnless(found, err); err != nil {
		return over{}, err
	}
	o := over{agents: []string{""}} // the next decision on the issue may go
	o.add(ended)
	return o, nil
}

// postpone gives a lease back.
func (f *finishing) postpone(ctx context.Context, e sqlstore.Engine, h queue.Hold, p queue.Postponement) error {
	state := int64(stateCompleted)
	if p.Wait > 0 {
		state = stateHeld
	}
	var found bool
	err := e.Write(ctx, func(tx sqlstore.Tx) (err error) {
		var seq int64
		var owner string
		found, err = sqlstore.One(tx, f.release, func(r sqlstore.Row) error { return r.Scan(&seq, &owner) },
			tx.Now(), h.ID, h.Epoch, state, max(0, sqlstore.Millis(p.Wait)), sqlstore.Truth(!p.Free), queue.CleanText(p.Reason))
		if err != nil || !found {
			return err
		}
		return f.logbook.note(tx, seq, queue.Entry{What: "given back", Who: owner, Text: p.Reason})
	})
	return lostUnless(found, err)
}
