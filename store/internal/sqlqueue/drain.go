package sqlqueue

import (
	"context"

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store/internal/sqlstore"
)

// draining are the statements of DrainCompleted, which leases decisions.
type draining struct {
	lease      string
	concurrent bool
	delayed    delayed
}

func newDraining(d sqlstore.Dialect) draining {
	return draining{
		lease: d.Expand(`
UPDATE task SET state = 3, epoch = epoch + 1, owner = $3, lease_until = {now} + $2, run_at = 0
WHERE seq = (SELECT t.seq FROM task t WHERE t.state = 2 AND t.seq > $4
    AND (t.issue = 0 OR NOT EXISTS (SELECT 1 FROM task b WHERE b.state = 3 AND b.issue > 0 AND b.lane = t.lane))
  ORDER BY t.seq LIMIT 1{skip})
RETURNING seq, task_id, epoch, lease_until, agent, repo, issue, tries, created_at, completed_at,
  (SELECT b.origin FROM task_body b WHERE b.seq = task.seq), (SELECT b.message FROM task_body b WHERE b.seq = task.seq),
  (SELECT r.decision FROM task_result r WHERE r.seq = task.seq)`),
		concurrent: d.ConcurrentWrites(),
		delayed:    newDelayed(d),
	}
}

// all leases decisions in one transaction.
func (q *draining) all(ctx context.Context, e sqlstore.Engine, o queue.DrainOptions) (list []queue.Decision, after followUp, err error) {
	err = e.Write(ctx, func(tx sqlstore.Tx) (err error) {
		list = nil
		if after.agents, err = q.delayed.promoteNow(tx); err != nil {
			return err
		}
		var behind int64
		for len(list) < o.Limit {
			d, seq, found, err := q.one(tx, o, behind)
			if err != nil {
				return err
			}
			if !found {
				break
			}
			list, behind = append(list, d), seq
		}
		return nil
	})
	if err != nil {
		return nil, followUp{}, err
	}
	return list, after, nil
}

// each leases every decision in a transaction of its own. A lease may have to wait for
// another one of the same issue; with several in one transaction, two callers could wait for
// each other (deadlock).
func (q *draining) each(ctx context.Context, e sqlstore.Engine, o queue.DrainOptions) (list []queue.Decision, err error) {
	for behind := int64(0); len(list) < o.Limit; {
		var d queue.Decision
		var seq int64
		var found bool
		err := e.WriteOne(ctx, func(tx sqlstore.Tx) (err error) {
			d, seq, found, err = q.one(tx, o, behind)
			return err
		})
		if err != nil && len(list) == 0 {
			return nil, err
		}
		if err != nil || !found {
			return list, nil //nolint:nilerr // the caller must carry out those that were leased
		}
		list, behind = append(list, d), seq
	}
	return list, nil
}

// one leases the oldest decision after the task with the number behind.
func (q *draining) one(tx sqlstore.Tx, o queue.DrainOptions, behind int64) (d queue.Decision, seq int64, found bool, err error) {
	var until, enqueued, completed int64
	found, err = sqlstore.One(tx, q.lease, sqlstore.Into(&seq, &d.ID, &d.Epoch, &until, &d.Agent, &d.Repo, &d.Issue, &d.Tries, &enqueued, &completed,
		&d.Origin, &d.Message, &d.Result), tx.Now(), sqlstore.Millis(o.Lease), queue.CleanText(o.Owner), behind)
	d.Until, d.Enqueued, d.Completed = sqlstore.Time(until), sqlstore.Time(enqueued), sqlstore.Time(completed)
	return d, seq, found, err
}
