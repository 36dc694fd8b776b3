package sqlqueue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store/internal/sqlstore"
)

// claiming are the statements that hand out tasks.
type claiming struct {
	// claim hands out one task, also one whose time came, and is run alone; empty: offer and
	// take do it, for all who claim at the same time.
	claim, claimedBody string
	offer, take        string
	probe              string
	probes             bool // probe is run before a claim, when the one before found nothing
	due                due
	places             places
}

func newClaiming(d sqlstore.Dialect) claiming {
	const pending = "WHERE t.state = 0 AND t.agent = $2 ORDER BY t.priority DESC, t.seq LIMIT "
	c := claiming{
		claimedBody: "SELECT b.origin, b.message FROM task t JOIN task_body b ON b.seq = t.seq WHERE t.task_id = $1",
		probe:       "SELECT 1 FROM task WHERE state = 0 AND agent = $1 LIMIT 1",
		probes:      d.Probe,
		due:         newDue(d),
		places:      newPlaces(d),
	}
	if d.Chains {
		c.claim = d.Expand(claimChained)
		return c
	}
	c.offer = d.Expand(`SELECT t.task_id, t.attempt + 1, {now} + $3, t.created_at, b.origin, b.message, CASE WHEN t.behind = '' THEN 0 ELSE 1 END
FROM task t LEFT JOIN task_body b ON b.seq = t.seq ` + pending + "$4")
	c.take = d.Expand(`UPDATE task SET state = 1, attempt = attempt + 1, claims = claims + 1, claimed_by = $4, claimed_at = {now}, lease_until = {now} + $3, run_at = 0
WHERE seq IN (SELECT t.seq FROM task t ` + pending + "$5)")
	return c
}

// claimChained hands out the first task of those that are pending and those whose
// time came. The texts are those from before the statement began, but the task may be newer: the
// last column is 1 if somebody joined another one to it meanwhile.
const claimChained = `
WITH ready AS MATERIALIZED (
  SELECT t.seq, t.priority FROM task t WHERE t.state = 0 AND t.agent = $2
  ORDER BY t.priority DESC, t.seq LIMIT 1{skip}
), due AS MATERIALIZED (
  SELECT t.seq, t.priority FROM task t WHERE t.state = 6 AND t.agent = $2 AND t.run_at <= {now}
  ORDER BY t.priority DESC, t.seq LIMIT 1{skip}
), pick AS MATERIALIZED (
  SELECT seq FROM (SELECT seq, priority FROM ready UNION ALL SELECT seq, priority FROM due) AS both_of_them ORDER BY priority DESC, seq LIMIT 1
)
UPDATE task SET state = 1, attempt = attempt + 1, claims = claims + 1, claimed_by = $4, claimed_at = {now}, lease_until = {now} + $3, run_at = 0
FROM pick LEFT JOIN task_body b ON b.seq = pick.seq WHERE task.seq = pick.seq
RETURNING task_id, attempt, lease_until, created_at, b.origin, b.message, CASE WHEN behind = '' THEN 0 ELSE 1 END,
  CASE WHEN joinable = (SELECT s.joinable FROM task s WHERE s.seq = task.seq) THEN 0 ELSE 1 END`

// fulfil hands out the next task, whatever is in it, if there is one.
func (c *claiming) fulfil(ctx context.Context, e sqlstore.Engine, w *sqlstore.Wish) error {
	if c.claim == "" {
		return e.Together(ctx, c.handOut, w)
	}
	return c.alone(ctx, e, w)
}

// alone fulfils a wish by a statement that needs no others.
func (c *claiming) alone(ctx context.Context, e sqlstore.Engine, w *sqlstore.Wish) error {
	got := &w.Claim
	var waited, renewed int
	err := e.Single(ctx, func(tx sqlstore.Tx) (err error) {
		var until, enqueued int64
		w.Found, err = sqlstore.One(tx, c.claim, func(r sqlstore.Row) error {
			return r.Scan(&got.ID, &got.Attempt, &until, &enqueued, &got.Origin, &got.Message, &waited, &renewed)
		}, tx.Now(), w.Agent, w.Lease, w.By)
		got.Until, got.Enqueued, got.Waited = sqlstore.Time(until), sqlstore.Time(enqueued), waited == 1
		return err
	})
	if err != nil || !w.Found || renewed == 0 {
		return err
	}
	return e.Look(ctx, func(tx sqlstore.Tx) error {
		_, err := sqlstore.One(tx, c.claimedBody, func(r sqlstore.Row) error { return r.Scan(&got.Origin, &got.Message) }, got.ID)
		return err
	})
}

// handOut fulfils the wishes of those who claim at the same time: one statement does for
// all who want the same.
func (c *claiming) handOut(tx sqlstore.Tx, wishes []*sqlstore.Wish) error {
	promoted, err := c.due.now(tx)
	if err != nil {
		return err
	}
	for _, w := range wishes {
		w.Found, w.Promoted = false, nil
	}
	wishes[0].Promoted = promoted
	for rest := slices.Clone(wishes); len(rest) > 0; {
		same := 1
		for i := 1; i < len(rest); i++ {
			if alike(rest[i], rest[0]) {
				rest[i], rest[same] = rest[same], rest[i]
				same++
			}
		}
		if err := c.handOutAlike(tx, rest[:same]); err != nil {
			return err
		}
		rest = rest[same:]
	}
	return nil
}

// alike reports whether two wishes are for the same.
func alike(a, b *sqlstore.Wish) bool {
	return a.Agent == b.Agent && a.By == b.By && a.Lease == b.Lease
}

// handOutAlike fulfils wishes that are all alike, as far as there are tasks.
func (c *claiming) handOutAlike(tx sqlstore.Tx, wishes []*sqlstore.Wish) error {
	w, n, now := wishes[0], 0, tx.Now() // one time for both statements: what is told is what is kept
	err := tx.Query(c.offer, func(r sqlstore.Row) error {
		got := &wishes[n].Claim
		var until, enqueued int64
		var waited int
		err := r.Scan(&got.ID, &got.Attempt, &until, &enqueued, &got.Origin, &got.Message, &waited)
		got.Until, got.Enqueued, got.Waited = sqlstore.Time(until), sqlstore.Time(enqueued), waited == 1
		wishes[n].Found = true
		n++
		return err
	}, now, w.Agent, w.Lease, int64(len(wishes)))
	if err != nil || n == 0 {
		return err
	}
	taken, err := tx.Exec(c.take, now, w.Agent, w.Lease, w.By, int64(n))
	if err == nil && taken != int64(n) {
		err = fmt.Errorf("%d tasks were there and %d could be taken; the database is damaged", n, taken)
	}
	return err
}

// quarantine fails a task whose message cannot be read.
func (c *claiming) quarantine(ctx context.Context, e sqlstore.Engine, got queue.Claim) (o over, err error) {
	err = e.Write(ctx, func(tx sqlstore.Tx) error {
		o = over{}
		t, err := c.places.take(tx, got.ID)
		if errors.Is(err, queue.ErrNotFound) {
			return nil
		}
		if err != nil || t.state != stateClaimed || t.attempt != got.Attempt {
			return err // nil: somebody else saw to it
		}
		if err := c.places.end(tx, t, "its message is no JSON object"); err != nil {
			return err
		}
		o, err = c.due.lanes.ended(tx, t.lane)
		return err
	})
	return o, err
}

// nothing reports whether there is no task for an agent.
func (c *claiming) nothing(ctx context.Context, e sqlstore.Engine, agent string) (nothing bool, err error) {
	err = e.Read(ctx, func(tx sqlstore.Tx) error {
		there, err := sqlstore.One(tx, c.probe, sqlstore.None, agent)
		if err == nil && !there {
			there, err = c.due.any(tx)
		}
		nothing = !there
		return err
	})
	return nothing, err
}

// maxAgents bounds the agents that are remembered: anybody can ask for any.
const maxAgents = 10_000

// idle are the agents of which the last claim found nothing: before the next one it pays to
// look, which costs no place in the line of those who write, but time. It is safe for
// concurrent use.
type idle struct {
	mu     sync.Mutex
	agents map[string]bool
}

// has reports whether an agent is one of them.
func (i *idle) has(agent string) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.agents[agent]
}

// set remembers whether the last claim of an agent found nothing.
func (i *idle) set(agent string, nothing bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.agents[agent] == nothing {
		return
	}
	delete(i.agents, agent)
	if nothing && len(i.agents) < maxAgents {
		i.agents[agent] = true
	}
}
