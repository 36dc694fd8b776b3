package sqlqueue

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store/internal/sqlstore"
)

// A lane is the sequence of the tasks of one issue and agent. With coalescing they run one after
// the other. A task that has to wait for earlier tasks has the state stateBehind, and the earlier
// tasks are marked as followed. Only the end of a followed task looks for a successor, so lanes
// cost claims nothing.
//
// A row that is marked as followed stays locked until its successor is stored. The end of a task
// is committed before it looks for a successor. Of two concurrent transactions at least one
// therefore sees the other's change.

// again is the time after which a waiting task is checked again, in case the end of the task
// before it was missed.
const again = 5 * time.Minute

// lanes are the statements about tasks that wait for other tasks of their lane.
type lanes struct {
	follow, wait, next, ahead, unblock, setBehind string
	exclusive                                     string
	concurrent                                    bool
}

func newLanes(d sqlstore.Dialect) lanes {
	return lanes{
		follow: d.Expand("UPDATE task SET followed = 1 WHERE " + d.InOrder("lane = $2 AND agent = $3 AND state NOT IN (4, 5)") +
			" RETURNING " + enqueuedColumns + ", state, attempt, joinable"),
		wait: d.Expand("UPDATE task SET state = 12, run_at = {now} + $3, behind = $4 WHERE seq = $2"),
		// The plus prevents a search in the index of all tasks that are held back.
		next:  "SELECT seq, task_id FROM task WHERE lane = $1 AND agent = $2 AND +state = 12 ORDER BY seq LIMIT 1",
		ahead: "SELECT task_id FROM task WHERE lane = $1 AND agent = $2 AND followed = 1 AND state NOT IN (4, 5, 12) ORDER BY seq LIMIT 1",
		unblock: d.Expand(`UPDATE task SET state = CASE WHEN slot > {now} THEN 6 ELSE 0 END, run_at = CASE WHEN slot > {now} THEN slot ELSE 0 END
WHERE seq = $2 AND +state = 12 RETURNING state`),
		setBehind:  d.Expand("UPDATE task SET behind = $3 WHERE " + d.InOrder("lane = $1 AND agent = $2 AND +state = 12 AND behind <> $3")),
		exclusive:  d.Exclusive,
		concurrent: d.ConcurrentWrites(),
	}
}

// A neighbour is a task of the same issue and agent that has not ended.
type neighbour struct {
	queue.Enqueued

	seq                      int64
	state, attempt, joinable int
}

// neighbours returns the tasks of an issue and agent that have not ended, oldest first, and marks
// them as followed.
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

// firstOf returns the id of the task to wait for: the oldest that does not wait itself.
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

// keepBehind makes a task wait for the end of another task, whose id is id.
func (l *lanes) keepBehind(tx sqlstore.Tx, seq int64, id string) error {
	_, err := tx.Exec(l.wait, tx.Now(), seq, again.Milliseconds(), id)
	return err
}

// predecessor returns the id of the task that t has to wait for if it is retried; empty: none.
func (l *lanes) predecessor(tx sqlstore.Tx, t taskRow) (string, error) {
	if t.joinable == 0 || t.issue == 0 || t.agent == "" {
		return "", nil
	}
	if err := sqlstore.Exclude(tx, l.exclusive, t.name); err != nil {
		return "", err
	}
	list, err := l.neighbours(tx, t.name, t.agent)
	return firstOf(slices.DeleteFunc(list, func(n neighbour) bool { return n.seq == t.seq })), err
}

// A followUp is the work that follows a transaction in which tasks ended or became ready.
type followUp struct {
	lanes  []lane   // lanes in which other tasks may wait
	agents []string // agents with ready tasks; empty text: decisions
}

func (o *followUp) add(more followUp) {
	o.lanes, o.agents = append(o.lanes, more.lanes...), append(o.agents, more.agents...)
}

// ended releases the task that waits for the end of another task. Where transactions run
// concurrently, a separate transaction does this afterwards, because the waiting task may be
// locked by a transaction that waits for this one.
func (l *lanes) ended(tx sqlstore.Tx, at lane) (o followUp, err error) {
	if l.concurrent || at.followed == 0 {
		return l.endedConcurrently(at), nil
	}
	o.agents, err = l.releaseNext(tx, at)
	return o, err
}

// endedConcurrently is ended for databases where transactions run concurrently.
func (*lanes) endedConcurrently(at lane) followUp {
	if at.followed == 0 {
		return followUp{}
	}
	return followUp{lanes: []lane{at}}
}

// releaseAll releases the next task of each lane after a transaction, and returns the agents
// whose tasks are ready. If it fails, the task is released later: see delayed.overlooked.
func (l *lanes) releaseAll(ctx context.Context, e sqlstore.Engine, list []lane) (agents []string) {
	for _, at := range list {
		ready, err := sqlstore.Value(context.WithoutCancel(ctx), e.Write, func(tx sqlstore.Tx) ([]string, error) { return l.releaseNext(tx, at) })
		if err == nil {
			agents = append(agents, ready...)
		}
	}
	return agents
}

// releaseNext releases the first waiting task of a lane, unless it still has to wait for another
// task. If the task is ready then, releaseNext returns its agent. It runs after the end of every
// task of the lane, so of two concurrent ends at least one sees the other.
func (l *lanes) releaseNext(tx sqlstore.Tx, at lane) (agents []string, err error) {
	if err := sqlstore.Exclude(tx, l.exclusive, at.name); err != nil {
		return nil, err
	}
	var seq int64
	var first, ahead string
	waits, err := sqlstore.One(tx, l.next, sqlstore.Into(&seq, &first), at.name, at.agent)
	if err != nil || !waits {
		return nil, err
	}
	blocked, err := sqlstore.One(tx, l.ahead, sqlstore.Into(&ahead), at.name, at.agent)
	if err != nil {
		return nil, err
	}
	if !blocked {
		ahead = first
		state := -1
		if _, err := sqlstore.One(tx, l.unblock, sqlstore.Into(&state), tx.Now(), seq); err != nil {
			return nil, err
		}
		if state == statePending {
			agents = append(agents, at.agent)
		}
	}
	_, err = tx.Exec(l.setBehind, at.name, at.agent, ahead)
	return agents, err
}
