// Package sqlhistory is the history of tasks in a SQL database: the counts of each minute and hour,
// for all tasks, and for each agent and repository. It implements history.Store on any engine of
// package sqlstore.
//
// Only Retry and AskAgain of the queue write to the history, and only for a task whose end is not recorded yet
// (keep.go). Record (record.go) reads the tasks that ended and
// were received since its cursor, and adds them to the rows of their minute and hour. It reads
// outside of the transaction that writes, and this transaction changes nothing if the cursor was
// changed meanwhile. So each task is added once, however many servers record. Read (read.go) adds the
// tasks behind the cursor to the rows.
package sqlhistory

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/queue/history"
	"github.com/org/foreman-action/store/internal/sqlstore"
)

// A Store implements history.Store. It is safe for concurrent use.
type Store struct {
	engine sqlstore.Engine
	statements
}

var _ history.Store = (*Store)(nil)

// New returns the history of a database that sqlstore.Migrate was run on.
func New(e sqlstore.Engine, d sqlstore.Dialect) *Store { return &Store{e, newStatements(d)} }

const (
	// settled is the age from which on tasks are recorded. Transactions that are older than the
	// timeout of a call have certainly ended, so no task with an older time can still appear.
	settled = 2 * time.Minute
	// maxReceived and maxEnded bound the tasks that one call of Record reads, in each state.
	maxReceived = 1000
	maxEnded    = 250
	// maxTail bounds the tasks behind the cursor that Read reads, in each state.
	maxTail = 5000
	// maxScopes bounds the agents, repositories and pairs of both that have rows of their own in one
	// minute or hour. Others are only part of the row for all tasks.
	maxScopes = 100
	// maxAccounts bounds the accounts of one minute.
	maxAccounts = 100
)

// The key of the cursor. No repository has this name.
const cursorKey = "history"

// A position is that of the last recorded task that ended, in the order of the index.
type position struct {
	At  int64 `json:"at"` // milliseconds since 1970
	Seq int64 `json:"seq"`
}

// A cursor is how far the tasks are recorded.
type cursor struct {
	Received int64    `json:"received"` // number of the last recorded task
	Done     position `json:"done"`
	Failed   position `json:"failed"`
	Cleaned  int64    `json:"cleaned"`        // when old rows were last deleted
	Kept     int64    `json:"kept,omitempty"` // number of calls of keep that added a task
}

// statements are the statements of the history.
type statements struct {
	now                               string
	cursor, lock, newCursor, move     string
	received, done, failed            string // for Record
	one                               string // for keep
	row, put                          string
	forgetRows, forgetBudgets, budget string
	rows, budgets                     string
	tailReceived, tailDone, tailFail  string // for Read
	ready, leased, held, parked       string
}

func newStatements(d sqlstore.Dialect) statements {
	const restarted = "(SELECT coalesce(max(l.at), 0) FROM task_log l WHERE l.seq = t.seq AND l.what IN ('retried', 'asked again'))"
	const columns = "SELECT t.seq, t.agent, t.repo, t.reason, t.created_at, t.claimed_at, t.completed_at, coalesce(t.ended_at, 0), " + restarted
	report := fmt.Sprintf(", substr(p.report, 1, %d) FROM task t LEFT JOIN task_report p ON p.seq = t.seq WHERE ", history.MaxReport)
	ended := func(state string) string {
		return columns + report + "t.state = " + state + " AND t.ended_at >= $1 AND (t.ended_at > $1 OR t.seq > $2)"
	}
	const older = " AND t.ended_at <= $3 ORDER BY t.ended_at, t.seq LIMIT $4"
	const newest = " ORDER BY t.ended_at DESC, t.seq DESC LIMIT $3"
	decided := func(condition string) string {
		return columns + ", NULL FROM task t WHERE t.completed_at > 0 AND " + condition + " LIMIT $1"
	}
	const received = "SELECT seq, agent, repo, created_at FROM task WHERE seq > $1 ORDER BY seq"
	return statements{
		now:           d.Expand("SELECT CAST({now} AS {int})"),
		cursor:        "SELECT data FROM poll_cursor WHERE repo = $1",
		lock:          d.Expand("SELECT data FROM poll_cursor WHERE repo = $1{lock}"),
		newCursor:     "INSERT INTO poll_cursor (repo, at, data) VALUES ($1, 0, $2) ON CONFLICT DO NOTHING",
		move:          d.Expand("UPDATE poll_cursor SET at = {now}, data = $3 WHERE repo = $2"),
		received:      received + " LIMIT $2",
		done:          ended("4") + older,
		failed:        ended("5") + older,
		one:           columns + report + "t.seq = $1",
		row:           "SELECT data FROM history WHERE scope = $1 AND width = $2 AND at = $3",
		put:           "INSERT INTO history (scope, width, at, data) VALUES ($1, $2, $3, $4) ON CONFLICT (scope, width, at) DO UPDATE SET data = excluded.data",
		forgetRows:    "DELETE FROM history WHERE width = $1 AND at < $2",
		forgetBudgets: "DELETE FROM history_budget WHERE width = $1 AND at < $2",
		budget: d.Expand(`INSERT INTO history_budget (width, at, account, calls, remaining, quota) VALUES ($2, CAST({now} AS {int}) / $2 * $2, $3, $4, $5, $6)
ON CONFLICT (width, at, account) DO UPDATE SET calls = history_budget.calls + excluded.calls, quota = excluded.quota,
  remaining = CASE WHEN excluded.remaining IS NULL OR history_budget.remaining < excluded.remaining THEN history_budget.remaining ELSE excluded.remaining END`),
		rows:         "SELECT at, data FROM history WHERE scope = $1 AND width = $2 AND at >= $3 ORDER BY at",
		budgets:      "SELECT account, at, calls, coalesce(remaining, -1), quota FROM history_budget WHERE width = $1 AND at >= $2 ORDER BY at LIMIT 200000",
		tailReceived: received + " DESC LIMIT $2",
		tailDone:     ended("4") + newest,
		tailFail:     ended("5") + newest,
		ready:        decided("t.seq > 0 AND t.state = 2"),
		leased:       decided("t.lease_until IS NOT NULL AND t.state = 3"),
		held:         decided("t.state >= 6 AND t.run_at < " + sqlstore.Never + " AND t.state = 8"), // without those that a pause holds
		parked:       decided("t.state >= 18 AND t.state = 20 AND t.seq > 0"),                       // held by a pause
	}
}

// Statements returns all statements of this package by name, for tests of the query plans.
func Statements(d sqlstore.Dialect) map[string]string {
	out := map[string]string{}
	for name, text := range sqlstore.Named(newStatements(d)) {
		out["history: "+name] = text
	}
	return out
}

// scanEnded returns a function that reads the columns of a task in a state.
func scanEnded(state queue.State) func(sqlstore.Row) (history.Ended, error) {
	return func(r sqlstore.Row) (t history.Ended, err error) {
		var enqueued, claimed, completed, ended, restarted int64
		err = r.Scan(&t.Seq, &t.Agent, &t.Repo, &t.Reason, &enqueued, &claimed, &completed, &ended, &restarted, &t.Report)
		t.State, t.Restarted = state, sqlstore.Time(restarted)
		t.Enqueued, t.Claimed, t.Completed, t.Ended = sqlstore.Time(enqueued), sqlstore.Time(claimed), sqlstore.Time(completed), sqlstore.Time(ended)
		return t, err
	}
}

// scanReceived reads the columns of a task that was received.
func scanReceived(r sqlstore.Row) (t queue.Info, err error) {
	var at int64
	err = r.Scan(&t.Seq, &t.Agent, &t.Repo, &at)
	t.Enqueued = sqlstore.Time(at)
	return t, err
}

// time returns the time of the database, or of the clock that the caller of the store set.
func (s *statements) time(tx sqlstore.Tx) (time.Time, error) {
	var now int64
	_, err := sqlstore.One(tx, s.now, sqlstore.Into(&now), tx.Now())
	return sqlstore.Time(now), err
}

// load reads the cursor with a statement. An unreadable cursor is an error: to record everything
// again would count it twice.
func load(tx sqlstore.Tx, query string) (c cursor, data []byte, err error) {
	found, err := sqlstore.One(tx, query, sqlstore.Into(&data), cursorKey)
	if err != nil || !found {
		return cursor{}, nil, err
	}
	if err := json.Unmarshal(data, &c); err != nil {
		return cursor{}, nil, fmt.Errorf("decode the history's cursor: %w", err)
	}
	return c, data, nil
}
