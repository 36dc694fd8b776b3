package sqlqueue

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store/internal/sqlstore"
)

// counting are the statements of Stats and Backlog.
type counting struct {
	counts, oldest, oldestClaim         string
	backlog, backlogClaimed, backlogIDs string
	backlogAgents                       string
}

func newCounting(d sqlstore.Dialect) counting {
	// Triggers update task_count: see Dialect.Count.
	counts := "SELECT state, agent, CAST(sum(n) AS BIGINT) FROM task_count GROUP BY state, agent"
	if !d.CountsOpen {
		counts = `SELECT 0, agent, count(*) FROM task WHERE state = 0 GROUP BY agent
UNION ALL SELECT 2, '', count(*) FROM task WHERE state = 2
UNION ALL SELECT state, agent, count(*) FROM task WHERE lease_until IS NOT NULL GROUP BY state, agent
UNION ALL SELECT state, agent, count(*) FROM task WHERE state >= 6 AND run_at < ` + never + ` GROUP BY state, agent
UNION ALL SELECT state, agent, count(*) FROM task WHERE state >= 18 GROUP BY state, agent
UNION ALL ` + counts
	}
	// The recursion jumps from one agent to the next, and skips the other tasks of each
	// agent.
	const agents = `WITH RECURSIVE w(agent) AS (
  SELECT (SELECT t.agent FROM task t WHERE t.state = 0 AND t.agent > '' ORDER BY t.agent LIMIT 1)
  UNION ALL
  SELECT (SELECT t.agent FROM task t WHERE t.state = 0 AND t.agent > w.agent ORDER BY t.agent LIMIT 1) FROM w WHERE w.agent IS NOT NULL
)
`
	return counting{
		counts: counts,
		// The plus prevents a search through all tasks from the oldest on.
		oldest: `SELECT created_at FROM task WHERE seq IN (
(SELECT min(seq) FROM task WHERE state = 0), (SELECT min(+seq) FROM task WHERE state >= 6 AND run_at < ` + never + ` AND state IN (6, 12)), (SELECT min(seq) FROM task WHERE state >= 18 AND state = 18)) ORDER BY seq LIMIT 1`,
		oldestClaim:   "SELECT coalesce(min(claimed_at), 0) FROM task WHERE lease_until IS NOT NULL AND state = 1",
		backlogAgents: agents + "SELECT w.agent FROM w WHERE w.agent IS NOT NULL",
		// The first tasks of an agent are not paused, unless they were added since parkWaiting. The
		// inner query only reads the index; if it also read the repository, PostgreSQL would sort.
		backlog: agents + `SELECT w.agent, CASE WHEN ` + pausedAgent("w.agent") + ` THEN 0 ELSE (SELECT count(*) FROM (
    SELECT t.seq FROM task t WHERE t.state = 0 AND t.agent = w.agent ORDER BY t.priority DESC, t.seq LIMIT ` + strconv.Itoa(queue.MaxBacklog) + `
  ) few WHERE (SELECT lower(t.repo) FROM task t WHERE t.seq = few.seq) NOT IN (SELECT p.name FROM pause p WHERE p.kind = 2 AND p.active = 1)) END
FROM w WHERE w.agent IS NOT NULL`,
		backlogClaimed: "SELECT agent, count(*) FROM task WHERE lease_until IS NOT NULL AND state = 1 GROUP BY agent",
		backlogIDs:     "SELECT t.task_id FROM task t WHERE t.state = 0 AND t.agent = " + unlessPaused("$1") + " AND " + repoUnpaused + " AND " + firstClaim + " ORDER BY t.priority DESC, t.seq LIMIT $2",
	}
}

// count counts the tasks.
func (s *counting) count(ctx context.Context, e sqlstore.Engine) (queue.Stats, error) {
	return sqlstore.Value(ctx, e.Read, func(tx sqlstore.Tx) (queue.Stats, error) {
		out, agents := queue.Stats{States: map[queue.State]int{}}, map[string]queue.AgentStats{}
		err := tx.Query(s.counts, func(r sqlstore.Row) error {
			var state, n int
			var agent string
			if err := r.Scan(&state, &agent, &n); err != nil || n == 0 {
				return err
			}
			out.States[stateOf(state)] += n
			switch state {
			case stateDelayed, stateHeld, stateBehind:
				out.Held += n
			case stateDraining:
				out.Draining += n
			}
			countAgent(agents, agent, state, n)
			return nil
		})
		if err != nil {
			return out, err
		}
		out.Agents = slices.SortedFunc(maps.Values(agents), func(a, b queue.AgentStats) int { return cmp.Compare(a.Agent, b.Agent) })
		var at int64
		_, err = sqlstore.One(tx, s.oldest, sqlstore.Into(&at))
		if err != nil {
			return out, err
		}
		out.Oldest, at = sqlstore.Time(at), 0
		_, err = sqlstore.One(tx, s.oldestClaim, sqlstore.Into(&at))
		out.OldestClaim = sqlstore.Time(at)
		return out, err
	})
}

// countAgent adds tasks of an agent to its counts, if they are pending or claimed.
func countAgent(agents map[string]queue.AgentStats, agent string, state, n int) {
	a := agents[agent]
	a.Agent = agent
	switch state {
	case stateClaimed:
		a.Claimed += n
	case stateDelayed, stateBehind:
		a.Held += n
		a.Pending += n
	case statePending, stateParkedPending:
		a.Pending += n
	default:
		return
	}
	agents[agent] = a
}

// waiting returns the agents with pending tasks, each with the ids of at most n tasks.
func (s *counting) waiting(ctx context.Context, e sqlstore.Engine, n int) ([]queue.Backlog, error) {
	return sqlstore.Value(ctx, e.Read, func(tx sqlstore.Tx) (list []queue.Backlog, err error) {
		list, err = s.waitingAgents(tx)
		for i := range list {
			if err != nil || n <= 0 {
				break
			}
			list[i].IDs, err = sqlstore.All(tx, s.backlogIDs, sqlstore.Column[string], list[i].Agent, int64(n))
		}
		return list, err
	})
}

// agents returns the agents with pending tasks, also those that are paused.
func (s *counting) agents(ctx context.Context, e sqlstore.Engine) ([]string, error) {
	return sqlstore.Value(ctx, e.ReadOne, func(tx sqlstore.Tx) ([]string, error) {
		return sqlstore.All(tx, s.backlogAgents, sqlstore.Column[string])
	})
}

// waitingAgents returns the agents with pending tasks, without the ids of the tasks.
func (s *counting) waitingAgents(tx sqlstore.Tx) ([]queue.Backlog, error) {
	list, err := sqlstore.All(tx, s.backlog, func(r sqlstore.Row) (b queue.Backlog, err error) {
		err = r.Scan(&b.Agent, &b.Pending)
		return b, err
	})
	list = slices.DeleteFunc(list, func(b queue.Backlog) bool { return b.Pending == 0 }) // paused
	if err != nil || len(list) == 0 {
		return list, err
	}
	err = tx.Query(s.backlogClaimed, func(r sqlstore.Row) error {
		var agent string
		var n int
		err := r.Scan(&agent, &n)
		if i, ok := slices.BinarySearchFunc(list, agent, func(b queue.Backlog, agent string) int { return cmp.Compare(b.Agent, agent) }); ok {
			list[i].Claimed = n
		}
		return err
	})
	return list, err
}
