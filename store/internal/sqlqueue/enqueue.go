package sqlqueue

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store/internal/sqlstore"
)

// enqueuing are the statements that add a task.
type enqueuing struct {
	insert, body, hourly string
	exclusive            string
	chained              bool // insert adds the texts too: $15 the message, $16 the origin
	coalescing           coalescing
}

func newEnqueuing(d sqlstore.Dialect) enqueuing {
	const insert = `
INSERT INTO task (task_id, agent, repo, issue, lane, dedup, hourly, state, priority, joinable, run_at, slot, created_at, completed_at, reason)
SELECT $2, $3, $4, $5, $6, $7, $8, CAST($9 AS BIGINT), $10, $11, CASE WHEN CAST($9 AS BIGINT) < 6 THEN 0 WHEN $12 > {now} + $13 THEN $12 ELSE {now} + $13 END,
  CASE WHEN $12 > {now} + $13 THEN $12 ELSE {now} + $13 END, {now}, CASE WHEN CAST($9 AS BIGINT) IN (2, 8) THEN {now} ELSE 0 END, $14
WHERE NOT EXISTS (SELECT 1 FROM task_also a WHERE a.dedup = $7)
ON CONFLICT DO NOTHING RETURNING seq`
	q := enqueuing{
		insert:     d.Expand(insert),
		body:       "INSERT INTO task_body (seq, origin, message) VALUES ($1, $2, $3)",
		hourly:     d.Expand("SELECT slot, {now} FROM task WHERE hourly = $2 ORDER BY slot DESC LIMIT 1 OFFSET $3"),
		exclusive:  d.Exclusive,
		chained:    d.Chains,
		coalescing: newCoalescing(d),
	}
	if q.chained {
		q.insert = d.Expand("WITH t AS (" + insert + ") INSERT INTO task_body (seq, origin, message) SELECT seq, $16, $15 FROM t RETURNING seq")
	}
	return q
}

// maxTries is how often a task is enqueued that is neither new nor a duplicate.
const maxTries = 10

// enqueue adds a task, unless there is one already that stands for it.
func (q *enqueuing) enqueue(ctx context.Context, e sqlstore.Engine, t queue.Task) (out queue.Enqueued, err error) {
	do := e.Write
	alone := q.chained && !t.Coalesce && t.HourlyLimit == 0 && t.Wait == 0
	if alone {
		do = e.Single
	}
	// The task that this one is a duplicate of may be purged before it is looked for.
	for tries := 0; out.How == "" && err == nil; tries++ {
		err = do(ctx, func(tx sqlstore.Tx) (err error) {
			out, err = q.add(tx, t, alone)
			return err
		})
		if err == nil && alone && out.How == "" {
			out, err = q.duplicate(ctx, e, t)
		}
		if err == nil && out.How == "" && tries == maxTries {
			err = fmt.Errorf("%w: tasks of its id or key come and go", queue.ErrUnavailable)
		}
	}
	if err != nil {
		return queue.Enqueued{}, err
	}
	return out, nil
}

// add adds a task. If it is alone in its transaction, it does not look for the task
// that it duplicates, and returns nothing if there is one.
func (q *enqueuing) add(tx sqlstore.Tx, t queue.Task, alone bool) (queue.Enqueued, error) {
	var notBefore int64
	var behind string
	if t.HourlyLimit > 0 { // before those of its issue are held, which others may wait for that have this
		if err := sqlstore.Exclude(tx, q.exclusive, strings.ToLower(t.Repo)); err != nil {
			return queue.Enqueued{}, err
		}
	}
	if t.Coalesce && t.Issue > 0 && t.Agent != "" {
		out, ahead, err := q.coalescing.coalesce(tx, t)
		if err != nil || out.How != "" {
			return out, err
		}
		behind = ahead
	}
	if t.HourlyLimit > 0 {
		var err error
		if notBefore, err = q.turn(tx, t); err != nil {
			return queue.Enqueued{}, err
		}
	}
	seq, err := q.keep(tx, t, notBefore)
	if err != nil {
		return queue.Enqueued{}, err
	}
	if seq == 0 {
		if alone {
			return queue.Enqueued{}, nil
		}
		return q.coalescing.stands.find(tx, queue.Duplicate, t)
	}
	out := queue.Enqueued{How: queue.Added, ID: t.ID, Behind: behind}
	if behind != "" {
		return out, q.coalescing.lanes.keepBehind(tx, seq, behind)
	}
	if t.Wait > 0 || notBefore > 0 {
		return q.coalescing.stands.find(tx, out.How, t)
	}
	return out, nil
}

// keep adds the rows of a task, and returns 0 if there is one already.
func (q *enqueuing) keep(tx sqlstore.Tx, t queue.Task, notBefore int64) (seq int64, err error) {
	var dedup, hourly any
	if t.Dedup != "" {
		dedup = t.Dedup
	}
	if t.HourlyLimit > 0 {
		hourly = strings.ToLower(t.Repo)
	}
	state := int64(statePending)
	if t.Agent == "" {
		state = stateCompleted
	}
	if t.Wait > 0 || notBefore > 0 {
		state += holding
	}
	reason := ""
	if notBefore > 0 {
		reason = queue.CleanText(fmt.Sprintf("held back: %d tasks of %s within an hour", t.HourlyLimit, t.Repo))
	}
	args := []any{
		tx.Now(), t.ID, t.Agent, t.Repo, int64(t.Issue), Lane(t.Repo, t.Issue), dedup, hourly, state, int64(t.Priority),
		sqlstore.Truth(t.Coalesce), notBefore, sqlstore.Millis(t.Wait), reason,
	}
	each := func(r sqlstore.Row) error { return r.Scan(&seq) }
	if q.chained {
		_, err = sqlstore.One(tx, q.insert, each, append(args, sqlstore.Text(t.Message), sqlstore.Blob(t.Origin))...)
		return seq, err
	}
	there, err := sqlstore.One(tx, q.insert, each, args...)
	if err != nil || !there {
		return 0, err
	}
	_, err = tx.Exec(q.body, seq, sqlstore.Blob(t.Origin), sqlstore.Text(t.Message))
	return seq, err
}

// duplicate finds the task that a new one is a duplicate of.
func (q *enqueuing) duplicate(ctx context.Context, e sqlstore.Engine, t queue.Task) (out queue.Enqueued, err error) {
	err = e.Read(ctx, func(tx sqlstore.Tx) error {
		out, err = q.coalescing.stands.find(tx, queue.Duplicate, t)
		return err
	})
	return out, err
}

// turn is when it is the turn of a task of a repository with an hourly limit; 0 if that
// is over. The repository is the caller's alone.
func (q *enqueuing) turn(tx sqlstore.Tx, t queue.Task) (at int64, err error) {
	key := strings.ToLower(t.Repo)
	wait := sqlstore.Millis(t.Wait)
	var next, now int64
	full, err := sqlstore.One(tx, q.hourly, func(r sqlstore.Row) error { return r.Scan(&next, &now) }, tx.Now(), key, int64(t.HourlyLimit-1))
	if next += time.Hour.Milliseconds(); err != nil || !full || next <= now+wait {
		return 0, err
	}
	return next, nil
}
