package sqlite

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/org/foreman-action/internal/address"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store/internal/sqlqueue"
	"github.com/org/foreman-action/store/internal/sqlstore"
)

// The published harness uses tables of other names. Their rows are copied into our tables once,
// in the transaction that creates our tables, and the old tables are renamed. Columns are cast
// when they are read, because SQLite stores values of any type in any column.

// graceful is how long a claim of the published harness stays valid after the conversion, in
// milliseconds.
const graceful = 5 * 60 * 1000

// migrate brings a file to the newest version of the schema, and converts the data of a published
// harness if the file has any.
func migrate(tx sqlstore.Tx, d sqlstore.Dialect) error {
	if _, err := sqlstore.Migrate(tx, d); err != nil {
		return err
	}
	return takeOver(tx)
}

// takeOver converts the tables of the published harness, if there are any.
func takeOver(tx sqlstore.Tx) error {
	for _, t := range []struct {
		table string
		read  func(sqlstore.Tx) error
	}{{"task_queue", takeTasks}, {"action_log", takeMemory}, {"memory_summary", takeMemory}, {"poll_state", takeCursors}} {
		there, err := exists(tx, t.table)
		if err == nil && there {
			err = t.read(tx)
		}
		if err == nil && there {
			err = putAway(tx, t.table)
		}
		if err != nil {
			return fmt.Errorf("import the table %s of the published harness: %w", t.table, err)
		}
	}
	return nil
}

// exists reports whether there is a table.
func exists(tx sqlstore.Tx, table string) (there bool, err error) {
	return sqlstore.One(tx, "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = $1", sqlstore.Ignore, table)
}

// putAway renames a table to a name that the published harness does not use.
func putAway(tx sqlstore.Tx, table string) error {
	name := table + "_published"
	for n := 2; ; n++ {
		there, err := exists(tx, name)
		if err != nil {
			return err
		}
		if !there {
			_, err = tx.Exec("ALTER TABLE " + table + " RENAME TO " + name)
			return err
		}
		name = table + "_published_" + strconv.Itoa(n)
	}
}

// takeTasks converts the tasks, the oldest first.
func takeTasks(tx sqlstore.Tx) error {
	rows, err := sqlstore.All(tx, "SELECT rowid FROM task_queue ORDER BY created_at, rowid", sqlstore.Column[int64])
	if err != nil {
		return err
	}
	for _, rowid := range rows {
		t, err := readTask(tx, rowid)
		if err != nil {
			return err
		}
		if err := keepTask(tx, t); err != nil {
			return err
		}
	}
	return nil
}

// A publishedTask is a row of task_queue.
type publishedTask struct {
	id, agent, status           string
	payload, result             []byte
	created, claimed, completed int64 // milliseconds since 1970
	retries                     int64
}

func readTask(tx sqlstore.Tx, rowid int64) (t publishedTask, err error) {
	const millis = "CAST(coalesce(%s, 0) * 1000 AS INTEGER)"
	query := "SELECT CAST(task_id AS TEXT), CAST(agent_url AS TEXT), CAST(status AS TEXT), CAST(payload AS BLOB), CAST(result AS BLOB), " +
		fmt.Sprintf(millis+", "+millis+", "+millis, "created_at", "claimed_at", "completed_at") +
		", CAST(coalesce(retry_count, 0) AS INTEGER) FROM task_queue WHERE rowid = $1"
	err = tx.Query(query, sqlstore.Into(&t.id, &t.agent, &t.status, &t.payload, &t.result, &t.created, &t.claimed, &t.completed, &t.retries), rowid)
	return t, err
}

// A keptTask is a converted task: its row in our tables.
type keptTask struct {
	id, agent, repo, reason string
	issue                   int64
	state                   int64 // stored state of package sqlqueue
	result                  []byte
}

// The stored states of package sqlqueue.
const (
	isPending   = 0
	isClaimed   = 1
	isCompleted = 2
	isDone      = 4
	isFailed    = 5
)

// convert converts a task. A task that cannot be decoded becomes failed, with the reason, unless
// it is done.
func convert(t publishedTask) keptTask {
	k := keptTask{id: t.id, agent: queue.CleanText(t.agent), result: t.result}
	var reasons []string
	states := map[string]int64{"pending": isPending, "claimed": isClaimed, "completed": isCompleted, "done": isDone, "failed": isFailed}
	var known bool
	if k.state, known = states[t.status]; !known {
		k.state = isFailed
		reasons = append(reasons, fmt.Sprintf("its status is %q", queue.CleanText(t.status)))
	}
	if t.id == "" || !queue.IsText(t.id) {
		k.id = "unreadable-" + strings.ToLower(rand.Text())
		reasons = append(reasons, "its id is not valid text")
	}
	if agent, err := address.Canonical(t.agent); err != nil || !queue.IsText(agent) {
		reasons = append(reasons, fmt.Sprintf("its agent's address is invalid: %v", cmp.Or(err, errors.New("the address is too long"))))
	} else {
		k.agent = agent
	}
	var err error
	if k.repo, k.issue, err = subject(t.payload); err != nil {
		reasons = append(reasons, err.Error())
	}
	if k.state == isCompleted {
		if _, err := protocol.ParseDecision(t.result); err != nil {
			reasons = append(reasons, fmt.Sprintf("its decision cannot be read: %v", err))
		}
	}
	switch {
	case len(reasons) > 0 && k.state != isDone:
		k.state, k.reason = isFailed, "imported from the published harness, but "+strings.Join(reasons, "; ")
	case k.state == isFailed:
		k.reason = "it failed in the published harness: it was claimed too often without a result"
	}
	k.reason = queue.CleanText(k.reason)
	return k
}

// subject returns the issue that a message is about.
func subject(payload []byte) (repo string, issue int64, err error) {
	var m struct {
		Repo    string `json:"repo"`
		Payload struct {
			Number      json.Number `json:"number"`
			IssueNumber json.Number `json:"issue_number"`
			Issue       struct {
				Number json.Number `json:"number"`
			} `json:"issue"`
		} `json:"payload"`
	}
	if !queue.Decodable(payload) || len(payload) > queue.MaxMessage {
		return "", 0, errors.New("its message is not a JSON object")
	}
	err = json.Unmarshal(payload, &m)
	if _, _, ok := protocol.SplitRepo(m.Repo); !ok || !queue.IsText(m.Repo) {
		return "", 0, errors.New("its message names no repository")
	}
	if err != nil {
		return m.Repo, 0, fmt.Errorf("its message cannot be read: %w", err)
	}
	issue, err = cmp.Or(m.Payload.Number, m.Payload.IssueNumber, m.Payload.Issue.Number).Int64()
	if err != nil || issue < 1 || issue > 1<<31 {
		return m.Repo, 0, errors.New("its message names no issue")
	}
	return m.Repo, issue, nil
}

// keepTask adds a task to our tables. A task that exists already stays unchanged.
func keepTask(tx sqlstore.Tx, t publishedTask) error {
	k := convert(t)
	now, _ := tx.Now().(int64)
	var lease, ended any
	claimed, completed := past(t.claimed, now), int64(0)
	attempts := min(max(t.retries, 0), 1<<30)
	switch k.state {
	case isClaimed:
		lease = now + graceful
		attempts++
	case isCompleted:
		completed = past(cmp.Or(t.completed, now), now)
	case isDone:
		completed = past(cmp.Or(t.completed, t.claimed, t.created), now)
		ended = completed
	case isFailed:
		ended = now
	}
	var seq int64
	err := tx.Query(`
INSERT INTO task (task_id, agent, repo, issue, lane, state, priority, joinable, attempt, claims, lease_until, reason,
  created_at, claimed_at, completed_at, ended_at)
VALUES ($1, $2, $3, $4, $5, $6, 0, 0, $7, $7, $8, $9, $10, $11, $12, $13) ON CONFLICT DO NOTHING RETURNING seq`,
		sqlstore.Into(&seq),
		k.id, k.agent, k.repo, k.issue, sqlqueue.IssueKey(k.repo, int(k.issue)), k.state, attempts, lease, k.reason,
		past(cmp.Or(t.created, now), now), claimed, completed, ended)
	if err != nil || seq == 0 {
		return err
	}
	if _, err := tx.Exec("INSERT INTO task_body (seq, message) VALUES ($1, $2)", seq, append([]byte{}, t.payload...)); err != nil {
		return err
	}
	if len(k.result) > 0 && (k.state == isCompleted || k.state == isDone) {
		_, err = tx.Exec("INSERT INTO task_result (seq, decision) VALUES ($1, $2)", seq, k.result)
	}
	return err
}

// past moves a time into the range from 1970 to now.
func past(ms, now int64) int64 { return min(max(ms, 0), now) }
