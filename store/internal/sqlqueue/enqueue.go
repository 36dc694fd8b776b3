package sqlqueue

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store/internal/batch"
	"github.com/org/foreman-action/store/internal/sqlstore"
)

// enqueuing are the statements of Enqueue.
type enqueuing struct {
	insert, body, hourly string
	exclusive            string
	chained              bool // insert also adds the texts: $17 the message, $18 the origin
	coalescing           coalescing
	insertAll            string // insert for a list of tasks that are ready at once; empty: none
	calls                *batch.Kind[queue.Task]
}

func newEnqueuing(d sqlstore.Dialect) *enqueuing {
	const insert = `
INSERT INTO task (task_id, agent, repo, issue, lane, dedup, hourly, state, priority, joinable, run_at, slot, created_at, completed_at, reason, title, delivery)
SELECT $2, $3, $4, $5, $6, $7, $8, CAST($9 AS BIGINT), $10, $11, CASE WHEN CAST($9 AS BIGINT) < 6 THEN 0 WHEN $12 > {now} + $13 THEN $12 ELSE {now} + $13 END,
  CASE WHEN $12 > {now} + $13 THEN $12 ELSE {now} + $13 END, {now}, CASE WHEN CAST($9 AS BIGINT) IN (2, 8) THEN {now} ELSE 0 END, $14, $15, $16
WHERE NOT EXISTS (SELECT 1 FROM task_also a WHERE a.dedup = $7)
ON CONFLICT DO NOTHING RETURNING seq`
	q := &enqueuing{
		insert:     d.Expand(insert),
		body:       "INSERT INTO task_body (seq, origin, message) VALUES ($1, $2, $3)",
		hourly:     d.Expand("SELECT slot, {now} FROM task WHERE hourly = $2 ORDER BY slot DESC LIMIT 1 OFFSET $3"),
		exclusive:  d.Exclusive,
		chained:    d.Batches,
		coalescing: newCoalescing(d),
	}
	if q.chained {
		q.insert = d.Expand("WITH t AS (" + insert + ") INSERT INTO task_body (seq, origin, message) SELECT seq, $18, $17 FROM t RETURNING seq")
		q.insertAll = d.Expand(insertAll)
		q.calls = &batch.Kind[queue.Task]{Order: 0, Join: q.addAll, Size: func(t queue.Task) int { return len(t.Message) + len(t.Origin) }}
	}
	return q
}

// insertAll returns the ids of the tasks that it added. It finds the texts of a task by the position
// of its id in the list, because a join would copy all texts.
const insertAll = `
WITH t AS (
  INSERT INTO task (task_id, agent, repo, issue, lane, dedup, state, priority, joinable, slot, created_at, completed_at, title, delivery)
  SELECT w.task_id, w.agent, w.repo, w.issue, w.lane, NULLIF(w.dedup, ''), CASE WHEN w.agent = '' THEN 2 ELSE 0 END, w.priority, 0, {now}, {now}, CASE WHEN w.agent = '' THEN {now} ELSE 0 END, w.title, w.delivery
  FROM unnest($2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[], $7::text[], $8::bigint[], $11::text[], $12::text[])
    WITH ORDINALITY AS w(task_id, agent, repo, issue, lane, dedup, priority, title, delivery, n)
  WHERE NOT EXISTS (SELECT 1 FROM task_also a WHERE a.dedup = w.dedup) ORDER BY w.n
  ON CONFLICT DO NOTHING RETURNING seq, task_id
), b AS (
  INSERT INTO task_body (seq, origin, message)
  SELECT seq, ($10::bytea[])[n], ($9::bytea[])[n] FROM (SELECT seq, array_position($2::text[], task_id) AS n FROM t) AS at
)
SELECT task_id FROM t`

// maxTries limits how often enqueue tries again: a task may be rejected as a duplicate of a task
// that is purged before it is looked up.
const maxTries = 10

// enqueue adds a task, unless it is a duplicate or is joined to another task.
func (q *enqueuing) enqueue(ctx context.Context, e batch.Engine, t queue.Task) (out queue.Enqueued, err error) {
	ready := q.insertAll != "" && !t.Coalesce && t.HourlyLimit == 0 && t.Wait == 0
	for tries := 0; out.Outcome == "" && err == nil; tries++ {
		switch {
		case tries > maxTries:
			err = fmt.Errorf("%w: gave up after %d tries, because tasks with the same id or key are added and purged concurrently", queue.ErrUnavailable, tries)
		case ready:
			out, err = q.addReady(ctx, e, t)
		default:
			out, err = sqlstore.Value(ctx, e.Write, func(tx sqlstore.Tx) (queue.Enqueued, error) { return q.add(tx, t) })
		}
	}
	if err != nil {
		return queue.Enqueued{}, err
	}
	return out, nil
}

// addReady adds a task that is ready at once, in one statement. Like add, it returns the zero value
// if the task that it duplicates was purged meanwhile.
func (q *enqueuing) addReady(ctx context.Context, e batch.Engine, t queue.Task) (queue.Enqueued, error) {
	added, err := batch.Do(ctx, e, q.calls, t)
	if err != nil || added {
		return queue.Enqueued{Outcome: queue.Added, ID: t.ID}, err
	}
	return sqlstore.Value(ctx, e.Read, func(tx sqlstore.Tx) (queue.Enqueued, error) {
		return q.coalescing.duplicates.find(tx, queue.Duplicate, t)
	})
}

// addAll adds the tasks that are not duplicates. It waits for transactions that add tasks with
// the same ids or keys. All of them add tasks in the same order, so there is no deadlock.
func (q *enqueuing) addAll(now any, tasks []queue.Task, _ bool) batch.Joined {
	r := batch.NewDistinct(tasks, func(t queue.Task) string { return t.ID })
	sorted := slices.SortedFunc(slices.Values(r.First), func(a, b queue.Task) int {
		return cmp.Or(cmp.Compare(a.Dedup, b.Dedup), cmp.Compare(a.ID, b.ID))
	})
	var ids, agents, repos, names, dedups, titles, deliveries []string
	var issues, priorities []int64
	var messages, origins [][]byte
	for _, t := range sorted {
		ids, agents, repos = append(ids, t.ID), append(agents, t.Agent), append(repos, t.Repo)
		names, dedups = append(names, IssueKey(t.Repo, t.Issue)), append(dedups, t.Dedup)
		issues, priorities = append(issues, int64(t.Issue)), append(priorities, int64(t.Priority))
		titles, deliveries = append(titles, queue.FoldTitle(t.Title)), append(deliveries, t.Delivery)
		messages, origins = append(messages, append([]byte{}, t.Message...)), append(origins, t.Origin) // nil is NULL
	}
	args := []any{now, ids, agents, repos, issues, names, dedups, priorities, messages, origins, titles, deliveries}
	return batch.Joined{Statement: sqlstore.Statement{Query: q.insertAll, Args: args, Each: r.ServeRow}, Served: r.Served}
}

// add adds a task, in several statements. It returns the zero value if the task that it duplicates
// was purged meanwhile.
func (q *enqueuing) add(tx sqlstore.Tx, t queue.Task) (queue.Enqueued, error) {
	var notBefore int64
	var behind string
	if t.HourlyLimit > 0 { // lock the repository before the issue, always in this order
		if err := sqlstore.Exclude(tx, q.exclusive, strings.ToLower(t.Repo)); err != nil {
			return queue.Enqueued{}, err
		}
	}
	if t.Coalesce && t.Issue > 0 && t.Agent != "" {
		out, ahead, err := q.coalescing.coalesce(tx, t)
		if err != nil || out.Outcome != "" {
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
		return q.coalescing.duplicates.find(tx, queue.Duplicate, t)
	}
	out := queue.Enqueued{Outcome: queue.Added, ID: t.ID, Behind: behind}
	if behind != "" {
		return out, q.coalescing.lanes.keepBehind(tx, seq, behind)
	}
	if t.Wait > 0 || notBefore > 0 {
		return q.coalescing.duplicates.find(tx, out.Outcome, t)
	}
	return out, nil
}

// keep inserts the rows of a task, and returns the task's number; 0: the task is a duplicate.
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
		reason = queue.CleanText(fmt.Sprintf("hourly limit reached: %d tasks of %s within an hour", t.HourlyLimit, t.Repo))
	}
	args := []any{
		tx.Now(), t.ID, t.Agent, t.Repo, int64(t.Issue), IssueKey(t.Repo, t.Issue), dedup, hourly, state, int64(t.Priority),
		sqlstore.Bool(t.Coalesce), notBefore, sqlstore.Millis(t.Wait), reason,
		queue.FoldTitle(t.Title), t.Delivery,
	}
	each := sqlstore.Into(&seq)
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

// turn returns the time from which the hourly limit of a repository allows another task; 0: now.
// The caller has locked the repository.
func (q *enqueuing) turn(tx sqlstore.Tx, t queue.Task) (at int64, err error) {
	key := strings.ToLower(t.Repo)
	wait := sqlstore.Millis(t.Wait)
	var next, now int64
	full, err := sqlstore.One(tx, q.hourly, sqlstore.Into(&next, &now), tx.Now(), key, int64(t.HourlyLimit-1))
	if next += time.Hour.Milliseconds(); err != nil || !full || next <= now+wait {
		return 0, err
	}
	return next, nil
}
