package sqlqueue

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store/internal/sqlstore"
)

// reading are the statements of Search, Count and Inspect.
type reading struct {
	info, inspect, entries string
	tasks                  tasks
}

func newReading(d sqlstore.Dialect) reading {
	// The columns of Info, in the order of scanInfo.
	info := d.Expand(`
SELECT seq, task_id, agent, repo, issue, state, CASE WHEN state IN (6, 8) AND run_at > {now} OR state = 12 THEN 1 ELSE 0 END, attempt, tries, priority,
  reason, created_at, CASE WHEN state >= 12 THEN 0 ELSE run_at END, claimed_at, lease_until, completed_at, ended_at, claimed_by, owner, behind, asks, epoch
FROM task `)
	return reading{
		info:    info,
		inspect: info + "WHERE task_id = $2",
		entries: "SELECT at, what, who, text FROM task_log WHERE seq = $1 ORDER BY n",
		tasks:   newTasks(d),
	}
}

// search returns a page of the tasks that match a filter.
func (s *reading) search(ctx context.Context, e sqlstore.Engine, f queue.Filter) (queue.Page, error) {
	read := e.ReadOne
	if f.Scans() {
		read = e.Read
	}
	return sqlstore.Value(ctx, read, func(tx sqlstore.Tx) (p queue.Page, err error) {
		if f.ID != "" {
			query, args := s.byID(f)
			args[0] = tx.Now()
			if p.Tasks, err = sqlstore.All(tx, query, scanInfo, args...); err != nil || len(p.Tasks) > 0 {
				return p, err
			}
		}
		var end int64
		if f.Scans() {
			w, err := readWindow(tx, f)
			if err != nil || w.n == 0 {
				return p, err
			}
			p.Examined, p.Next, end = w.n, w.next, w.last
		}
		query, args := s.page(f, end)
		args[0] = tx.Now()
		if p.Tasks, err = sqlstore.All(tx, query, scanInfo, args...); err != nil {
			return queue.Page{}, err
		}
		if n := f.PageSize(); len(p.Tasks) > n {
			p.Tasks, p.Next = p.Tasks[:n], p.Tasks[n-1].Seq
		}
		return p, nil
	})
}

// count counts the tasks that match a filter.
func (s *reading) count(ctx context.Context, e sqlstore.Engine, f queue.Filter) (queue.Tally, error) {
	return sqlstore.Value(ctx, e.Read, func(tx sqlstore.Tx) (c queue.Tally, err error) {
		if f.ID != "" {
			query, args := s.byID(f)
			args[0] = tx.Now()
			if list, err := sqlstore.All(tx, query, scanInfo, args...); err != nil || len(list) > 0 {
				return queue.Tally{N: len(list)}, err
			}
		}
		w, err := readWindow(tx, f)
		if err != nil || w.n == 0 {
			return c, err
		}
		query, args := matching(f, w.last)
		_, err = sqlstore.One(tx, query, sqlstore.Into(&c.N), args...)
		c.Next = w.next
		return c, err
	})
}

// A window are the newest tasks that an index has for a filter, at most f.Window of them.
type window struct {
	n    int
	last int64 // number of the oldest one
	next int64 // last, if there may be older ones
}

func readWindow(tx sqlstore.Tx, f queue.Filter) (w window, err error) {
	query, args := windowOf(f)
	_, err = sqlstore.One(tx, query, sqlstore.Into(&w.n, &w.last), args...)
	if w.n == f.Window() {
		w.next = w.last
	}
	return w, err
}

// A statement is the text of a statement for a filter, with its parameters.
type statement struct {
	filter queue.Filter
	args   []any
}

// param adds a parameter, and returns its place.
func (s *statement) param(v any) string {
	s.args = append(s.args, v)
	return "$" + strconv.Itoa(len(s.args))
}

// page returns the statement for a page of the tasks that match a filter, and one task more. It reads no task
// before the one with the number end; 0: any. The first parameter is the time.
//
// A page costs the same with any number of tasks. If no single index returns the matching tasks
// in their order, the statement merges the newest tasks of several indexes.
func (s *reading) page(f queue.Filter, end int64) (query string, args []any) {
	b := statement{f, []any{nil}}
	before, sources, limit := b.before(), b.sources(), strconv.Itoa(f.PageSize()+1)
	conditions := b.after(end) + b.conditions()
	switch {
	case len(sources) == 0: // the filter's state is unknown
		return s.info + "WHERE seq < " + before + " AND state < 0 ORDER BY seq DESC LIMIT " + limit, b.args[:2]
	case len(sources) == 1 && sources[0].direct:
		return s.info + "WHERE " + sources[0].condition + " AND seq < " + before + strings.ReplaceAll(conditions, "{seq}", "seq") + " ORDER BY seq DESC LIMIT " + limit, b.args
	}
	return s.info + "WHERE seq IN (" + union(sources, before, conditions, limit) + ") ORDER BY seq DESC LIMIT " + limit, b.args
}

// windowOf returns the statement for the window of a filter.
func windowOf(f queue.Filter) (query string, args []any) {
	b := statement{filter: f}
	before, sources, limit := b.before(), b.sources(), strconv.Itoa(f.Window())
	if len(sources) == 0 {
		return "SELECT 0, 0 FROM task WHERE seq < " + before + " AND seq < 0", b.args[:1]
	}
	return "SELECT count(*), coalesce(min(seq), 0) FROM (SELECT seq FROM (" + union(sources, before, "", limit) + ") AS u ORDER BY seq DESC LIMIT " + limit + ") AS w", b.args
}

// matching returns the statement that counts the tasks of a filter's window that match. end is the number of
// the last task in the window.
func matching(f queue.Filter, end int64) (query string, args []any) {
	b := statement{filter: f}
	before, sources := b.before(), b.sources()
	return "SELECT count(*) FROM (" + union(sources, before, b.after(end)+b.conditions(), "") + ") AS w", b.args
}

// byID returns the statement for the task with the id of a filter. The first parameter is the time.
func (s *reading) byID(f queue.Filter) (query string, args []any) {
	b := statement{f, []any{nil}}
	before := b.before()
	conditions := " AND seq < " + before + stored(f.State) + " AND task_id = " + b.param(f.ID)
	if f.Agent != "" {
		conditions += " AND agent = " + b.param(f.Agent)
	}
	if f.Repo != "" {
		conditions += " AND " + sameRepo(b.param(f.Repo))
	}
	if f.Issue != 0 {
		conditions += " AND issue = " + b.param(int64(f.Issue))
	}
	f.ID, f.Agent, f.Repo, f.Issue = "", "", "", 0
	b.filter = f
	return s.info + "WHERE" + strings.TrimPrefix(conditions, " AND") + b.conditions(), b.args
}

// union returns the numbers of the newest tasks of each source that satisfy the conditions. An empty limit
// means all.
func union(sources []source, before, conditions, limit string) string {
	var parts []string
	for i, from := range sources {
		part := "SELECT seq FROM task WHERE " + from.condition + " AND " + from.order + " < " + before + strings.ReplaceAll(conditions, "{seq}", from.order)
		if limit != "" {
			part = "SELECT seq FROM (" + part + " ORDER BY " + from.order + " DESC LIMIT " + limit + ") AS s" + strconv.Itoa(i)
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, "\nUNION ALL ")
}

// before returns the parameter for the number before which the tasks are searched.
func (s *statement) before() string {
	return s.param(cmp.Or(max(s.filter.Before, 0), int64(1)<<62))
}

// after returns the condition for tasks from the one with the number end on. {seq} stands for the order of a
// source.
func (s *statement) after(end int64) string {
	if end == 0 {
		return ""
	}
	return " AND {seq} >= " + s.param(end)
}

// sources returns the sources of the tasks for which there are indexes.
func (s *statement) sources() []source {
	f := s.filter
	switch {
	case f.Repo != "" && f.Issue != 0:
		condition := "lane = " + s.param(IssueKey(f.Repo, f.Issue))
		if f.Agent != "" {
			condition += " AND agent || '' = " + s.param(f.Agent)
		}
		return []source{{condition + " AND +issue = " + s.param(int64(f.Issue)) + stored(f.State), "seq", true}}
	case f.Repo != "" && (f.State == queue.Claimed || f.State == queue.Completed): // only few tasks are in these states
		named := " AND " + sameRepo(s.param(f.Repo))
		list := agentSources(f.State, "")
		for i := range list {
			list[i].condition += named
		}
		return list
	case f.Repo != "":
		return repoSources(f.State, sameRepo(s.param(f.Repo)))
	case f.Agent != "":
		return agentSources(f.State, s.param(f.Agent))
	case f.State != "":
		return agentSources(f.State, "")
	}
	return []source{{"seq > 0", "seq", true}}
}

// conditions returns the conditions of the filter for which there is no index.
func (s *statement) conditions() string {
	f, list := s.filter, ""
	if f.Agent != "" && f.Repo != "" && f.Issue == 0 {
		list += " AND agent || '' = " + s.param(f.Agent)
	}
	if f.Issue != 0 && f.Repo == "" {
		list += " AND +issue = " + s.param(int64(f.Issue))
	}
	if f.ID != "" {
		id := s.param(f.ID)
		// joinable counts the tasks that were joined to this one.
		list += " AND (delivery = " + id + " OR joinable > 1 AND EXISTS (SELECT 1 FROM task_also a WHERE a.seq = task.seq AND a.delivery = " + id + "))"
	}
	for _, word := range f.Words() {
		list += " AND title LIKE " + s.param(part(word)) + " ESCAPE '!'"
	}
	if f.Reason != "" {
		list += " AND lower(CASE WHEN state = 12 THEN 'waits for task ' || behind || ' of the same issue' ELSE reason END) LIKE " + s.param(part(text.LowerASCII(f.Reason))) + " ESCAPE '!'"
	}
	if !f.From.IsZero() {
		list += " AND created_at >= " + s.param(f.From.UnixMilli())
	}
	if !f.To.IsZero() {
		list += " AND created_at < " + s.param(f.To.UnixMilli())
	}
	return list
}

// part returns the LIKE pattern of the texts that contain s.
func part(s string) string {
	return "%" + strings.NewReplacer("!", "!!", "%", "!%", "_", "!_").Replace(s) + "%"
}

// A source is a condition that one index covers.
type source struct {
	condition string
	order     string // seq; or +seq if the index has another order, so that the tasks are sorted
	direct    bool   // the index has the columns of the tasks near it: it is read without a list of their numbers
}

// storedStates returns the stored states of a state of package queue; empty text: all.
func storedStates(state queue.State) []int {
	var list []int
	for _, n := range []int{statePending, stateClaimed, stateCompleted, stateDraining, stateDone, stateFailed, stateDelayed, stateHeld, stateBehind, stateParkedPending, stateParkedCompleted} {
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
			list = append(list, source{"ended_at IS NOT NULL AND " + named + " AND state = " + strconv.Itoa(n), "seq", false})
			continue
		}
		open = true
	}
	if open {
		list = append(list, source{"ended_at IS NULL AND " + named + strings.Replace(stored(state), "state", "+state", 1), "seq", false})
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
			list = append(list, source{"ended_at IS NOT NULL AND state = " + number + indexed, "seq", false})
		case statePending, stateCompleted:
			list = append(list, source{"state = " + number + filtered, "seq", false})
		case stateClaimed, stateDraining:
			list = append(list, source{"lease_until > 0 AND +state = " + number + filtered, "+seq", false})
		case stateParkedPending, stateParkedCompleted:
			list = append(list, source{"state >= 18 AND state = " + number + filtered, "seq", false})
		default:
			list = append(list, source{"state >= 6 AND run_at < " + never + " AND +state = " + number + filtered, "+seq", false})
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
		&i.Reason, &enqueued, &runAt, &claimedAt, &until, &completedAt, &ended, &claimedBy, &owner, &behind, &i.Asks, &i.Epoch)
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
