package sqlqueue

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store/internal/batch"
	"github.com/org/foreman-action/store/internal/sqlstore"
)

// leasing are the statements about leases on decisions: Renew, MarkDone, Fail and ReleaseLease.
type leasing struct {
	renew, finish, release, report string // for one lease
	logbook                        logbook
	lanes                          lanes
	finishAll                      forms // for a list of leases
	calls                          *batch.Kind[*finishing]
}

// A finishing is the end of a lease, with its result.
type finishing struct {
	lease queue.Lease
	how   ending

	after followUp
}

func newLeasing(d sqlstore.Dialect) *leasing {
	const set = "UPDATE task SET ended_at = {now}, lease_until = NULL, run_at = 0, "
	const kept = " ON CONFLICT (seq) DO UPDATE SET report = excluded.report"
	l := &leasing{
		renew: d.Expand("UPDATE task SET lease_until = {now} + $4 WHERE task_id = $2 AND state = 3 AND epoch = $3 RETURNING lease_until"),
		release: d.Expand(`UPDATE task SET state = CAST($4 AS BIGINT), run_at = CASE WHEN CAST($4 AS BIGINT) < 6 THEN 0 ELSE {now} + $5 END, tries = tries + $6, reason = $7, lease_until = NULL
WHERE task_id = $2 AND state = 3 AND epoch = $3 RETURNING seq, owner`),
		logbook: newLogbook(d),
		lanes:   newLanes(d),
	}
	l.calls = &batch.Kind[*finishing]{Order: 3, Join: l.finishTogether, Each: l.finishOne, Size: func(f *finishing) int { return len(f.how.report) }}
	if d.Batches {
		l.finishAll = newForms(d, `
WITH want AS (
  SELECT w.id, w.number, w.result, w.why, w.report FROM unnest($2::text[], $3::bigint[], $4::bigint[], $5::text[], $6::bytea[]) AS w(id, number, result, why, report)
), pick AS MATERIALIZED (
  SELECT t.seq, w.result, w.why, w.report FROM want w JOIN task t ON t.task_id = w.id WHERE t.state = 3 AND t.epoch = w.number{skip}
), t AS (
  `+set+`state = pick.result, reason = pick.why FROM pick WHERE task.seq = pick.seq RETURNING task.seq, task_id, agent, lane, followed, report
), r AS (
  INSERT INTO task_report (seq, report) SELECT seq, report FROM t WHERE report IS NOT NULL`+kept+`
)
SELECT task_id, agent, lane, followed FROM t`)
		return l
	}
	l.finish = d.Expand(set + `state = $4, reason = $5
WHERE task_id = $2 AND state = 3 AND epoch = $3 RETURNING seq, agent, lane, followed`)
	l.report = "INSERT INTO task_report (seq, report) VALUES ($1, $2)" + kept
	return l
}

// extend renews a lease, and returns the time when it expires.
func (l *leasing) extend(ctx context.Context, e sqlstore.Engine, lease queue.Lease, d time.Duration) (time.Time, error) {
	var until int64
	found, err := sqlstore.Value(ctx, e.WriteOne, func(tx sqlstore.Tx) (bool, error) {
		return sqlstore.One(tx, l.renew, sqlstore.Into(&until), tx.Now(), lease.ID, lease.Epoch, sqlstore.Millis(d))
	})
	return sqlstore.Time(until), lostUnless(found, err)
}

// extendIn is extend in the transaction of the caller.
func (l *leasing) extendIn(tx sqlstore.Tx, lease queue.Lease, d time.Duration) error {
	found, err := sqlstore.One(tx, l.renew, sqlstore.Ignore, tx.Now(), lease.ID, lease.Epoch, sqlstore.Millis(d))
	return lostUnless(found, err)
}

// lostUnless returns ErrLost if no row was found.
func lostUnless(found bool, err error) error {
	if err == nil && !found {
		return queue.ErrLost
	}
	return err
}

// An ending is how a task ends: its state, reason and report.
type ending struct {
	state  int64
	reason string
	report []byte // nil: none
}

// end ends the task of a lease.
func (l *leasing) end(ctx context.Context, e batch.Engine, lease queue.Lease, how ending) (followUp, error) {
	if err := queue.CheckSize("report", how.report); err != nil {
		return followUp{}, err
	}
	if !queue.IsText(lease.ID) {
		return followUp{}, queue.ErrLost
	}
	how.reason = queue.CleanText(how.reason)
	f := &finishing{lease: lease, how: how}
	found, err := batch.Do(ctx, e, l.calls, f)
	if err := lostUnless(found, err); err != nil {
		return followUp{}, err
	}
	o := followUp{agents: []string{""}} // "": the next decision on the issue is ready
	o.add(f.after)
	return o, nil
}

// finishOne ends the task of a lease, if the lease is still valid.
func (l *leasing) finishOne(tx sqlstore.Tx, f *finishing) (found bool, err error) {
	var seq int64
	var at lane
	found, err = sqlstore.One(tx, l.finish, sqlstore.Into(&seq, &at.agent, &at.name, &at.followed),
		tx.Now(), f.lease.ID, f.lease.Epoch, f.how.state, f.how.reason)
	if err == nil && found && f.how.report != nil {
		_, err = tx.Exec(l.report, seq, f.how.report)
	}
	if err == nil {
		f.after, err = l.lanes.ended(tx, at)
	}
	return found, err
}

// finishTogether ends the tasks of leases that are still valid.
func (l *leasing) finishTogether(now any, list []*finishing, waits bool) batch.Joined {
	r := batch.NewDistinct(list, func(f *finishing) string { return f.lease.ID })
	var ids, reasons []string
	var epochs, states []int64
	var reports [][]byte
	for _, f := range r.First {
		ids, epochs, states = append(ids, f.lease.ID), append(epochs, f.lease.Epoch), append(states, f.how.state)
		reasons, reports = append(reasons, f.how.reason), append(reports, f.how.report)
	}
	each := func(row sqlstore.Row) error {
		var id string
		var at lane
		if err := row.Scan(&id, &at.agent, &at.name, &at.followed); err != nil {
			return err
		}
		list[r.Serve(id)].after = l.lanes.endedConcurrently(at)
		return nil
	}
	args := []any{now, ids, epochs, states, reasons, reports}
	return batch.Joined{Statement: sqlstore.Statement{Query: l.finishAll.of(waits), Args: args, Each: each}, Served: r.Served}
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
		return l.logbook.note(tx, seq, queue.Entry{What: "released", Who: owner, Text: p.Reason})
	})
	return lostUnless(found, err)
}

// Holders identify the processes that have leases on decisions. They are safe for concurrent
// use.
type Holders interface {
	// Own returns the id of this process, which no other process ever has. provable means that
	// Ended, called in another process, reports this process after it has ended.
	Own() (id string, provable bool)
	// Ended returns the ids of processes that have certainly ended, even by SIGKILL. The argument must
	// contain the ids of all other processes that have leases.
	Ended(ctx context.Context, ids []string) ([]string, error)
}

// An Unprovable is the id of a process whose end no other process can detect, so that its leases
// have to expire.
type Unprovable string

// NewUnprovable returns the holder of this process.
func NewUnprovable() Unprovable { return Unprovable(rand.Text()) }

// Own implements [Holders].
func (u Unprovable) Own() (id string, provable bool) { return string(u), false }

// Ended implements [Holders].
func (u Unprovable) Ended(context.Context, []string) ([]string, error) { return nil, nil }

// unproven is the prefix of the stored ids of processes whose end cannot be detected.
const unproven = "~"

// holderOf returns the stored id of this process.
func holderOf(h Holders) string {
	id, provable := h.Own()
	if !provable {
		return unproven + id
	}
	return id
}
