package sqlqueue

import (
	"strconv"
	"strings"
)

// SQLite returns the dialect of SQLite.
func SQLite() Dialect {
	return Dialect{
		Now:      "$1",
		List:     "(SELECT value FROM json_each(%s))",
		Identity: "INTEGER PRIMARY KEY AUTOINCREMENT", Blob: "BLOB", Text: "TEXT", Int: "INTEGER",
		Probe: true,
	}
}

// PostgreSQL returns the dialect of PostgreSQL.
func PostgreSQL() Dialect {
	return Dialect{
		Now:       "coalesce($1::bigint, (extract(epoch from statement_timestamp()) * 1000)::bigint)",
		Skip:      " FOR UPDATE OF t SKIP LOCKED",
		Lock:      " FOR UPDATE",
		Exclusive: "SELECT pg_advisory_xact_lock(hashtextextended(current_schema() || ' ' || $1, 0))",
		List:      "(SELECT value::bigint FROM json_array_elements_text(%s::json))",
		Identity:  "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY", Blob: "BYTEA", Text: `TEXT COLLATE "C"`, Int: "BIGINT",
		Claim:    claimPostgreSQL,
		Insert:   "WITH t AS (" + insertTask + ") INSERT INTO task_body (seq, origin, message) SELECT seq, $16, $15 FROM t RETURNING seq",
		Complete: "WITH t AS (" + completeTask + ") INSERT INTO task_result (seq, decision) SELECT seq, $5 FROM t ON CONFLICT (seq) DO UPDATE SET decision = excluded.decision RETURNING seq",
	}
}

// claimPostgreSQL hands out the first task of those that are pending and those whose
// time came. The texts are those from before the statement began, but the task may be newer: the
// last column is 1 if somebody joined another one to it meanwhile.
const claimPostgreSQL = `
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

// expand writes a statement for a dialect.
func (d Dialect) expand(query string) string {
	return strings.NewReplacer("{now}", d.Now, "{skip}", d.Skip, "{lock}", d.Lock,
		"{identity}", d.Identity, "{blob}", d.Blob, "{text}", d.Text, "{int}", d.Int,
	).Replace(query)
}

// crowded reports whether transactions run beside each other, so that one may have to wait
// for what another one holds. No two may wait for each other then: databases find that out
// late, and end one of them. So a statement that changes several tasks either passes over
// those that are held (free), or takes them in the order of their numbers (inOrder), and no
// transaction waits for a second task while it holds a first one.
func (d Dialect) crowded() bool { return d.Skip != "" }

// free is a condition for the tasks of which another one holds, but for those that somebody
// is changing right now.
func (d Dialect) free(condition string) string {
	if !d.crowded() {
		return condition
	}
	return "seq = ANY (ARRAY(SELECT t.seq FROM task t WHERE " + condition + "{skip}))"
}

// some is a condition for the tasks that are free, for maxSwept of them at most.
func (d Dialect) some(condition string) string {
	few := "SELECT t.seq FROM task t WHERE " + condition + " LIMIT " + strconv.Itoa(maxSwept) + "{skip}"
	if !d.crowded() {
		return "seq IN (" + few + ")"
	}
	return "seq = ANY (ARRAY(" + few + "))"
}

// inOrder is a condition for all tasks of which another one holds: it waits for those that
// somebody is changing.
func (d Dialect) inOrder(condition string) string {
	if !d.crowded() {
		return condition
	}
	return "seq = ANY (ARRAY(SELECT t.seq FROM task t WHERE " + condition + " ORDER BY t.seq{lock}))"
}

// list is the List of a parameter.
func (d Dialect) list(param string) string { return strings.Replace(d.List, "%s", param, 1) }
