package sqlqueue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store/internal/batch"
	"github.com/org/foreman-action/store/internal/sqlstore"
)

// claiming are the statements of ClaimNext.
type claiming struct {
	offer, take string // hand out tasks to callers with equal requests
	claimAll    string // hands out tasks to a list of callers, instead of offer and take; empty: none
	claimNamed  string // hands out the task with an id, on every database
	claimedBody string
	probe       string
	probes      bool // run probe before a claim if the agent's previous claim found nothing
	delayed     delayed
	tasks       tasks
	calls       *batch.Kind[*sqlstore.ClaimRequest]
}

func newClaiming(d sqlstore.Dialect) *claiming {
	pending := "WHERE t.state = 0 AND t.agent = " + unlessPaused("$2") + " AND " + repoUnpaused + " AND " + firstClaim + " ORDER BY t.priority DESC, t.seq LIMIT "
	c := &claiming{
		claimNamed:  d.Expand(claimNamed()),
		claimedBody: "SELECT b.origin, b.message FROM task t JOIN task_body b ON b.seq = t.seq WHERE t.task_id = $1",
		probe:       "SELECT 1 FROM task t WHERE t.state = 0 AND t.agent = " + unlessPaused("$1") + " AND " + repoUnpaused + " LIMIT 1",
		probes:      d.ReadFirst,
		delayed:     newDelayed(d),
		tasks:       newTasks(d),
	}
	if d.Batches {
		c.claimAll = d.Expand(claimAll())
		c.calls = &batch.Kind[*sqlstore.ClaimRequest]{Order: 1, Join: c.claimTogether}
		return c
	}
	c.offer = d.Expand(`SELECT t.task_id, t.attempt + 1, {now} + $3, t.created_at, b.origin, b.message, CASE WHEN t.behind = '' THEN 0 ELSE 1 END
FROM task t LEFT JOIN task_body b ON b.seq = t.seq ` + pending + "$4")
	c.take = d.Expand(`UPDATE task SET state = 1, attempt = attempt + 1, claims = claims + 1, claimed_by = $4, claimed_at = {now}, lease_until = {now} + $3, run_at = 0
WHERE seq IN (SELECT t.seq FROM task t ` + pending + "$5)")
	return c
}

// claimAll hands out the first of the tasks that are pending or due. It returns the texts of a task
// as they were when the statement began. The last column but one is 1 if another task was joined
// to this one meanwhile, so the texts must be read again. The last column is the number of the
// caller's kind.
func claimAll() string {
	return `
WITH want AS MATERIALIZED (
  SELECT w.agent, w.lease, w.claimant, w.callers, w.kind FROM unnest($2::text[], $3::bigint[], $4::text[], $5::bigint[]) WITH ORDINALITY AS w(agent, lease, claimant, callers, kind)
  WHERE NOT ` + pausedAgent("w.agent") + `
), pick AS MATERIALIZED (
  SELECT r.seq, w.lease, w.claimant, w.kind FROM want w CROSS JOIN LATERAL (
    SELECT both_of_them.seq FROM (
      SELECT ready.seq, ready.priority FROM (
        SELECT t.seq, t.priority FROM task t WHERE t.state = 0 AND t.agent = w.agent AND ` + repoUnpaused + ` AND ` + firstClaim + `
          ORDER BY t.priority DESC, t.seq LIMIT w.callers{skip}
      ) AS ready UNION ALL SELECT due.seq, due.priority FROM (
        SELECT t.seq, t.priority FROM task t WHERE t.state = 6 AND t.agent = w.agent AND t.run_at <= {now} AND ` + repoUnpaused + ` AND ` + firstClaim + `
          ORDER BY t.priority DESC, t.seq LIMIT w.callers{skip}
      ) AS due
    ) AS both_of_them ORDER BY both_of_them.priority DESC, both_of_them.seq LIMIT w.callers
  ) r
)
UPDATE task SET state = 1, attempt = attempt + 1, claims = claims + 1, claimed_by = pick.claimant, claimed_at = {now}, lease_until = {now} + pick.lease, run_at = 0
FROM pick LEFT JOIN task_body b ON b.seq = pick.seq WHERE task.seq = pick.seq
RETURNING task_id, attempt, lease_until, created_at, b.origin, b.message, CASE WHEN behind = '' THEN 0 ELSE 1 END,
  CASE WHEN joinable = (SELECT s.joinable FROM task s WHERE s.seq = task.seq) THEN 0 ELSE 1 END, pick.kind`
}

// claimNamed hands out one task, if it is pending or due. It waits if the task is locked, because
// no other task can be handed out instead. The columns are those of claimAll, without the kind.
func claimNamed() string {
	return `
UPDATE task SET state = 1, attempt = attempt + 1, claims = claims + 1, claimed_by = $4, claimed_at = {now}, lease_until = {now} + $3, run_at = 0
WHERE task_id = $5 AND agent = ` + unlessPaused("$2") + ` AND (state = 0 OR state = 6 AND run_at <= {now})
  AND lower(repo) NOT IN (SELECT p.name FROM pause p WHERE p.kind = 2 AND p.active = 1)
RETURNING task_id, attempt, lease_until, created_at, (SELECT b.origin FROM task_body b WHERE b.seq = task.seq),
  (SELECT b.message FROM task_body b WHERE b.seq = task.seq), CASE WHEN behind = '' THEN 0 ELSE 1 END,
  CASE WHEN joinable = (SELECT s.joinable FROM task s WHERE s.seq = task.seq) THEN 0 ELSE 1 END`
}

// next hands out the next task, or the only task that was asked for, if it can be claimed. It does
// not check the task's message.
func (c *claiming) next(ctx context.Context, e batch.Engine, w *sqlstore.ClaimRequest) error {
	var err error
	switch {
	case w.Task != "":
		err = e.WriteOne(ctx, func(tx sqlstore.Tx) (err error) {
			w.Found, err = sqlstore.One(tx, c.claimNamed, func(r sqlstore.Row) error { return scanClaim(r, w) }, tx.Now(), w.Agent, w.Lease, w.By, w.Task)
			return err
		})
	case c.claimAll != "":
		w.Found, err = batch.Do(ctx, e, c.calls, w)
	default:
		err = e.WriteBatch(ctx, c.handOut, w)
	}
	if err != nil || !w.Found || !w.Renewed {
		return err
	}
	return e.ReadOne(ctx, func(tx sqlstore.Tx) error {
		_, err := sqlstore.One(tx, c.claimedBody, sqlstore.Into(&w.Claim.Origin, &w.Claim.Message), w.Claim.ID)
		return err
	})
}

// scanClaim reads a claimed task into w, and further columns into more.
func scanClaim(r sqlstore.Row, w *sqlstore.ClaimRequest, more ...any) error {
	var until, enqueued int64
	var waited, renewed int
	got := &w.Claim
	err := r.Scan(append([]any{&got.ID, &got.Attempt, &until, &enqueued, &got.Origin, &got.Message, &waited, &renewed}, more...)...)
	got.Until, got.Enqueued, got.Waited = sqlstore.Time(until), sqlstore.Time(enqueued), waited == 1
	w.Renewed = renewed == 1
	return err
}

// claimTogether answers requests as long as there are pending tasks.
func (c *claiming) claimTogether(now any, requests []*sqlstore.ClaimRequest, _ bool) batch.Joined {
	type kind struct {
		agent, by string
		lease     int64
	}
	numbers := map[kind]int{}
	var alike [][]int // indexes of the equal requests, by kind
	var agents, claimants []string
	var leases, callers []int64
	for i, w := range requests {
		k := kind{w.Agent, w.By, w.Lease}
		n, there := numbers[k]
		if !there {
			n = len(alike)
			numbers[k] = n
			alike, callers = append(alike, nil), append(callers, 0)
			agents, claimants, leases = append(agents, k.agent), append(claimants, k.by), append(leases, k.lease)
		}
		alike[n] = append(alike[n], i)
		callers[n]++
	}
	served := make([]bool, len(requests))
	each := func(r sqlstore.Row) error {
		var got sqlstore.ClaimRequest
		var n int
		if err := scanClaim(r, &got, &n); err != nil {
			return err
		}
		i := alike[n-1][0]
		alike[n-1] = alike[n-1][1:]
		requests[i].Claim, requests[i].Renewed, served[i] = got.Claim, got.Renewed, true
		return nil
	}
	args := []any{now, agents, leases, claimants, callers}
	return batch.Joined{Statement: sqlstore.Statement{Query: c.claimAll, Args: args, Each: each}, Served: served}
}

// handOut answers all requests of a group, with one statement for equal requests.
func (c *claiming) handOut(tx sqlstore.Tx, requests []*sqlstore.ClaimRequest) error {
	promoted, err := c.delayed.promoteNow(tx)
	if err != nil {
		return err
	}
	for _, w := range requests {
		w.Found, w.Promoted = false, nil
	}
	requests[0].Promoted = promoted
	for rest := slices.Clone(requests); len(rest) > 0; {
		same := 1
		for i := 1; i < len(rest); i++ {
			if a, b := rest[i], rest[0]; a.Agent == b.Agent && a.By == b.By && a.Lease == b.Lease {
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

// handOutAlike answers equal requests, as long as there are tasks.
func (c *claiming) handOutAlike(tx sqlstore.Tx, requests []*sqlstore.ClaimRequest) error {
	w, n, now := requests[0], 0, tx.Now() // both statements must use the same time
	err := tx.Query(c.offer, func(r sqlstore.Row) error {
		got := &requests[n].Claim
		var until, enqueued int64
		var waited int
		err := r.Scan(&got.ID, &got.Attempt, &until, &enqueued, &got.Origin, &got.Message, &waited)
		got.Until, got.Enqueued, got.Waited = sqlstore.Time(until), sqlstore.Time(enqueued), waited == 1
		requests[n].Found = true
		n++
		return err
	}, now, w.Agent, w.Lease, int64(len(requests)))
	if err != nil || n == 0 {
		return err
	}
	taken, err := tx.Exec(c.take, now, w.Agent, w.Lease, w.By, int64(n))
	if err == nil && taken != int64(n) {
		err = fmt.Errorf("found %d pending tasks and claimed %d; the database is damaged", n, taken)
	}
	return err
}

// quarantine fails a task whose message cannot be read.
func (c *claiming) quarantine(ctx context.Context, e sqlstore.Engine, got queue.Claim) (followUp, error) {
	return sqlstore.Value(ctx, e.Write, func(tx sqlstore.Tx) (followUp, error) {
		t, err := c.tasks.take(tx, got.ID)
		if errors.Is(err, queue.ErrNotFound) {
			return followUp{}, nil
		}
		if err != nil || t.state != stateClaimed || t.attempt != got.Attempt {
			return followUp{}, err // err is nil if another caller has claimed or ended the task
		}
		if err := c.tasks.end(tx, t, "its message is not a JSON object"); err != nil {
			return followUp{}, err
		}
		return c.delayed.lanes.ended(tx, t.lane)
	})
}

// nothing reports whether an agent has no pending task and no task is due.
func (c *claiming) nothing(ctx context.Context, e sqlstore.Engine, agent string) (bool, error) {
	return sqlstore.Value(ctx, e.Read, func(tx sqlstore.Tx) (bool, error) {
		there, err := sqlstore.One(tx, c.probe, sqlstore.Ignore, agent)
		if err == nil && !there {
			there, err = c.delayed.any(tx)
		}
		return !there, err
	})
}

// maxAgents bounds the idle agents that are remembered: callers choose the names.
const maxAgents = 10_000

// An idle contains the agents whose last claim found no task. Their next claim first reads
// whether there is a task, because a read does not need the only writer. It is safe for
// concurrent use.
type idle struct {
	mu     sync.Mutex
	agents map[string]bool
}

// has reports whether the last claim of an agent found no task.
func (i *idle) has(agent string) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.agents[agent]
}

// set records whether the last claim of an agent found no task.
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
