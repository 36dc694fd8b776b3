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
	counts, oldest, agents              string
	backlog, backlogClaimed, backlogIDs string
}

func newCounting() counting {
	return counting{
		counts: `SELECT 0, count(*) FROM task WHERE state = 0
UNION ALL SELECT 2, count(*) FROM task WHERE state = 2
UNION ALL SELECT state, count(*) FROM task WHERE lease_until IS NOT NULL GROUP BY state
UNION ALL SELECT state, count(*) FROM task WHERE state >= 6 GROUP BY state
UNION ALL SELECT state, count(*) FROM task WHERE ended_at IS NOT NULL GROUP BY state`,
		// The plus keeps databases from looking for the first one among all, from the oldest on.
		oldest: `SELECT created_at FROM task WHERE seq IN (
(SELECT min(+seq) FROM task WHERE state = 0), (SELECT min(+seq) FROM task WHERE state >= 6 AND state IN (6, 12))) ORDER BY seq LIMIT 1`,
		agents: `SELECT 0, agent, count(*) FROM task WHERE state = 0 GROUP BY agent
UNION ALL SELECT 1, agent, count(*) FROM task WHERE lease_until IS NOT NULL AND state = 1 GROUP BY agent
UNION ALL SELECT 6, agent, count(*) FROM task WHERE state >= 6 AND state IN (6, 12) GROUP BY agent`,
		// From one agent to the next one, past all that wait for it.
		backlog: `WITH RECURSIVE w(agent) AS (
  SELECT (SELECT t.agent FROM task t WHERE t.state = 0 AND t.agent > '' ORDER BY t.agent LIMIT 1)
  UNION ALL
  SELECT (SELECT t.agent FROM task t WHERE t.state = 0 AND t.agent > w.agent ORDER BY t.agent LIMIT 1) FROM w WHERE w.agent IS NOT NULL
)
SELECT w.agent, (SELECT count(*) FROM (SELECT 1 FROM task t WHERE t.state = 0 AND t.agent = w.agent ORDER BY t.priority DESC, t.seq LIMIT ` + strconv.Itoa(queue.MaxBacklog) + `) few)
FROM w WHERE w.agent IS NOT NULL`,
		backlogClaimed: "SELECT agent, count(*) FROM task WHERE lease_until IS NOT NULL AND state = 1 GROUP BY agent",
		backlogIDs:     "SELECT task_id FROM task WHERE state = 0 AND agent = $1 ORDER BY priority DESC, seq LIMIT $2",
	}
}

// count counts the tasks.
func (s *counting) count(ctx context.Context, e sqlstore.Engine) (queue.Stats, error) {
	return sqlstore.Value(ctx, e.Read, func(tx sqlstore.Tx) (queue.Stats, error) {
		out := queue.Stats{States: map[queue.State]int{}}
		err := tx.Query(s.counts, func(r sqlstore.Row) error {
			var state, n int
			if err := r.Scan(&state, &n); err != nil {
				return err
			}
			if n > 0 {
				out.States[stateOf(state)] += n
			}
			switch state {
			case stateDelayed, stateHeld, stateBehind:
				out.Held += n
			case stateDraining:
				out.Draining += n
			}
			return nil
		})
		if err != nil {
			return out, err
		}
		var at int64
		if _, err := sqlstore.One(tx, s.oldest, sqlstore.Into(&at)); err != nil {
			return out, err
		}
		out.Oldest = sqlstore.Time(at)
		out.Agents, err = s.byAgent(tx)
		return out, err
	})
}

// byAgent counts the tasks of each agent that are pending or claimed.
func (s *counting) byAgent(tx sqlstore.Tx) ([]queue.AgentStats, error) {
	byName := map[string]queue.AgentStats{}
	err := tx.Query(s.agents, func(r sqlstore.Row) error {
		var state, n int
		var agent string
		if err := r.Scan(&state, &agent, &n); err != nil {
			return err
		}
		a := byName[agent]
		a.Agent = agent
		switch state {
		case stateClaimed:
			a.Claimed += n
		case stateDelayed:
			a.Held += n
			a.Pending += n
		default:
			a.Pending += n
		}
		byName[agent] = a
		return nil
	})
	return slices.SortedFunc(maps.Values(byName), func(a, b queue.AgentStats) int { return cmp.Compare(a.Agent, b.Agent) }), err
}

// waiting returns the agents that have tasks waiting, each with the ids of at most n.
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

// waitingAgents returns the agents that have tasks waiting, without their ids.
func (s *counting) waitingAgents(tx sqlstore.Tx) ([]queue.Backlog, error) {
	list, err := sqlstore.All(tx, s.backlog, func(r sqlstore.Row) (b queue.Backlog, err error) {
		err = r.Scan(&b.Agent, &b.Pending)
		return b, err
	})
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
