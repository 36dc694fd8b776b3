package sqlqueue

import (
	"cmp"
	"context"
	"strconv"
	"strings"

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store/internal/sqlstore"
)

// reading are the statements of List and Inspect.
type reading struct {
	info, inspect, entries string
	tasks                  tasks
}

func newReading(d sqlstore.Dialect) reading {
	// The columns of Info, in the order of scanInfo.
	info := d.Expand(`
SELECT seq, task_id, agent, repo, issue, state, CASE WHEN state >= 6 AND (state = 12 OR run_at > {now}) THEN 1 ELSE 0 END, attempt, tries, priority,
  reason, created_at, CASE WHEN state = 12 THEN 0 ELSE run_at END, claimed_at, lease_until, completed_at, ended_at, claimed_by, owner, behind
FROM task `)
	return reading{
		info:    info,
		inspect: info + "WHERE task_id = $2",
		entries: "SELECT at, what, who, text FROM task_log WHERE seq = $1 ORDER BY n",
		tasks:   newTasks(d),
	}
}

// list returns the tasks that match a filter.
func (s *reading) list(ctx context.Context, e sqlstore.Engine, f queue.Filter) ([]queue.Info, error) {
	where, args := conditions(f)
	limit := min(cmp.Or(max(f.Limit, 0), 100), 1000)
	query := s.info + "WHERE " + strings.Join(where, " AND ") + " ORDER BY seq DESC LIMIT " + strconv.Itoa(limit)
	return sqlstore.Value(ctx, e.ReadOne, func(tx sqlstore.Tx) ([]queue.Info, error) {
		args[0] = tx.Now()
		return sqlstore.All(tx, query, scanInfo, args...)
	})
}

// conditions returns the conditions of a filter, with their parameters after the time.
func conditions(f queue.Filter) (where []string, args []any) {
	args = []any{nil}
	add := func(condition string, values ...any) {
		for _, v := range values {
			args = append(args, v)
			condition = strings.Replace(condition, "?", "$"+strconv.Itoa(len(args)), 1)
		}
		where = append(where, condition)
	}
	add("seq < ?", cmp.Or(max(f.Before, 0), 1<<62))
	switch f.State {
	case "":
	case queue.Pending:
		add("state IN (0, 6, 12)")
	case queue.Claimed:
		add("state = 1")
	case queue.Completed:
		add("state IN (2, 3, 8)")
	case queue.Done:
		add("state = 4")
	case queue.Failed:
		add("state = 5")
	default:
		add("state < 0")
	}
	if f.Agent != "" {
		add("agent = ?", f.Agent)
	}
	repo := strings.ToLower(f.Repo)
	switch {
	case f.Repo != "" && f.Issue != 0:
		add("lane = ?", Lane(f.Repo, f.Issue))
	case f.Repo != "":
		add("lane >= ? AND lane < ?", repo+"#", repo+"$") // '$' follows '#'
	case f.Issue != 0:
		add("issue = ?", int64(f.Issue))
	}
	return where, args
}

// scanInfo reads the columns of reading.info.
func scanInfo(r sqlstore.Row) (queue.Info, error) {
	var i queue.Info
	var state, isHeld int
	var enqueued, runAt, claimedAt, until, completedAt, ended int64
	var claimedBy, owner, behind string
	err := r.Scan(&i.Seq, &i.ID, &i.Agent, &i.Repo, &i.Issue, &state, &isHeld, &i.Attempt, &i.Tries, &i.Priority,
		&i.Reason, &enqueued, &runAt, &claimedAt, &until, &completedAt, &ended, &claimedBy, &owner, &behind)
	i.State, i.Held, i.Draining, i.Owner = stateOf(state), isHeld == 1, state == stateDraining, claimedBy
	if i.Draining {
		i.Owner = owner
	}
	if state == stateBehind {
		i.Behind, i.Reason = behind, queue.CleanText("waits for task "+behind+" of the same issue")
	}
	i.Enqueued, i.Ready, i.Claimed, i.Until = sqlstore.Time(enqueued), sqlstore.Time(runAt), sqlstore.Time(claimedAt), sqlstore.Time(until)
	i.Completed, i.Ended = sqlstore.Time(completedAt), sqlstore.Time(ended)
	return i, err
}

// details returns a task with its texts and its log. Error: queue.ErrNotFound.
func (s *reading) details(tx sqlstore.Tx, id string) (out queue.Details, err error) {
	found, err := sqlstore.One(tx, s.inspect, func(r sqlstore.Row) error {
		out.Info, err = scanInfo(r)
		return err
	}, tx.Now(), id)
	if err != nil || !found {
		return out, cmp.Or(err, queue.ErrNotFound)
	}
	t, err := s.tasks.read(tx, out.Seq)
	if err != nil {
		return out, err
	}
	out.Origin, out.Message, out.Result, out.Report = t.origin, t.message, t.decision, t.report
	out.Log, err = sqlstore.All(tx, s.entries, func(r sqlstore.Row) (e queue.Entry, err error) {
		var at int64
		err = r.Scan(&at, &e.What, &e.Who, &e.Text)
		e.At = sqlstore.Time(at)
		return e, err
	}, out.Seq)
	return out, err
}
