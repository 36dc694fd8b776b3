package sqlqueue

import (
	"slices"

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store/internal/sqlstore"
)

// duplicates find the task that a new task duplicates: a task with the same id or the same key.
type duplicates struct{ same string }

func newDuplicates(d sqlstore.Dialect) duplicates {
	by := func(rank, condition string) string {
		return "SELECT " + rank + ", " + enqueuedColumns + " FROM task WHERE " + condition
	}
	return duplicates{d.Expand(by("1", "task_id = $2") + "\nUNION ALL " + by("2", "dedup = $3") +
		"\nUNION ALL " + by("3", "seq = (SELECT a.seq FROM task_also a WHERE a.dedup = $3)"))}
}

// find returns the task with the same id or key as t, with the outcome how. It returns the zero
// value if there is none. A task with the same id comes first.
func (s *duplicates) find(tx sqlstore.Tx, how queue.Outcome, t queue.Task) (out queue.Enqueued, err error) {
	best := 0
	err = tx.Query(s.same, func(r sqlstore.Row) error {
		var rank int
		var seq, ready int64
		var one queue.Enqueued
		err := r.Scan(&rank, &seq, &one.ID, &ready, &one.Behind)
		if err == nil && (best == 0 || rank < best) {
			one.Outcome, one.Ready = how, sqlstore.Time(ready)
			best, out = rank, one
		}
		return err
	}, tx.Now(), t.ID, t.Dedup)
	return out, err
}

// coalescing are the statements that join a new task to a waiting one.
type coalescing struct {
	also, join, joinBody string
	duplicates           duplicates
	lanes                lanes
	tasks                tasks
}

func newCoalescing(d sqlstore.Dialect) coalescing {
	return coalescing{
		also:       "INSERT INTO task_also (dedup, seq, delivery) VALUES ($1, $2, $3)",
		join:       "UPDATE task SET joinable = joinable + 1, priority = CASE WHEN priority < $2 THEN $2 ELSE priority END, title = CASE WHEN $3 = '' THEN title ELSE $3 END WHERE seq = $1",
		joinBody:   "UPDATE task_body SET origin = $2, message = $3 WHERE seq = $1",
		duplicates: newDuplicates(d),
		lanes:      newLanes(d),
		tasks:      newTasks(d),
	}
}

// coalesce joins a new task to a waiting task of the same issue and agent, if possible. If not,
// it returns the id of the task that the new task has to wait for; empty: none.
func (c *coalescing) coalesce(tx sqlstore.Tx, t queue.Task) (out queue.Enqueued, behind string, err error) {
	key := IssueKey(t.Repo, t.Issue)
	if err := sqlstore.Exclude(tx, c.lanes.exclusive, key); err != nil {
		return out, "", err
	}
	if out, err = c.duplicates.find(tx, queue.Duplicate, t); err != nil || out.Outcome != "" {
		return out, "", err
	}
	list, err := c.lanes.neighbours(tx, key, t.Agent)
	if err != nil {
		return out, "", err
	}
	if n, ok := joinable(list); ok {
		if ok, err = c.joinTo(tx, t, n); err != nil || ok {
			n.Outcome = queue.Coalesced
			return n.Enqueued, "", err
		}
	}
	return out, firstOf(list), nil
}

// joinable returns the newest task that a new task may be joined to.
func joinable(list []neighbour) (neighbour, bool) {
	for _, n := range slices.Backward(list) {
		if stateOf(n.state) == queue.Pending && n.attempt == 0 && n.joinable > 0 {
			return n, true
		}
	}
	return neighbour{}, false
}

// joinTo joins a new task to a waiting one. It returns false if the new task refuses to be
// joined.
func (c *coalescing) joinTo(tx sqlstore.Tx, t queue.Task, n neighbour) (bool, error) {
	var old texts
	if t.Join != nil {
		var err error
		if old, err = c.tasks.read(tx, n.seq); err != nil {
			return false, err
		}
	}
	told, ok := t.Joins(n.ID, queue.Body{Origin: old.origin, Message: old.message})
	if !ok {
		return false, nil
	}
	if _, err := tx.Exec(c.join, n.seq, int64(t.Priority), queue.FoldTitle(t.Title)); err != nil {
		return false, err
	}
	if t.Dedup != "" {
		if _, err := tx.Exec(c.also, t.Dedup, n.seq, t.Delivery); err != nil {
			return false, err
		}
	}
	_, err := tx.Exec(c.joinBody, n.seq, sqlstore.Blob(told.Origin), sqlstore.Text(told.Message))
	return err == nil, err
}
