package sqlqueue

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/org/foreman-action/queue"
)

// Stats implements queue.Queue.
func (s *Store) Stats(ctx context.Context) (queue.Stats, error) {
	if err := s.settle(ctx); err != nil {
		return queue.Stats{}, doing("count tasks", err)
	}
	var out queue.Stats
	err := s.engine.Read(ctx, func(tx Tx) error {
		out = queue.Stats{States: map[queue.State]int{}}
		err := tx.Query(s.sql.counts, func(r Row) error {
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
			return err
		}
		var at int64
		if _, err := one(tx, s.sql.oldest, func(r Row) error { return r.Scan(&at) }); err != nil {
			return err
		}
		out.Oldest = timeOf(at)
		out.Agents, err = s.agents(tx)
		return err
	})
	return out, doing("count tasks", err)
}

// agents counts the tasks of each agent that are pending or claimed.
func (s *Store) agents(tx Tx) ([]queue.AgentStats, error) {
	byName := map[string]*queue.AgentStats{}
	err := tx.Query(s.sql.agents, func(r Row) error {
		var state, n int
		var agent string
		if err := r.Scan(&state, &agent, &n); err != nil {
			return err
		}
		a := byName[agent]
		if a == nil {
			a = &queue.AgentStats{Agent: agent}
			byName[agent] = a
		}
		switch state {
		case stateClaimed:
			a.Claimed += n
		case stateDelayed:
			a.Held += n
			a.Pending += n
		default:
			a.Pending += n
		}
		return nil
	})
	var list []queue.AgentStats
	for _, a := range byName {
		list = append(list, *a)
	}
	slices.SortFunc(list, func(a, b queue.AgentStats) int { return cmp.Compare(a.Agent, b.Agent) })
	return list, err
}

// Backlog implements queue.Queue.
func (s *Store) Backlog(ctx context.Context, n int) ([]queue.Backlog, error) {
	if err := s.settle(ctx); err != nil {
		return nil, doing("look for waiting tasks", err)
	}
	var list []queue.Backlog
	err := s.engine.Read(ctx, func(tx Tx) (err error) {
		list, err = s.backlog(tx)
		for i := range list {
			if err != nil || n <= 0 {
				return err
			}
			b := &list[i]
			err = tx.Query(s.sql.backlogIDs, func(r Row) error {
				var id string
				err := r.Scan(&id)
				b.IDs = append(b.IDs, id)
				return err
			}, b.Agent, int64(n))
		}
		return err
	})
	return list, doing("look for waiting tasks", err)
}

// backlog returns the agents that have tasks waiting, without their ids.
func (s *Store) backlog(tx Tx) (list []queue.Backlog, err error) {
	err = tx.Query(s.sql.backlog, func(r Row) error {
		var b queue.Backlog
		err := r.Scan(&b.Agent, &b.Pending)
		list = append(list, b)
		return err
	})
	if err != nil || len(list) == 0 {
		return list, err
	}
	err = tx.Query(s.sql.backlogClaimed, func(r Row) error {
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

// List implements queue.Queue.
func (s *Store) List(ctx context.Context, f queue.Filter) ([]queue.Info, error) {
	if !queue.IsText(f.Agent) || !queue.IsText(f.Repo) {
		return nil, ctx.Err()
	}
	where, args := conditions(f)
	query := s.sql.info + "WHERE " + strings.Join(where, " AND ") + " ORDER BY seq DESC LIMIT " + strconv.Itoa(limitOf(f))
	var list []queue.Info
	err := s.engine.Look(ctx, func(tx Tx) error {
		list = nil
		args[0] = tx.Now()
		return tx.Query(query, func(r Row) error {
			i, err := scanInfo(r)
			list = append(list, i)
			return err
		}, args...)
	})
	return list, doing("list tasks", err)
}

func limitOf(f queue.Filter) int {
	if f.Limit <= 0 {
		return 100
	}
	return min(f.Limit, 1000)
}

// conditions are those of a filter, with their parameters behind the time.
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

// scanInfo reads the columns of selectInfo.
func scanInfo(r Row) (queue.Info, error) {
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
	i.Enqueued, i.Ready, i.Claimed, i.Until = timeOf(enqueued), timeOf(runAt), timeOf(claimedAt), timeOf(until)
	i.Completed, i.Ended = timeOf(completedAt), timeOf(ended)
	return i, err
}

// Inspect implements queue.Queue.
func (s *Store) Inspect(ctx context.Context, id string) (queue.Details, error) {
	if !queue.IsText(id) {
		return queue.Details{}, doing("look at a task", queue.ErrNotFound)
	}
	var out queue.Details
	err := s.engine.Read(ctx, func(tx Tx) (err error) {
		out, err = s.details(tx, id)
		return err
	})
	if err != nil {
		return queue.Details{}, doing("look at task "+id, err)
	}
	return out, nil
}

func (s *Store) details(tx Tx, id string) (out queue.Details, err error) {
	found, err := one(tx, s.sql.inspect, func(r Row) error {
		out.Info, err = scanInfo(r)
		return err
	}, tx.Now(), id)
	if err != nil || !found {
		return out, cmpErr(err, queue.ErrNotFound)
	}
	_, err = one(tx, s.sql.texts, func(r Row) error { return r.Scan(&out.Origin, &out.Message, &out.Result, &out.Report) }, out.Seq)
	if err != nil {
		return out, err
	}
	err = tx.Query(s.sql.entries, func(r Row) error {
		var e queue.Entry
		var at int64
		err := r.Scan(&at, &e.What, &e.Who, &e.Text)
		e.At = timeOf(at)
		out.Log = append(out.Log, e)
		return err
	}, out.Seq)
	return out, err
}

// cmpErr is the first of two errors that is one.
func cmpErr(first, second error) error {
	if first != nil {
		return first
	}
	return second
}
