package sqlqueue

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store/internal/sqlstore"
)

// A task that is held back behind others of its issue and agent has a state of its own, and
// those that it waits for are marked: they are followed. So whoever ends a task knows whether
// to look for one that waits, and no other statement, least of all that of a claim, does
// more for it. A row that is marked is locked until the one that waits is there, and who
// ended a task looks afterwards: of the two, one sees the other.

// again is after what time it is looked whether those that a task waits for have ended, if
// that was missed.
const again = 5 * time.Minute

// lanes are the statements about tasks that wait for the end of others of their issue.
type lanes struct {
	follow, wait, next, ahead, letGo, tellAhead string
	exclusive                                   string
	crowded                                     bool
}

func newLanes(d sqlstore.Dialect) lanes {
	return lanes{
		follow: d.Expand("UPDATE task SET followed = 1 WHERE " + d.InOrder("lane = $2 AND agent = $3 AND state NOT IN (4, 5)") +
			" RETURNING " + standing + ", state, attempt, joinable"),
		wait: d.Expand("UPDATE task SET state = 12, run_at = {now} + $3, behind = $4 WHERE seq = $2"),
		// The plus keeps databases from looking for them among all that are held back.
		next:  "SELECT seq, task_id FROM task WHERE lane = $1 AND agent = $2 AND +state = 12 ORDER BY seq LIMIT 1",
		ahead: "SELECT task_id FROM task WHERE lane = $1 AND agent = $2 AND followed = 1 AND state NOT IN (4, 5, 12) ORDER BY seq LIMIT 1",
		letGo: d.Expand(`UPDATE task SET state = CASE WHEN slot > {now} THEN 6 ELSE 0 END, run_at = CASE WHEN slot > {now} THEN slot ELSE 0 END
WHERE seq = $2 AND +state = 12 RETURNING state`),
		tellAhead: d.Expand("UPDATE task SET behind = $3 WHERE " + d.InOrder("lane = $1 AND agent = $2 AND +state = 12 AND behind <> $3")),
		exclusive: d.Exclusive,
		crowded:   d.Crowded(),
	}
}

// A neighbour is a task of the same issue and agent that has not ended.
type neighbour struct {
	queue.Enqueued

	seq                      int64
	state, attempt, joinable int
}

// neighbours finds and marks the tasks of an issue and agent that have not ended, the oldest
// first.
func (l *lanes) neighbours(tx sqlstore.Tx, name, agent string) (list []neighbour, err error) {
	err = tx.Query(l.follow, func(r sqlstore.Row) error {
		var n neighbour
		var ready int64
		err := r.Scan(&n.seq, &n.ID, &ready, &n.Behind, &n.state, &n.attempt, &n.joinable)
		n.Ready = sqlstore.Time(ready)
		list = append(list, n)
		return err
	}, tx.Now(), name, agent)
	slices.SortFunc(list, func(a, b neighbour) int { return cmp.Compare(a.seq, b.seq) })
	return list, err
}

// firstOf names the one of them that a task waits for: the oldest that does not wait itself.
func firstOf(list []neighbour) string {
	for _, n := range list {
		if n.state != stateBehind {
			return n.ID
		}
	}
	if len(list) > 0 {
		return list[0].ID
	}
	return ""
}

// keepBehind holds a task back behind another one.
func (l *lanes) keepBehind(tx sqlstore.Tx, seq int64, id string) error {
	_, err := tx.Exec(l.wait, tx.Now(), seq, again.Milliseconds(), id)
	return err
}

// inLine returns the task that one would wait for, if it is taken up again; empty: none.
func (l *lanes) inLine(tx sqlstore.Tx, t place) (string, error) {
	if t.joinable == 0 || t.issue == 0 || t.agent == "" {
		return "", nil
	}
	if err := sqlstore.Exclude(tx, l.exclusive, t.name); err != nil {
		return "", err
	}
	list, err := l.neighbours(tx, t.name, t.agent)
	return firstOf(slices.DeleteFunc(list, func(n neighbour) bool { return n.seq == t.seq })), err
}

// over is what is to be done when a transaction is over in which tasks ended, or became
// ready.
type over struct {
	lanes  []lane   // where others may wait
	agents []string // whose tasks are ready; empty text: decisions
}

func (o *over) add(more over) {
	o.lanes, o.agents = append(o.lanes, more.lanes...), append(o.agents, more.agents...)
}

// ended lets the task go that waited for the end of one. Where transactions run beside each
// other that is for a transaction of its own, behind this one: the task that waits may be
// held by somebody who waits for this one.
func (l *lanes) ended(tx sqlstore.Tx, at lane) (o over, err error) {
	switch {
	case at.followed == 0:
		return over{}, nil
	case l.crowded:
		return over{lanes: []lane{at}}, nil
	}
	o.agents, err = l.letNext(tx, at)
	return o, err
}

// follows does what is left to be done after a transaction, and returns the agents whose
// tasks are ready. What fails is done later: see due.
func (l *lanes) follows(ctx context.Context, e sqlstore.Engine, list []lane) (agents []string) {
	for _, at := range list {
		var ready []string
		err := e.Write(context.WithoutCancel(ctx), func(tx sqlstore.Tx) (err error) {
			ready, err = l.letNext(tx, at)
			return err
		})
		if err == nil {
			agents = append(agents, ready...)
		}
	}
	return agents
}

// letNext lets the task go that waits first in a lane, unless there is another one that it waits
// for. It returns the agent, if its task is ready then. Whoever ends another one looks
// here afterwards too: one of the two sees the end of both.
func (l *lanes) letNext(tx sqlstore.Tx, at lane) (agents []string, err error) {
	if err := sqlstore.Exclude(tx, l.exclusive, at.name); err != nil {
		return nil, err
	}
	var seq int64
	var first, ahead string
	waits, err := sqlstore.One(tx, l.next, func(r sqlstore.Row) error { return r.Scan(&seq, &first) }, at.name, at.agent)
	if err != nil || !waits {
		return nil, err
	}
	blocked, err := sqlstore.One(tx, l.ahead, func(r sqlstore.Row) error { return r.Scan(&ahead) }, at.name, at.agent)
	if err != nil {
		return nil, err
	}
	if !blocked {
		ahead = first
		state := -1
		if _, err := sqlstore.One(tx, l.letGo, func(r sqlstore.Row) error { return r.Scan(&state) }, tx.Now(), seq); err != nil {
			return nil, err
		}
		if state == statePending {
			agents = append(agents, at.agent)
		}
	}
	_, err = tx.Exec(l.tellAhead, at.name, at.agent, ahead)
	return agents, err
}
