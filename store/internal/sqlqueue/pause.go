package sqlqueue

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store/internal/sqlstore"
)

// Pauses are enforced by the statements that hand out tasks: each reads the table pause, which is
// small and usually empty. So a pause holds in all processes as soon as it is committed.
//
// A pause of everything, or of the agent that claims, costs these statements nothing. Tasks of
// other pauses would have to be skipped one by one. Therefore tasks that a statement would skip
// are parked: they get a state of their own, which no index of ready tasks contains. Parking
// changes only the cost of later statements. A parked task is treated as pending or completed
// everywhere else, and keeps its number and priority.
//
// When a scope is resumed, its row in the table pause becomes inactive, and its parked tasks become
// ready in several transactions. The row is deleted after the last of them, so after a crash
// RequeueStale goes on. Each parked task is always in the scope of a row: a transaction that parks
// tasks locks the active rows, and parks only tasks of these rows, so it ends before one of them
// becomes inactive.

// The stored kinds of pauses.
const (
	pauseEverything = 0
	pauseAgent      = 1 // name is the agent; empty: the rules
	pauseRepo       = 2 // name is the repository in lower case
)

const (
	parking = 18 // a parked task has the state that it had before, plus parking

	// A parked task has the time parkedAt in run_at, so that it is never due. Statements about due
	// tasks, and about tasks that are held back until a time, only look at times before never.
	parkedAt = "1152921504606846976"
	never    = sqlstore.Never
)

// Conditions of the statements that hand out tasks "t".
const (
	// For claims: no pause of its repository holds t.
	repoUnpaused = "lower(t.repo) NOT IN (SELECT p.name FROM pause p WHERE p.kind = 2 AND p.active = 1)"
	// For decisions: no pause of its repository or agent holds t.
	unpaused = "t.agent NOT IN (SELECT p.name FROM pause p WHERE p.kind = 1 AND p.active = 1) AND " + repoUnpaused

	// No older task of the issue is parked, although no pause holds it any more: such a task becomes
	// ready in a moment. For claims these are tasks of the same agent, for which the same pauses
	// hold.
	firstClaim = `(t.issue = 0 OR NOT EXISTS (SELECT 1 FROM task b WHERE b.state >= 18 AND b.state = 18 AND b.lane = t.lane AND b.agent = t.agent AND b.seq < t.seq))`
	// For decisions these are the tasks of all agents that are not paused.
	firstDecision = `(t.issue = 0 OR NOT EXISTS (SELECT 1 FROM task b WHERE b.state >= 18 AND b.state = 20 AND b.lane = t.lane AND b.seq < t.seq
    AND b.agent NOT IN (SELECT p.name FROM pause p WHERE p.kind = 1 AND p.active = 1)))`
)

// pausedAgent returns a condition: all tasks, or those of an agent, are paused.
func pausedAgent(agent string) string {
	return "EXISTS (SELECT 1 FROM pause p WHERE p.active = 1 AND (p.kind = 0 OR p.kind = 1 AND p.name = " + agent + "))"
}

// unlessPaused returns the agent in a parameter; NULL if it is paused, so that no row is read.
func unlessPaused(agent string) string {
	return "(SELECT CASE WHEN " + pausedAgent(agent) + " THEN NULL ELSE " + agent + " END)"
}

// afterPaused returns a number of a task; the largest number if everything is paused, so that no
// decision is read.
func afterPaused(seq string) string {
	return "(SELECT CASE WHEN EXISTS (SELECT 1 FROM pause p WHERE p.kind = 0 AND p.active = 1) THEN 9223372036854775807 ELSE " + seq + " END)"
}

// front is the number of tasks at the front of a queue that are searched for paused ones before
// tasks are handed out. If there are any, maxParked tasks are searched, and parked.
const (
	front     = 64
	maxParked = 1000
)

// pausing are the statements of Pauses.
type pausing struct {
	pauseAdd, pauseEnd, pauseForget string
	pauseFind, pauseList            string
	pauseEnding, pauseLock          string
	frontPending, frontCompleted    string
	park, unpark                    string
	parkedRepo, parkedAgent         string
	heldAll, heldAgent, heldRepo    string
	busyAll, busyAgent, busyRepo    string
}

func newPausing(d sqlstore.Dialect) pausing {
	const columns = "n, kind, title, who, at, reason"
	lock := ""
	if d.ConcurrentWrites() {
		lock = " FOR SHARE"
	}
	few := func(what string) string {
		return "(SELECT 1 FROM task WHERE " + what + " LIMIT " + strconv.Itoa(queue.MaxHeld) + ")"
	}
	sum := func(parts ...string) string {
		for i, part := range parts {
			parts[i] = "(SELECT count(*) FROM " + part + " AS c" + strconv.Itoa(i) + ")"
		}
		return "SELECT CAST(" + strings.Join(parts, " + ") + " AS BIGINT)"
	}
	busy := func(scope string) string {
		return "SELECT state, count(*) FROM task WHERE lease_until IS NOT NULL" + scope + " GROUP BY state"
	}
	return pausing{
		pauseAdd:    d.Expand("INSERT INTO pause (kind, name, title, active, who, at, reason) VALUES ($2, $3, $4, 1, $5, {now}, $6) ON CONFLICT DO NOTHING"),
		pauseEnd:    "UPDATE pause SET active = 0 WHERE n = $1 AND active = 1",
		pauseForget: "DELETE FROM pause WHERE n = $1 AND active = 0",
		pauseFind:   "SELECT " + columns + " FROM pause WHERE kind = $1 AND name = $2 AND active = $3",
		pauseList:   "SELECT " + columns + " FROM pause WHERE active = 1 ORDER BY n",
		pauseEnding: "SELECT " + columns + " FROM pause WHERE active = 0 ORDER BY n",
		pauseLock:   "SELECT n FROM pause WHERE active = 1 AND kind > 0" + lock,

		frontPending: `SELECT f.seq FROM (SELECT t.seq, t.repo FROM task t WHERE t.state = 0 AND t.agent = $1 ORDER BY t.priority DESC, t.seq LIMIT $2) f
WHERE lower(f.repo) IN (SELECT p.name FROM pause p WHERE p.kind = 2 AND p.active = 1)`,
		frontCompleted: `SELECT f.seq FROM (SELECT t.seq, t.repo, t.agent FROM task t WHERE t.state = 2 AND t.seq > 0 ORDER BY t.seq LIMIT $1) f
WHERE lower(f.repo) IN (SELECT p.name FROM pause p WHERE p.kind = 2 AND p.active = 1) OR f.agent IN (SELECT p.name FROM pause p WHERE p.kind = 1 AND p.active = 1)`,
		park: d.Expand("UPDATE task SET state = state + 18, run_at = " + parkedAt + " WHERE " + d.Unlocked("seq IN "+d.In("$1")+` AND state IN (0, 2)
AND (lower(repo) IN (SELECT p.name FROM pause p WHERE p.kind = 2 AND p.n IN `+d.In("$2")+`) OR state = 2 AND agent IN (SELECT p.name FROM pause p WHERE p.kind = 1 AND p.n IN `+d.In("$2")+`))`)),
		parkedRepo:  "SELECT seq FROM task WHERE ended_at IS NULL AND lower(repo) = $1 AND +state IN (18, 20) AND seq > $2 ORDER BY seq LIMIT " + strconv.Itoa(maxParked),
		parkedAgent: "SELECT seq FROM task WHERE state >= 18 AND agent = $1 AND state = 20 AND seq > $2 ORDER BY seq LIMIT " + strconv.Itoa(maxParked),
		unpark:      d.Expand("UPDATE task SET state = state - 18, run_at = 0 WHERE " + d.InOrder("seq IN "+d.In("$1")+" AND state >= 18")),

		heldAll: sum(few("state = 0 AND seq > 0"), few("state = 2 AND seq > 0"), few("state >= 18")),
		heldAgent: sum(few("state = 0 AND agent = $1"), few("state >= 18 AND agent = $1"),
			"(SELECT 1 FROM (SELECT agent FROM task WHERE state = 2 AND seq > 0 ORDER BY seq LIMIT "+strconv.Itoa(queue.MaxHeld)+") f WHERE f.agent = $1)"),
		heldRepo:  sum(few("ended_at IS NULL AND lower(repo) = $1 AND +state IN (0, 2, 18, 20)")),
		busyAll:   busy(""),
		busyAgent: busy(" AND agent = $1"),
		busyRepo:  busy(" AND lower(repo) = $1"),
	}
}

// A pauseRow is a row of the table pause.
type pauseRow struct {
	queue.Pause

	n int64
}

// storedScope returns the kind and the name that are stored for a scope.
func storedScope(s queue.Scope) (kind int64, name string) {
	switch s.Kind {
	case queue.ScopeAgent:
		return pauseAgent, s.Name
	case queue.ScopeRules:
		return pauseAgent, ""
	case queue.ScopeRepo:
		return pauseRepo, text.LowerASCII(s.Name)
	case queue.ScopeEverything:
	}
	return pauseEverything, ""
}

func scanPause(r sqlstore.Row) (p pauseRow, err error) {
	var kind int
	var at int64
	err = r.Scan(&p.n, &kind, &p.Scope.Name, &p.By, &at, &p.Reason)
	p.At = sqlstore.Time(at)
	switch {
	case kind == pauseRepo:
		p.Scope.Kind = queue.ScopeRepo
	case kind == pauseAgent && p.Scope.Name != "":
		p.Scope.Kind = queue.ScopeAgent
	case kind == pauseAgent:
		p.Scope.Kind = queue.ScopeRules
	default:
		p.Scope.Kind = queue.ScopeEverything
	}
	return p, err
}

// find returns the row of a scope.
func (p *pausing) find(tx sqlstore.Tx, s queue.Scope, active bool) (row pauseRow, found bool, err error) {
	kind, name := storedScope(s)
	found, err = sqlstore.One(tx, p.pauseFind, func(r sqlstore.Row) (err error) {
		row, err = scanPause(r)
		return err
	}, kind, name, sqlstore.Bool(active))
	return row, found, err
}

// begin adds the pause of a scope, unless there is one, and counts its tasks.
func (p *pausing) begin(ctx context.Context, e sqlstore.Engine, s queue.Scope, by, reason string) (out queue.Pause, already bool, err error) {
	err = e.Write(ctx, func(tx sqlstore.Tx) error {
		row, there, err := p.add(tx, s, by, reason)
		out, already = row.Pause, there
		return err
	})
	if err != nil {
		return queue.Pause{}, false, err
	}
	out, err = p.counted(ctx, e, pauseRow{Pause: out})
	return out, already, err
}

// add adds the row of a scope, unless there is one.
func (p *pausing) add(tx sqlstore.Tx, s queue.Scope, by, reason string) (row pauseRow, already bool, err error) {
	ending, found, err := p.find(tx, s, false)
	if err == nil && found { // the tasks that are still parked are in the scope of the new row
		_, err = tx.Exec(p.pauseForget, ending.n)
	}
	if err != nil {
		return row, false, err
	}
	kind, name := storedScope(s)
	added, err := tx.Exec(p.pauseAdd, tx.Now(), kind, name, s.Name, queue.CleanText(by), queue.CleanText(reason))
	if err == nil {
		row, found, err = p.find(tx, s, true)
	}
	if err == nil && !found {
		err = fmt.Errorf("%w: it was resumed at the same time", queue.ErrUnavailable)
	}
	return row, added == 0, err
}

// end makes the pause of a scope inactive. The pause has the numbers of tasks from before.
func (p *pausing) end(ctx context.Context, e sqlstore.Engine, s queue.Scope) (out queue.Pause, found bool, err error) {
	row, err := sqlstore.Value(ctx, e.ReadOne, func(tx sqlstore.Tx) (row pauseRow, err error) {
		row, found, err = p.find(tx, s, true)
		return row, err
	})
	if err != nil || !found {
		return queue.Pause{}, false, err
	}
	if out, err = p.counted(ctx, e, row); err != nil {
		return queue.Pause{}, false, err
	}
	ended, err := sqlstore.Value(ctx, e.WriteOne, func(tx sqlstore.Tx) (int64, error) { return tx.Exec(p.pauseEnd, row.n) })
	return out, ended > 0, err
}

// counted returns a pause with the numbers of its tasks.
func (p *pausing) counted(ctx context.Context, e sqlstore.Engine, row pauseRow) (queue.Pause, error) {
	err := e.Read(ctx, func(tx sqlstore.Tx) error { return p.count(tx, &row) })
	return row.Pause, err
}

// count adds the numbers of tasks to a pause.
func (p *pausing) count(tx sqlstore.Tx, row *pauseRow) error {
	_, name := storedScope(row.Scope)
	held, busy, args := p.heldAll, p.busyAll, []any(nil)
	switch row.Scope.Kind {
	case queue.ScopeAgent, queue.ScopeRules:
		held, busy, args = p.heldAgent, p.busyAgent, []any{name}
	case queue.ScopeRepo:
		held, busy, args = p.heldRepo, p.busyRepo, []any{name}
	case queue.ScopeEverything:
	}
	if _, err := sqlstore.One(tx, held, sqlstore.Into(&row.Held), args...); err != nil {
		return err
	}
	row.Held = min(row.Held, queue.MaxHeld)
	row.Claimed, row.Draining = 0, 0
	return tx.Query(busy, func(r sqlstore.Row) error {
		var state, n int
		err := r.Scan(&state, &n)
		switch state {
		case stateClaimed:
			row.Claimed = n
		case stateDraining:
			row.Draining = n
		}
		return err
	}, args...)
}

// all returns the active pauses; with count, with the numbers of their tasks.
func (p *pausing) all(ctx context.Context, e sqlstore.Engine, count bool) (list []queue.Pause, err error) {
	err = e.Read(ctx, func(tx sqlstore.Tx) error {
		rows, err := sqlstore.All(tx, p.pauseList, scanPause)
		list = nil
		for _, row := range rows {
			if count && err == nil {
				err = p.count(tx, &row)
			}
			list = append(list, row.Pause)
		}
		return err
	})
	return list, err
}

// parkPending parks the paused tasks at the front of an agent's pending tasks, and returns their
// number: maxParked means that there may be more.
func (p *pausing) parkPending(ctx context.Context, e sqlstore.Engine, agent string) (int, error) {
	return p.parkFront(ctx, e, func(tx sqlstore.Tx, limit int64) ([]int64, error) {
		return sqlstore.All(tx, p.frontPending, sqlstore.Column[int64], agent, limit)
	})
}

// parkCompleted parks the paused decisions at the front of the ready ones.
func (p *pausing) parkCompleted(ctx context.Context, e sqlstore.Engine) (int, error) {
	return p.parkFront(ctx, e, func(tx sqlstore.Tx, limit int64) ([]int64, error) {
		return sqlstore.All(tx, p.frontCompleted, sqlstore.Column[int64], limit)
	})
}

// parkFront parks the tasks that search finds among the first tasks of a queue.
func (p *pausing) parkFront(ctx context.Context, e sqlstore.Engine, search func(tx sqlstore.Tx, limit int64) ([]int64, error)) (int, error) {
	var list []int64
	for _, limit := range []int64{front, maxParked} {
		var err error
		list, err = sqlstore.Value(ctx, e.ReadOne, func(tx sqlstore.Tx) ([]int64, error) { return search(tx, limit) })
		if err != nil || len(list) == 0 {
			return 0, err
		}
	}
	return p.change(ctx, e, list, func(tx sqlstore.Tx, list string) (int64, error) {
		// The locked rows stay active until this transaction has ended. A pause that is added after the
		// statement pauseLock is not locked, so the next statement must not use it.
		pauses, err := sqlstore.All(tx, p.pauseLock, sqlstore.Column[int64])
		if err != nil || len(pauses) == 0 {
			return 0, err
		}
		locked, err := json.Marshal(pauses)
		if err != nil {
			return 0, err
		}
		return tx.Exec(p.park, list, string(locked))
	})
}

// change runs f on a list of tasks in a transaction, and returns the number of changed tasks.
func (*pausing) change(ctx context.Context, e sqlstore.Engine, seqs []int64, f func(tx sqlstore.Tx, list string) (int64, error)) (int, error) {
	list, err := json.Marshal(seqs)
	if err != nil {
		return 0, err
	}
	n, err := sqlstore.Value(ctx, e.Write, func(tx sqlstore.Tx) (int64, error) { return f(tx, string(list)) })
	return int(n), err
}

// release makes the parked tasks of an inactive row ready, and deletes the row.
func (p *pausing) release(ctx context.Context, e sqlstore.Engine, row pauseRow) error {
	_, name := storedScope(row.Scope)
	query := map[queue.ScopeKind]string{queue.ScopeAgent: p.parkedAgent, queue.ScopeRules: p.parkedAgent, queue.ScopeRepo: p.parkedRepo}[row.Scope.Kind]
	for last, more := int64(0), query != ""; more; {
		list, err := sqlstore.Value(ctx, e.ReadOne, func(tx sqlstore.Tx) ([]int64, error) {
			return sqlstore.All(tx, query, sqlstore.Column[int64], name, last)
		})
		if err != nil {
			return err
		}
		if more = len(list) == maxParked; len(list) == 0 {
			break
		}
		last = list[len(list)-1]
		if _, err = p.change(ctx, e, list, func(tx sqlstore.Tx, list string) (int64, error) { return tx.Exec(p.unpark, list) }); err != nil {
			return err
		}
	}
	return e.WriteOne(ctx, func(tx sqlstore.Tx) error {
		_, err := tx.Exec(p.pauseForget, row.n)
		return err
	})
}

// releaseAll goes on with releases that did not end, and reports whether there were any.
func (p *pausing) releaseAll(ctx context.Context, e sqlstore.Engine) (some bool, err error) {
	rows, err := sqlstore.Value(ctx, e.ReadOne, func(tx sqlstore.Tx) ([]pauseRow, error) { return sqlstore.All(tx, p.pauseEnding, scanPause) })
	for _, row := range rows {
		if err == nil {
			err = p.release(ctx, e, row)
		}
	}
	return len(rows) > 0, err
}
