package sqlqueue

import (
	"cmp"
	"context"
	"slices"

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store/internal/batch"
	"github.com/org/foreman-action/store/internal/sqlstore"
)

// draining are the statements of LeaseDecisions.
type draining struct {
	lease    string // leases one decision
	leaseAll string // leases decisions for a list of callers, instead of lease; empty: none
	delayed  delayed
	calls    *batch.Kind[*leaseRequest]
}

func newDraining(d sqlstore.Dialect) *draining {
	const due = "EXISTS (SELECT 1 FROM task d WHERE d.state >= 6 AND d.run_at <= {now})"
	var (
		set   = "UPDATE task SET state = 3, epoch = epoch + 1, owner = $3, holder = $5, lease_until = {now} + $2, run_at = 0\n"
		ready = `t.state = 2 AND ` + unpaused + ` AND ` + firstDecision + `
    AND (t.issue = 0 OR NOT EXISTS (SELECT 1 FROM task b WHERE b.state = 3 AND b.issue > 0 AND b.lane = t.lane))`
		returned = "RETURNING task.seq, task_id, epoch, lease_until, agent, repo, task.issue, tries, created_at, completed_at, asks, epoch - asked_epoch AS leases,\n  "
	)
	q := &draining{delayed: newDelayed(d)}
	if !d.Batches {
		q.lease = d.Expand(set + "WHERE seq = (SELECT t.seq FROM task t WHERE " + ready + " AND t.seq > " + afterPaused("$4") + "\n  ORDER BY t.seq LIMIT 1)\n" + returned +
			`(SELECT b.origin FROM task_body b WHERE b.seq = task.seq), (SELECT b.message FROM task_body b WHERE b.seq = task.seq),
  (SELECT r.decision FROM task_result r WHERE r.seq = task.seq)`)
		return q
	}
	// A due task may be an older decision, which has to be leased first. With $6 = 1 the statement
	// leases decisions nevertheless.
	//
	// Without a decision it returns a row with the number 0 if a task is due.
	//
	// The statement leases only the oldest decision of each issue. It changes the rows in the
	// order of their issues, so that two transactions cannot wait for each other.
	q.leaseAll = d.Expand("WITH pick AS MATERIALIZED (\n  SELECT t.seq, t.lane, t.issue FROM task t WHERE " + ready + " AND t.seq > " + afterPaused("0") + `
    AND ($6::bigint = 1 OR NOT ` + due + `)
  ORDER BY t.seq LIMIT $4{skip}
), oldest AS MATERIALIZED (
  SELECT DISTINCT ON (lane, CASE WHEN issue = 0 THEN seq ELSE 0 END) seq FROM pick ORDER BY lane, CASE WHEN issue = 0 THEN seq ELSE 0 END, seq
), t AS (
` + set + `FROM oldest LEFT JOIN task_body b ON b.seq = oldest.seq LEFT JOIN task_result r ON r.seq = oldest.seq WHERE task.seq = oldest.seq
` + returned + `b.origin, b.message, r.decision
)
SELECT seq, task_id, epoch, lease_until, agent, repo, issue, tries, created_at, completed_at, asks, leases, origin, message, decision, (SELECT count(*) FROM pick) FROM t
UNION ALL SELECT 0, '', 0, 0, '', '', 0, 0, 0, 0, 0, 0, NULL, NULL, NULL, 0 WHERE NOT EXISTS (SELECT 1 FROM t) AND ` + due)
	q.calls = &batch.Kind[*leaseRequest]{Order: 5, Join: q.together, Forget: func(r *leaseRequest) { r.list = nil }}
	return q
}

// leaseOptions are the options of LeaseDecisions and the id of the leasing process.
type leaseOptions struct {
	queue.DrainOptions

	holder  string // see holderOf
	despite bool   // lease decisions although other tasks are due
}

// all leases up to the requested number of decisions in one transaction.
func (q *draining) all(ctx context.Context, e sqlstore.Engine, o leaseOptions) (list []queue.Decision, after followUp, err error) {
	err = e.Write(ctx, func(tx sqlstore.Tx) (err error) {
		list = nil
		if after.agents, err = q.delayed.promoteNow(tx); err != nil {
			return err
		}
		var behind int64
		for len(list) < o.Limit {
			d, found, err := q.one(tx, o, behind)
			if err != nil {
				return err
			}
			if !found {
				break
			}
			list, behind = append(list, d.Decision), d.seq
		}
		return nil
	})
	if err != nil {
		return nil, followUp{}, err
	}
	return list, after, nil
}

// A leaseRequest is a request for decisions, with its result.
type leaseRequest struct {
	leaseOptions

	list []leased
	due  bool // there is no decision, and a task is due
	more bool // there may be more decisions
}

// add leases decisions in databases where transactions run concurrently. promote makes due tasks
// ready, and reports whether any task was due.
func (q *draining) add(ctx context.Context, e batch.Engine, o leaseOptions, promote func(context.Context) (bool, error)) ([]queue.Decision, error) {
	var list []leased
	for limit := o.Limit; len(list) < limit; {
		r := &leaseRequest{leaseOptions: o}
		r.Limit = limit - len(list)
		_, err := batch.Do(ctx, e, q.calls, r)
		more := r.more
		list = append(list, r.list...)
		if err == nil && r.due && !o.despite {
			o.despite, err = promote(ctx)
			more = o.despite
		}
		if err != nil && len(list) == 0 {
			return nil, err
		}
		if err != nil || !more {
			break // the caller must carry out the leased decisions
		}
	}
	return decisions(list), nil //nolint:nilerr // see above
}

// maxLeases is the most decisions that one statement leases.
const maxLeases = 128

// together leases decisions for the callers with the same options, and distributes them in turn. A caller
// that gets none is served, too: decisions that are locked now are not waited for.
func (q *draining) together(now any, requests []*leaseRequest, _ bool) batch.Joined {
	o, want := requests[0].leaseOptions, 0
	var open []int // indexes of the callers that want more decisions
	served := make([]bool, len(requests))
	for i, r := range requests {
		r.list, r.due, r.more = nil, false, false
		if r.Owner == o.Owner && r.Lease == o.Lease && r.holder == o.holder && r.despite == o.despite {
			open, served[i] = append(open, i), true
			want += min(r.Limit, maxLeases)
		}
	}
	limit := min(want, maxLeases)
	each := func(row sqlstore.Row) error {
		var picked int
		d, err := scanDecision(row, &picked)
		if err != nil {
			return err
		}
		if d.seq == 0 {
			for _, i := range open {
				requests[i].due = true
			}
			return nil
		}
		i := open[0]
		open = open[1:]
		r := requests[i]
		r.list, r.more = append(r.list, d), picked == limit
		if len(r.list) < r.Limit {
			open = append(open, i)
		}
		return nil
	}
	args := []any{now, sqlstore.Millis(o.Lease), queue.CleanText(o.Owner), int64(limit), o.holder, sqlstore.Bool(o.despite)}
	return batch.Joined{Statement: sqlstore.Statement{Query: q.leaseAll, Args: args, Each: each}, Served: served}
}

// one leases the oldest decision whose task has a larger number than behind.
func (q *draining) one(tx sqlstore.Tx, o leaseOptions, behind int64) (d leased, found bool, err error) {
	found, err = sqlstore.One(tx, q.lease, func(r sqlstore.Row) (err error) {
		d, err = scanDecision(r)
		return err
	}, tx.Now(), sqlstore.Millis(o.Lease), queue.CleanText(o.Owner), behind, o.holder)
	return d, found, err
}

// A leased is a leased decision, with the number of its task.
type leased struct {
	queue.Decision

	seq int64
}

// scanDecision reads a decision, and further columns into more.
func scanDecision(r sqlstore.Row, more ...any) (d leased, err error) {
	var until, enqueued, completed int64
	err = r.Scan(append([]any{&d.seq, &d.ID, &d.Epoch, &until, &d.Agent, &d.Repo, &d.Issue, &d.Tries, &enqueued, &completed, &d.Asks, &d.Leases, &d.Origin, &d.Message, &d.Result}, more...)...)
	d.Until, d.Enqueued, d.Completed = sqlstore.Time(until), sqlstore.Time(enqueued), sqlstore.Time(completed)
	return d, err
}

// decisions returns leased decisions in the order of their tasks.
func decisions(leases []leased) (list []queue.Decision) {
	slices.SortFunc(leases, func(a, b leased) int { return cmp.Compare(a.seq, b.seq) })
	for _, d := range leases {
		list = append(list, d.Decision)
	}
	return list
}
