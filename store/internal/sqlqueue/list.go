package sqlqueue

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store/internal/sqlstore"
)

// reading are the statements of List and Inspect.
type reading struct {
	info, inspect, entries string
	tasks                  tasks
}

func newReading(d sqlstore.Dialect) reading {
	// The columns of Info, in the order of scanInfo.
	info := d.Expand(`
SELECT seq, task_id, agent, repo, issue, state, CASE WHEN state >= 6 AND (state = 12 OR run_at > {now}) THEN 1 ELSE 0 END, attempt, tries, priority,
  reason, created_at, CASE WHEN state = 12 THEN 0 ELSE run_at END, claimed_at, lease_until, completed_at, ended_at, claimed_by, owner, behind, asks
FROM task `)
	return reading{
		info:    info,
		inspect: info + "WHERE task_id = $2",
		entries: "SELECT at, what, who, text FROM task_log WHERE seq = $1 ORDER BY n",
		tasks:   newTasks(d),
	}
}

// list returns the tasks that match a filter.
func (s *reading) list(ctx context.Context, e sqlstore.Engine, f queue.Filter) ([]queue.Info, error) {
	query, args := s.selection(f)
	return sqlstore.Value(ctx, e.ReadOne, func(tx sqlstore.Tx) ([]queue.Info, error) {
		args[0] = tx.Now()
		return sqlstore.All(tx, query, scanInfo, args...)
	})
}

// selection returns the statement and the parameters for a filter. The first parameter is the
// time.
//
// A page costs the same with any number of tasks. If no single index returns the matching tasks
// in their order, the statement merges the newest tasks of several indexes.
func (s *reading) selection(f queue.Filter) (query string, args []any) {
	limit := strconv.Itoa(min(cmp.Or(max(f.Limit, 0), 100), 1000))
	args = []any{nil, cmp.Or(max(f.Before, 0), int64(1)<<62)}
	param := func(v any) string {
		args = append(args, v)
		return "$" + strconv.Itoa(len(args))
	}
	const end = " ORDER BY seq DESC LIMIT "
	condition := "" // in addition to the conditions of the index
	if f.Agent != "" && f.Repo != "" {
		condition += " AND agent || '' = " + param(f.Agent)
	}
	if f.Issue != 0 {
		condition += " AND +issue = " + param(int64(f.Issue))
	}
	var sources []source
	switch {
	case f.Repo != "" && f.Issue != 0:
		return s.info + "WHERE seq < $2 AND lane = " + param(IssueKey(f.Repo, f.Issue)) + condition + stored(f.State) + end + limit, args
	case f.Repo != "" && (f.State == queue.Claimed || f.State == queue.Completed):
		condition += " AND " + sameRepo(param(f.Repo)) // only few tasks are in these states
		sources = agentSources(f.State, "")
	case f.Repo != "":
		sources = repoSources(f.State, sameRepo(param(f.Repo)))
	case f.Agent != "":
		sources = agentSources(f.State, param(f.Agent))
	case f.State != "":
		sources = agentSources(f.State, "")
	default:
		return s.info + "WHERE seq < $2" + condition + end + limit, args
	}
	var parts []string
	for i, from := range sources {
		parts = append(parts, "SELECT seq FROM (SELECT seq FROM task WHERE "+from.condition+" AND "+from.order+" < $2"+condition+" ORDER BY "+from.order+" DESC LIMIT "+limit+") AS s"+strconv.Itoa(i))
	}
	if len(parts) == 0 { // the filter's state is unknown
		return s.info + "WHERE seq < $2 AND state < 0" + end + limit, args[:2]
	}
	return s.info + "WHERE seq IN (" + strings.Join(parts, "\nUNION ALL ") + ")" + end + limit, args
}

// A source is a condition that one index covers.
type source struct {
	condition string
	order     string // seq; or +seq if the index has another order, so that the tasks are sorted
}

// storedStates returns the stored states of a state of package queue; empty text: all.
func storedStates(state queue.State) []int {
	var list []int
	for _, n := range []int{statePending, stateClaimed, stateCompleted, stateDraining, stateDone, stateFailed, stateDelayed, stateHeld, stateBehind} {
		if state == "" || stateOf(n) == state && slices.Contains(queue.States(), state) {
			list = append(list, n)
		}
	}
	return list
}

// stored returns the SQL condition for a state.
func stored(state queue.State) string {
	if state == "" {
		return ""
	}
	var list []string
	for _, n := range storedStates(state) {
		list = append(list, strconv.Itoa(n))
	}
	return " AND state IN (" + cmp.Or(strings.Join(list, ", "), "-1") + ")"
}

// sameRepo returns the condition for the repository in a parameter, in the form that the indexes
// use.
func sameRepo(param string) string { return "lower(repo) = lower(" + param + ")" }

// repoSources returns the sources of a repository's tasks. Tasks that have not ended share one
// index for all states.
func repoSources(state queue.State, named string) (list []source) {
	open := false
	for _, n := range storedStates(state) {
		if n == stateDone || n == stateFailed {
			list = append(list, source{"ended_at IS NOT NULL AND " + named + " AND state = " + strconv.Itoa(n), "seq"})
			continue
		}
		open = true
	}
	if open {
		list = append(list, source{"ended_at IS NULL AND " + named + strings.Replace(stored(state), "state", "+state", 1), "seq"})
	}
	return list
}

// agentSources returns the sources of the tasks in a state that belong to the agent in a
// parameter. An empty text means any state. Tasks that have not ended are read with the index of their
// state, and sorted if that index has another order.
func agentSources(state queue.State, agent string) (list []source) {
	indexed, filtered := "", ""
	if agent != "" {
		indexed, filtered = " AND agent = "+agent, " AND agent || '' = "+agent
	}
	for _, n := range storedStates(state) {
		number := strconv.Itoa(n)
		switch n {
		case stateDone, stateFailed:
			list = append(list, source{"ended_at IS NOT NULL AND state = " + number + indexed, "seq"})
		case statePending, stateCompleted:
			list = append(list, source{"state = " + number + filtered, "seq"})
		case stateClaimed, stateDraining:
			list = append(list, source{"lease_until > 0 AND +state = " + number + filtered, "+seq"})
		default:
			list = append(list, source{"state >= 6 AND run_at >= 0 AND +state = " + number + filtered, "+seq"})
		}
	}
	return list
}

// scanInfo reads the columns of reading.info.
func scanInfo(r sqlstore.Row) (queue.Info, error) {
	var i queue.Info
	var state, isHeld int
	var enqueued, runAt, claimedAt, until, completedAt, ended int64
	var claimedBy, owner, behind string
	err := r.Scan(&i.Seq, &i.ID, &i.Agent, &i.Repo, &i.Issue, &state, &isHeld, &i.Attempt, &i.Tries, &i.Priority,
		&i.Reason, &enqueued, &runAt, &claimedAt, &until, &completedAt, &ended, &claimedBy, &owner, &behind, &i.Asks)
	i.State, i.Held, i.Draining, i.Owner = stateOf(state), isHeld == 1, state == stateDraining, claimedBy
	if i.Draining {
		i.Owner = owner
	}
	if state == stateBehind {
		i.Behind, i.Reason = behind, queue.CleanText("waits for task "+behind+" of the same issue")
	}
	i.Enqueued, i.Ready, i.Claimed, i.Until = sqlstore.Time(enqueued), sqlstore.Time(runAt), sqlstore.Time(claimedAt), sqlstore.Time(until)
	i.Completed, i.Ended = sqlstore.Time(completedAt), sqlstore.Time(ended)
	return i, err
}

// details returns a task with its texts and its log. Error: queue.ErrNotFound.
func (s *reading) details(tx sqlstore.Tx, id string) (out queue.Details, err error) {
	found, err := sqlstore.One(tx, s.inspect, func(r sqlstore.Row) error {
		out.Info, err = scanInfo(r)
		return err
	}, tx.Now(), id)
	if err != nil || !found {
		return out, cmp.Or(err, queue.ErrNotFound)
	}
	t, err := s.tasks.read(tx, out.Seq)
	if err != nil {
		return out, err
	}
	out.Origin, out.Message, out.Result, out.Report = t.origin, t.message, t.decision, t.report
	out.Log, err = sqlstore.All(tx, s.entries, func(r sqlstore.Row) (e queue.Entry, err error) {
		var at int64
		err = r.Scan(&at, &e.What, &e.Who, &e.Text)
		e.At = sqlstore.Time(at)
		return e, err
	}, out.Seq)
	return out, err
}
