package sqlqueue

import (
	"reflect"
	"strconv"
	"strings"

	"github.com/org/foreman-action/queue"
)

// The parameter $1 of a statement is the time wherever {now} stands in it, and there
// alone.
const (
	insertTask = `
INSERT INTO task (task_id, agent, repo, issue, lane, dedup, hourly, state, priority, joinable, run_at, slot, created_at, completed_at, reason)
SELECT $2, $3, $4, $5, $6, $7, $8, CAST($9 AS BIGINT), $10, $11, CASE WHEN CAST($9 AS BIGINT) < 6 THEN 0 WHEN $12 > {now} + $13 THEN $12 ELSE {now} + $13 END,
  CASE WHEN $12 > {now} + $13 THEN $12 ELSE {now} + $13 END, {now}, CASE WHEN CAST($9 AS BIGINT) IN (2, 8) THEN {now} ELSE 0 END, $14
WHERE NOT EXISTS (SELECT 1 FROM task_also a WHERE a.dedup = $7)
ON CONFLICT DO NOTHING RETURNING seq`

	pending = "WHERE t.state = 0 AND t.agent = $2 ORDER BY t.priority DESC, t.seq LIMIT "

	completeTask = `
UPDATE task SET state = 2, completed_at = {now}, lease_until = NULL, run_at = 0, reason = ''
WHERE task_id = $2 AND (state IN (0, 6, 12) OR state = 1 AND ($3 = 0 OR attempt = $3)) AND ($4 = '' OR claimed_by = $4)
RETURNING seq`

	leaseDecision = `
UPDATE task SET state = 3, epoch = epoch + 1, owner = $3, lease_until = {now} + $2, run_at = 0
WHERE seq = (SELECT t.seq FROM task t WHERE t.state = 2 AND t.seq > $4
    AND (t.issue = 0 OR NOT EXISTS (SELECT 1 FROM task b WHERE b.state = 3 AND b.issue > 0 AND b.lane = t.lane))
  ORDER BY t.seq LIMIT 1{skip})
RETURNING seq, task_id, epoch, lease_until, agent, repo, issue, tries, created_at, completed_at,
  (SELECT b.origin FROM task_body b WHERE b.seq = task.seq), (SELECT b.message FROM task_body b WHERE b.seq = task.seq),
  (SELECT r.decision FROM task_result r WHERE r.seq = task.seq)`

	// What Info holds, in the order of scanInfo; $1 is the time.
	selectInfo = `
SELECT seq, task_id, agent, repo, issue, state, CASE WHEN state >= 6 AND (state = 12 OR run_at > {now}) THEN 1 ELSE 0 END, attempt, tries, priority,
  reason, created_at, CASE WHEN state = 12 THEN 0 ELSE run_at END, claimed_at, lease_until, completed_at, ended_at, claimed_by, owner, behind
FROM task `

	// What stands for a task that is enqueued; the last columns are until when it is held back, and behind which one.
	standing     = "seq, task_id, CASE WHEN state IN (6, 8) AND run_at > {now} THEN run_at ELSE 0 END, CASE WHEN state = 12 THEN behind ELSE '' END"
	selectStands = "SELECT " + standing + " FROM task "

	findTask = "SELECT seq, state, attempt, claimed_by, epoch, agent, issue, joinable, lane, followed FROM task WHERE task_id = $1"

	failing      = "UPDATE task SET state = 5, ended_at = {now}, lease_until = NULL, run_at = 0, "
	sweptColumns = " RETURNING seq, task_id, agent, claimed_by, reason, lane, followed"
)

// The statements in the form of one dialect, by what they are for.
type statements struct {
	insert, body, byID, byDedup, byAlso, also   string
	join, joinBody, hourly, exclusive           string
	follow, wait, next, ahead, letGo, tellAhead string
	rearm                                       string
	claimedBody                                 string
	claim, offer, take                          string
	probe, heartbeat, find, hold, fail          string
	giveBack, giveUp, promote, overdue          string
	complete, result, log, trim                 string
	lease, renew, finish, release, report       string
	requeueClaimed, requeueDraining, grace      string
	exhaustPending, exhaustClaimed              string
	exhaustCompleted, exhaustDraining           string
	retry, unreport, decided, purge             string
	purgeTexts                                  [5]string
	counts, oldest, agents                      string
	backlog, backlogClaimed, backlogIDs         string
	info, inspect, texts, entries               string
	record, recordHold, update, create, replace string
	ledger, ledgerHold, begin, mark, forget     string
	due, aside, trimAside, purgeAside           string
	cursor, saveCursor                          string
	seize, abdicate                             string
	slotTimes, takeSlot                         string
	shiftSlots, forgetSlots                     string
}

func statementsOf(d Dialect) statements {
	s := statements{
		// Enqueue.
		insert:    insertTask,
		body:      "INSERT INTO task_body (seq, origin, message) VALUES ($1, $2, $3)",
		byID:      selectStands + "WHERE task_id = $2",
		byDedup:   selectStands + "WHERE dedup = $2",
		byAlso:    selectStands + "WHERE seq = (SELECT a.seq FROM task_also a WHERE a.dedup = $2)",
		also:      "INSERT INTO task_also (dedup, seq) VALUES ($1, $2)",
		join:      "UPDATE task SET joinable = joinable + 1, priority = CASE WHEN priority < $2 THEN $2 ELSE priority END WHERE seq = $1",
		joinBody:  "UPDATE task_body SET origin = $2, message = $3 WHERE seq = $1",
		hourly:    "SELECT slot, {now} FROM task WHERE hourly = $2 ORDER BY slot DESC LIMIT 1 OFFSET $3",
		exclusive: d.Exclusive,

		// Claims.
		offer: `SELECT t.task_id, t.attempt + 1, {now} + $3, t.created_at, b.origin, b.message, CASE WHEN t.behind = '' THEN 0 ELSE 1 END
FROM task t LEFT JOIN task_body b ON b.seq = t.seq ` + pending + "$4",
		take: `UPDATE task SET state = 1, attempt = attempt + 1, claims = claims + 1, claimed_by = $4, claimed_at = {now}, lease_until = {now} + $3, run_at = 0
WHERE seq IN (SELECT t.seq FROM task t ` + pending + "$5)",
		claimedBody: "SELECT b.origin, b.message FROM task t JOIN task_body b ON b.seq = t.seq WHERE t.task_id = $1",
		probe:       "SELECT 1 FROM task WHERE state = 0 AND agent = $1 LIMIT 1",
		heartbeat: `UPDATE task SET lease_until = {now} + $5
WHERE task_id = $2 AND state = 1 AND ($3 = 0 OR attempt = $3) AND ($4 = '' OR claimed_by = $4)`,
		giveBack: `UPDATE task SET state = CAST($5 AS BIGINT), lease_until = NULL, claims = CASE WHEN claims > 0 THEN claims - 1 ELSE 0 END,
  run_at = CASE WHEN CAST($5 AS BIGINT) < 6 THEN 0 ELSE {now} + $6 END
WHERE task_id = $2 AND state = 1 AND ($3 = 0 OR attempt = $3) AND ($4 = '' OR claimed_by = $4) RETURNING seq, agent, attempt, claimed_by`,
		giveUp: failing + `reason = $5
WHERE task_id = $2 AND state = 1 AND ($3 = 0 OR attempt = $3) AND ($4 = '' OR claimed_by = $4) RETURNING seq, claimed_by, reason, agent, lane, followed`,
		find:    findTask,
		hold:    findTask + "{lock}",
		fail:    failing + "reason = $3, hourly = CASE WHEN attempt > 0 THEN hourly END WHERE seq = $2",
		promote: "UPDATE task SET state = state - 6 WHERE " + d.free("state >= 6 AND state < 12 AND run_at <= {now}") + " RETURNING state, agent",
		overdue: "SELECT 1 FROM task WHERE state >= 6 AND run_at <= {now} LIMIT 1",
	}
	s.decisions()
	s.sweeps(d)
	s.behind(d)
	s.people()
	s.memory()
	s.slots()
	for i, table := range []string{"task_body", "task_result", "task_report", "task_log", "task_also"} {
		s.purgeTexts[i] = "DELETE FROM " + table + " WHERE seq IN " + d.list("$1")
	}
	for own, text := range map[string]*string{d.Claim: &s.claim, d.Insert: &s.insert, d.Complete: &s.complete} {
		if own != "" {
			*text = own
		}
	}
	if s.claim != "" {
		s.offer, s.take = "", ""
	}
	for _, text := range s.all() {
		*text = d.expand(*text)
	}
	return s
}

// decisions are the statements about decisions.
func (s *statements) decisions() {
	s.complete = completeTask
	s.result = "INSERT INTO task_result (seq, decision) VALUES ($1, $2) ON CONFLICT (seq) DO UPDATE SET decision = excluded.decision"
	s.log = `INSERT INTO task_log (seq, n, at, what, who, text)
SELECT $2, coalesce(max(n), 0) + 1, {now}, $3, $4, $5 FROM task_log WHERE seq = $2 RETURNING n`
	s.trim = "DELETE FROM task_log WHERE seq = $1 AND n > $2 AND n <= $3"
	s.lease = leaseDecision
	s.renew = "UPDATE task SET lease_until = {now} + $4 WHERE task_id = $2 AND state = 3 AND epoch = $3 RETURNING lease_until"
	s.finish = `UPDATE task SET state = $4, reason = $5, ended_at = {now}, lease_until = NULL, run_at = 0
WHERE task_id = $2 AND state = 3 AND epoch = $3 RETURNING seq, agent, lane, followed`
	s.release = `UPDATE task SET state = CAST($4 AS BIGINT), run_at = CASE WHEN CAST($4 AS BIGINT) < 6 THEN 0 ELSE {now} + $5 END, tries = tries + $6, reason = $7, lease_until = NULL
WHERE task_id = $2 AND state = 3 AND epoch = $3 RETURNING seq, owner`
	s.report = "INSERT INTO task_report (seq, report) VALUES ($1, $2) ON CONFLICT (seq) DO UPDATE SET report = excluded.report"
}

// sweeps are the statements about what ran out.
func (s *statements) sweeps(d Dialect) {
	s.requeueClaimed = "UPDATE task SET state = 0, lease_until = NULL WHERE " +
		d.some("lease_until <= {now} AND state = 1 AND ($2 = 0 OR claims < $2)") + " RETURNING seq, task_id, agent, claimed_by, attempt"
	s.requeueDraining = "UPDATE task SET state = 2, lease_until = NULL, tries = tries + 1 WHERE " +
		d.some("lease_until <= {now} AND state = 3 AND ($2 = 0 OR tries + 1 < $2)") + " RETURNING seq, task_id, agent, owner, epoch"
	s.grace = "UPDATE task SET lease_until = {now} + $2 WHERE " + d.inOrder("lease_until < {now} + $2 AND state = 1")
	s.exhaustPending = failing + "reason = $2 WHERE " + d.some("state = 0 AND claims > 0 AND claims >= $3") + sweptColumns
	s.exhaustClaimed = failing + "reason = $2 WHERE " + d.some("lease_until <= {now} AND state = 1 AND claims >= $3") + sweptColumns
	s.exhaustCompleted = failing + "reason = $2 || reason WHERE " + d.some("tries > 0 AND state IN (2, 8) AND tries >= $3") + sweptColumns
	s.exhaustDraining = failing + "tries = tries + 1, reason = $2 || reason WHERE " +
		d.some("lease_until <= {now} AND state = 3 AND tries + 1 >= $3") + sweptColumns
}

// behind are the statements about tasks that wait for the end of others of their issue.
func (s *statements) behind(d Dialect) {
	s.follow = "UPDATE task SET followed = 1 WHERE " + d.inOrder("lane = $2 AND agent = $3 AND state NOT IN (4, 5)") +
		" RETURNING " + standing + ", state, attempt, joinable"
	s.wait = "UPDATE task SET state = 12, run_at = {now} + $3, behind = $4 WHERE seq = $2"
	// The plus keeps databases from looking for them among all that are held back.
	s.next = "SELECT seq, task_id FROM task WHERE lane = $1 AND agent = $2 AND +state = 12 ORDER BY seq LIMIT 1"
	s.ahead = "SELECT task_id FROM task WHERE lane = $1 AND agent = $2 AND followed = 1 AND state NOT IN (4, 5, 12) ORDER BY seq LIMIT 1"
	s.letGo = `UPDATE task SET state = CASE WHEN slot > {now} THEN 6 ELSE 0 END, run_at = CASE WHEN slot > {now} THEN slot ELSE 0 END
WHERE seq = $2 AND +state = 12 RETURNING state`
	s.tellAhead = "UPDATE task SET behind = $3 WHERE " + d.inOrder("lane = $1 AND agent = $2 AND +state = 12 AND behind <> $3")
	s.rearm = "UPDATE task SET run_at = {now} + $2 WHERE " + d.free("state >= 6 AND state = 12 AND run_at <= {now}") + " RETURNING agent, lane"
}

// people are the statements for those who look, and change things by hand.
func (s *statements) people() {
	s.retry = `UPDATE task SET state = $2, claims = 0, tries = 0, reason = '', run_at = 0, ended_at = NULL, followed = 1,
  slot = CASE WHEN hourly IS NULL THEN 0 ELSE slot END WHERE seq = $1`
	s.unreport = "DELETE FROM task_report WHERE seq = $1"
	s.decided = "SELECT 1 FROM task_result WHERE seq = $1"
	s.purge = `DELETE FROM task WHERE seq IN (
SELECT t.seq FROM task t WHERE t.state = $2 AND t.ended_at < $1 ORDER BY t.ended_at LIMIT $3{skip}) RETURNING seq`
	s.counts = `SELECT 0, count(*) FROM task WHERE state = 0
UNION ALL SELECT 2, count(*) FROM task WHERE state = 2
UNION ALL SELECT state, count(*) FROM task WHERE lease_until IS NOT NULL GROUP BY state
UNION ALL SELECT state, count(*) FROM task WHERE state >= 6 GROUP BY state
UNION ALL SELECT state, count(*) FROM task WHERE ended_at IS NOT NULL GROUP BY state`
	// The plus keeps databases from looking for the first one among all, from the oldest on.
	s.oldest = `SELECT created_at FROM task WHERE seq IN (
(SELECT min(+seq) FROM task WHERE state = 0), (SELECT min(+seq) FROM task WHERE state >= 6 AND state IN (6, 12))) ORDER BY seq LIMIT 1`
	s.agents = `SELECT 0, agent, count(*) FROM task WHERE state = 0 GROUP BY agent
UNION ALL SELECT 1, agent, count(*) FROM task WHERE lease_until IS NOT NULL AND state = 1 GROUP BY agent
UNION ALL SELECT 6, agent, count(*) FROM task WHERE state >= 6 AND state IN (6, 12) GROUP BY agent`
	// From one agent to the next one, past all that wait for it.
	s.backlog = `WITH RECURSIVE w(agent) AS (
  SELECT (SELECT t.agent FROM task t WHERE t.state = 0 AND t.agent > '' ORDER BY t.agent LIMIT 1)
  UNION ALL
  SELECT (SELECT t.agent FROM task t WHERE t.state = 0 AND t.agent > w.agent ORDER BY t.agent LIMIT 1) FROM w WHERE w.agent IS NOT NULL
)
SELECT w.agent, (SELECT count(*) FROM (SELECT 1 FROM task t WHERE t.state = 0 AND t.agent = w.agent ORDER BY t.priority DESC, t.seq LIMIT ` + strconv.Itoa(queue.MaxBacklog) + `) few)
FROM w WHERE w.agent IS NOT NULL`
	s.backlogClaimed = "SELECT agent, count(*) FROM task WHERE lease_until IS NOT NULL AND state = 1 GROUP BY agent"
	s.backlogIDs = "SELECT task_id FROM task WHERE state = 0 AND agent = $1 ORDER BY priority DESC, seq LIMIT $2"
	s.info = selectInfo
	s.inspect = selectInfo + "WHERE task_id = $2"
	s.texts = `SELECT b.origin, b.message, r.decision, p.report FROM task_body b
LEFT JOIN task_result r ON r.seq = b.seq LEFT JOIN task_report p ON p.seq = b.seq WHERE b.seq = $1`
	s.entries = "SELECT at, what, who, text FROM task_log WHERE seq = $1 ORDER BY n"
}

// memory are the statements about records, ledgers and cursors.
func (s *statements) memory() {
	s.record = "SELECT data FROM memory_record WHERE repo = $1 AND issue = $2"
	s.recordHold = s.record + "{lock}"
	s.update = "UPDATE memory_record SET revision = revision + 1, due = $4, data = $5 WHERE repo = $1 AND issue = $2 AND revision = $3"
	s.create = "INSERT INTO memory_record (repo, issue, revision, due, data) VALUES ($1, $2, $3 + 1, $4, $5) ON CONFLICT DO NOTHING"
	s.replace = "UPDATE memory_record SET revision = $3 + 1, due = $4, data = $5 WHERE repo = $1 AND issue = $2"
	s.due = "SELECT issue, due FROM memory_record WHERE repo = $1 AND due IS NOT NULL ORDER BY due, issue"
	s.aside = "INSERT INTO memory_aside (path, at, data) VALUES ($2, {now}, $3) RETURNING id"
	s.trimAside = "DELETE FROM memory_aside WHERE id <= $1"
	s.purgeAside = "DELETE FROM memory_aside WHERE id > 0 AND at < $1" // all of them are few

	s.ledger = "SELECT data FROM memory_ledger WHERE path = $1"
	s.ledgerHold = s.ledger + "{lock}"
	s.begin = "INSERT INTO memory_ledger (path, at, data) VALUES ($2, {now}, $3) ON CONFLICT DO NOTHING"
	s.mark = "UPDATE memory_ledger SET at = {now}, data = $3 WHERE path = $2"
	s.forget = "DELETE FROM memory_ledger WHERE path IN (SELECT t.path FROM memory_ledger t WHERE t.at < {now} - $2 ORDER BY t.at LIMIT 20{skip})"

	s.cursor = "SELECT data FROM poll_cursor WHERE repo = $1"
	s.saveCursor = `INSERT INTO poll_cursor (repo, at, data) VALUES ($2, {now}, $3)
ON CONFLICT (repo) DO UPDATE SET at = excluded.at, data = excluded.data`
	s.seize = `INSERT INTO leader (name, owner, until) VALUES ($2, $3, {now} + $4)
ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, until = excluded.until
WHERE leader.owner = excluded.owner OR leader.until <= {now}`
	s.abdicate = "DELETE FROM leader WHERE name = $1 AND owner = $2"
}

// all are the statements that are written for a dialect.
func (s *statements) all() []*string {
	return []*string{
		&s.insert, &s.body, &s.byID, &s.byDedup, &s.byAlso, &s.also, &s.join, &s.joinBody, &s.hourly,
		&s.exclusive, &s.follow, &s.wait, &s.next, &s.ahead, &s.letGo, &s.tellAhead, &s.rearm, &s.claim, &s.offer, &s.take, &s.claimedBody, &s.probe, &s.heartbeat, &s.giveBack, &s.giveUp, &s.find, &s.hold, &s.fail, &s.promote, &s.overdue, &s.complete,
		&s.result, &s.log, &s.trim, &s.lease, &s.renew, &s.finish, &s.release, &s.report, &s.requeueClaimed,
		&s.requeueDraining, &s.grace, &s.exhaustPending, &s.exhaustClaimed, &s.exhaustCompleted, &s.exhaustDraining,
		&s.retry, &s.unreport, &s.decided, &s.purge, &s.counts, &s.oldest, &s.agents, &s.backlog, &s.backlogClaimed, &s.backlogIDs, &s.info, &s.inspect,
		&s.texts, &s.entries, &s.record, &s.recordHold, &s.update, &s.create, &s.replace, &s.ledger, &s.ledgerHold, &s.begin,
		&s.mark, &s.forget, &s.due, &s.aside, &s.trimAside, &s.purgeAside, &s.cursor, &s.saveCursor, &s.seize, &s.abdicate,
		&s.slotTimes, &s.takeSlot, &s.shiftSlots, &s.forgetSlots,
	}
}

// Statements returns every statement by its name, for tests that look at how a database
// carries them out.
func Statements(d Dialect) map[string]string {
	s := statementsOf(d)
	v := reflect.ValueOf(s)
	out := map[string]string{}
	for field, value := range v.Fields() {
		if value.Kind() == reflect.String && value.String() != "" {
			out[field.Name] = value.String()
		}
	}
	for i, text := range s.purgeTexts {
		out["purgeTexts"+strconv.Itoa(i)] = text
	}
	where, _ := conditions(queue.Filter{})
	out["list"] = s.info + "WHERE " + strings.Join(where, " AND ") + " ORDER BY seq DESC LIMIT 100"
	out["info"] += "WHERE seq = $2"
	return out
}
