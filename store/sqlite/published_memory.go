package sqlite

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/store/internal/sqlstore"
	"github.com/org/foreman-action/triage"
)

// The memory of the published harness does not record results. It wrote a row of action_log
// before the first call, and again each time a task was repeated. The row contains the decision.
// It wrote a row of memory_summary when every action of the last decision had been carried out,
// except closes that were not allowed.
//
// A converted record therefore contains each decision. The actions of the decision that the
// summary names count as done. The results of all other actions are unknown, and count as not
// carried out.
const (
	publishedBy = "an agent of the published harness"
	unknown     = "unknown"
	notKnown    = "the published harness did not record whether it was carried out"
)

// maxTaken is the most decisions that are read for one issue. The newest ones are read.
const maxTaken = memory.MaxTasks

// takeMemory converts the memory. It is called once for each of the two tables, and reads both
// tables for each issue that has no record yet.
func takeMemory(tx sqlstore.Tx) error {
	for _, table := range []string{"action_log", "memory_summary"} {
		there, err := exists(tx, table)
		if err != nil {
			return err
		}
		if !there {
			continue
		}
		rows, err := sqlstore.All(tx, "SELECT min(rowid) FROM "+table+" GROUP BY lower(repo), issue_id", sqlstore.Column[int64])
		if err != nil {
			return err
		}
		for _, rowid := range rows {
			if err := takeIssue(tx, table, rowid); err != nil {
				return err
			}
		}
	}
	return nil
}

// takeIssue converts the memory of the issue in a row.
func takeIssue(tx sqlstore.Tx, table string, rowid int64) error {
	var repo string
	var issue int
	err := tx.Query("SELECT CAST(repo AS TEXT), CAST(issue_id AS INTEGER) FROM "+table+" WHERE rowid = $1",
		sqlstore.Into(&repo, &issue), rowid)
	if err != nil {
		return err
	}
	if !isIssue(repo, issue) {
		return nil // the row stays in the old table
	}
	had, err := sqlstore.One(tx, "SELECT 1 FROM memory_record WHERE repo = $1 AND issue = $2", sqlstore.Ignore, strings.ToLower(repo), int64(issue))
	if err != nil || had {
		return err
	}
	r := memory.Record{Repo: repo, Issue: issue}
	list, err := decisions(tx, repo, issue)
	if err != nil {
		return err
	}
	if list, err = confirm(tx, repo, issue, list); err != nil {
		return err
	}
	for _, t := range list {
		r.Put(t)
	}
	if len(list) == 0 {
		return nil
	}
	r.Revision = 1
	data, err := memory.Encode(r)
	if err != nil {
		return err
	}
	_, err = tx.Exec("INSERT INTO memory_record (repo, issue, revision, data) VALUES ($1, $2, 1, $3)", strings.ToLower(repo), int64(issue), data)
	return err
}

// isIssue reports whether an issue can have a record.
func isIssue(repo string, issue int) bool {
	_, err := memory.Key(repo, issue)
	return err == nil && issue != memory.Repository
}

// decisions reads the decisions in action_log, the oldest first. A decision that was logged
// several times in a row counts once.
func decisions(tx sqlstore.Tx, repo string, issue int) (list []memory.Task, err error) {
	there, err := exists(tx, "action_log")
	if err != nil || !there {
		return nil, err
	}
	now := nowOf(tx)
	last := ""
	err = tx.Query(`SELECT rowid, CAST(decision AS TEXT), CAST(rationale AS TEXT), CAST(actions AS TEXT), CAST(timestamp AS TEXT) FROM action_log
WHERE rowid IN (SELECT rowid FROM action_log WHERE lower(repo) = lower($1) AND issue_id = $2 ORDER BY rowid DESC LIMIT $3) ORDER BY rowid`, func(r sqlstore.Row) error {
		var rowid int64
		var decision, rationale, actions, at string
		if err := r.Scan(&rowid, &decision, &rationale, &actions, &at); err != nil {
			return err
		}
		same := decision + "\x00" + rationale + "\x00" + actions
		if same == last {
			return nil
		}
		last = same
		list = append(list, memory.Task{
			ID: "action_log " + strconv.FormatInt(rowid, 10), At: timeOf(at, now), Decision: protocol.DecisionType(decision),
			Rationale: rationale, By: publishedBy, Status: unknown, Actions: logged(actions),
		})
		return nil
	}, repo, int64(issue), int64(maxTaken))
	return list, err
}

func nowOf(tx sqlstore.Tx) time.Time {
	ms, _ := tx.Now().(int64)
	return time.UnixMilli(ms).UTC()
}

// logged returns the actions of a row. It leaves out actions that cannot be decoded.
func logged(text string) []memory.Action {
	var items []json.RawMessage
	if err := json.Unmarshal([]byte(text), &items); err != nil {
		return nil
	}
	var list []memory.Action
	for i, raw := range items {
		var item protocol.ActionItem
		if err := json.Unmarshal(raw, &item); err != nil {
			continue
		}
		a := memory.NewAction(i, item)
		a.Result, a.Reason = unknown, notKnown
		list = append(list, a)
	}
	return list
}

// confirm marks the decision that the issue's summary names as carried out. If that decision was
// not logged, confirm adds it.
func confirm(tx sqlstore.Tx, repo string, issue int, list []memory.Task) ([]memory.Task, error) {
	there, err := exists(tx, "memory_summary")
	if err != nil || !there {
		return list, err
	}
	var summary, at string
	err = tx.Query("SELECT CAST(summary AS TEXT), CAST(updated_at AS TEXT) FROM memory_summary WHERE lower(repo) = lower($1) AND issue_id = $2",
		sqlstore.Into(&summary, &at), repo, int64(issue))
	if err != nil || summary == "" {
		return list, err
	}
	decision, rationale := summarized(summary)
	for i := len(list) - 1; i >= 0; i-- {
		if string(list[i].Decision) == decision && list[i].Rationale == rationale {
			list[i].Status = "applied"
			carryOut(list[i].Actions)
			return list, nil
		}
	}
	return append(list, memory.Task{
		ID: "memory_summary", At: timeOf(at, nowOf(tx)), Decision: protocol.DecisionType(decision), Rationale: rationale,
		By: publishedBy, Status: "applied",
	}), nil
}

// summarized parses "decision=skip; rationale=why". Any other text is a rationale.
func summarized(summary string) (decision, rationale string) {
	head, rationale, found := strings.Cut(summary, "; rationale=")
	decision, named := strings.CutPrefix(head, "decision=")
	if !found || !named {
		return "", summary
	}
	return decision, rationale
}

// carryOut marks all actions of a completed decision as carried out.
func carryOut(list []memory.Action) {
	for i, a := range list {
		if a.Type != protocol.ActionCloseIssue {
			list[i].Result, list[i].Reason = triage.Done, ""
		}
	}
}

// timeOf parses a time in the published harness's format. It returns otherwise if the text has
// another format.
func timeOf(text string, otherwise time.Time) time.Time {
	for _, layout := range []string{time.DateTime, time.RFC3339Nano, "2006-01-02T15:04:05.999999", "2006-01-02 15:04:05.999999-07:00"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC()
		}
	}
	return otherwise
}

// missed is the time before the last poll from which events are read again. The published harness
// recorded the time of a poll after it had read the list, so it may have missed events.
const missed = 2 * time.Minute

// takeCursors converts the poller's cursors to the form that our poller writes.
func takeCursors(tx sqlstore.Tx) error {
	cursors := map[string]time.Time{}
	err := tx.Query("SELECT CAST(repo AS TEXT), CAST(last_polled AS TEXT) FROM poll_state", func(r sqlstore.Row) error {
		var repo, at string
		err := r.Scan(&repo, &at)
		if t := timeOf(at, time.Time{}); !t.IsZero() && t.Unix() > int64(missed.Seconds()) {
			cursors[strings.ToLower(repo)] = t.Add(-missed)
		}
		return err
	})
	for repo, at := range cursors {
		if err != nil {
			break
		}
		data := fmt.Appendf(nil, `{"version":1,"at":%d,"base":%d}`, at.Unix(), at.Unix())
		_, err = tx.Exec("INSERT INTO poll_cursor (repo, at, data) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING", repo, tx.Now(), data)
	}
	return err
}
