package sqlqueue

import (
	"slices"

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store/internal/sqlstore"
)

// stands are the statements about tasks that stand for one which is enqueued: those of its
// id or its key.
type stands struct{ byID, byDedup, byAlso string }

func newStands(d sqlstore.Dialect) stands {
	const find = "SELECT " + standing + " FROM task "
	return stands{
		byID:    d.Expand(find + "WHERE task_id = $2"),
		byDedup: d.Expand(find + "WHERE dedup = $2"),
		byAlso:  d.Expand(find + "WHERE seq = (SELECT a.seq FROM task_also a WHERE a.dedup = $2)"),
	}
}

// find finds the task of the same id or the same key, and returns nothing if there is
// none.
func (s *stands) find(tx sqlstore.Tx, how queue.How, t queue.Task) (queue.Enqueued, error) {
	out, err := stand(tx, how, s.byID, t.ID)
	if err == nil && out.How == "" && t.Dedup != "" {
		out, err = stand(tx, how, s.byDedup, t.Dedup)
	}
	if err == nil && out.How == "" && t.Dedup != "" {
		out, err = stand(tx, how, s.byAlso, t.Dedup)
	}
	return out, err
}

// stand runs one of the statements.
func stand(tx sqlstore.Tx, how queue.How, query, key string) (out queue.Enqueued, err error) {
	var seq, ready int64
	found, err := sqlstore.One(tx, query, func(r sqlstore.Row) error { return r.Scan(&seq, &out.ID, &ready, &out.Behind) }, tx.Now(), key)
	if out.Ready = sqlstore.Time(ready); found {
		out.How = how
	}
	return out, err
}

// coalescing are the statements that let a task that waits tell of a new one too.
type coalescing struct {
	also, join, joinBody string
	stands               stands
	lanes                lanes
	places               places
}

func newCoalescing(d sqlstore.Dialect) coalescing {
	return coalescing{
		also:     "INSERT INTO task_also (dedup, seq) VALUES ($1, $2)",
		join:     "UPDATE task SET joinable = joinable + 1, priority = CASE WHEN priority < $2 THEN $2 ELSE priority END WHERE seq = $1",
		joinBody: "UPDATE task_body SET origin = $2, message = $3 WHERE seq = $1",
		stands:   newStands(d),
		lanes:    newLanes(d),
		places:   newPlaces(d),
	}
}

// coalesce lets a task that waits already tell of a new one, if there is one. If there is
// none, it returns the task that the new one is to wait for; empty: none.
func (c *coalescing) coalesce(tx sqlstore.Tx, t queue.Task) (out queue.Enqueued, behind string, err error) {
	key := Lane(t.Repo, t.Issue)
	if err := sqlstore.Exclude(tx, c.lanes.exclusive, key); err != nil {
		return out, "", err
	}
	if out, err = c.stands.find(tx, queue.Duplicate, t); err != nil || out.How != "" {
		return out, "", err
	}
	list, err := c.lanes.neighbours(tx, key, t.Agent)
	if err != nil {
		return out, "", err
	}
	if n, ok := joinable(list); ok {
		if ok, err = c.joinTo(tx, t, n); err != nil || ok {
			n.How = queue.Coalesced
			return n.Enqueued, "", err
		}
	}
	return out, firstOf(list), nil
}

// joinable returns the newest of them that another task may be joined to.
func joinable(list []neighbour) (neighbour, bool) {
	for _, n := range slices.Backward(list) {
		if stateOf(n.state) == queue.Pending && n.attempt == 0 && n.joinable > 0 {
			return n, true
		}
	}
	return neighbour{}, false
}

// joinTo lets a task that waits tell of a new one too, and reports whether it does.
func (c *coalescing) joinTo(tx sqlstore.Tx, t queue.Task, n neighbour) (bool, error) {
	told, ok, err := c.joined(tx, t, n)
	if err != nil || !ok {
		return false, err
	}
	if _, err := tx.Exec(c.join, n.seq, int64(t.Priority)); err != nil {
		return false, err
	}
	if t.Dedup != "" {
		if _, err := tx.Exec(c.also, t.Dedup, n.seq); err != nil {
			return false, err
		}
	}
	_, err = tx.Exec(c.joinBody, n.seq, sqlstore.Blob(told.Origin), sqlstore.Text(told.Message))
	return err == nil, err
}

// joined is what a task that waits tells of together with a new one.
func (c *coalescing) joined(tx sqlstore.Tx, t queue.Task, n neighbour) (told queue.Told, ok bool, err error) {
	var old texts
	if t.Join != nil {
		old, err = c.places.read(tx, n.seq)
	}
	if err == nil {
		told, ok = t.Joins(n.ID, queue.Told{Origin: old.origin, Message: old.message})
	}
	return told, ok, err
}
