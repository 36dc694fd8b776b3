package sqlstore

import (
	"strconv"
	"strings"
)

// A Dialect contains the differences between databases in the text of statements.
type Dialect struct {
	// Now is an expression for the time in milliseconds since 1970. It may use the parameter $1,
	// which is Tx.Now.
	Now string
	// Schema is a query that returns a row if the table foreman_schema exists.
	Schema string
	// Skip is the end of a SELECT of tasks "t" that the same statement changes. It locks the rows
	// and skips rows that are locked already. Empty: only one transaction writes at a time.
	Skip string
	// Lock is the end of a SELECT of a row that the same transaction changes. It locks the row.
	// Empty: only one transaction writes at a time.
	Lock string
	// Exclusive is a statement that locks the text $1 until the transaction ends; see [Exclude].
	// Empty: only one transaction writes at a time.
	Exclusive string
	// List is an expression in parentheses that follows IN. It stands for the numbers in the JSON
	// array %s.
	List string
	// Identity, Blob, Text and Int are types of columns: a number that grows with each
	// row and is the primary key; bytes; text that is compared byte for byte; 64 bits.
	Identity, Blob, Text, Int string
	// ReadFirst is true if writes are serialized. Then a statement that usually changes no row is
	// preceded by a read, which is faster: the statement runs only if there is a row.
	ReadFirst bool
	// Count are statements that fill the table task_count and create the triggers that update it.
	// The table contains the number of tasks in each stored state, or only of those that ended. A
	// semicolon at the end of a line ends a statement.
	Count string
	// CountsOpen is true if task_count also counts the tasks that have not ended, by agent.
	CountsOpen bool
	// FoldCounts is a statement that adds up the rows of task_count that no connection changes
	// any more; empty: task_count has no such rows.
	FoldCounts string
	// Batches is true if a statement can take a list of calls and change several tables
	// (WITH … INSERT). Calls at the same time are then joined into one statement. The engine must
	// be a batch.Writer and accept slices as parameters.
	Batches bool
}

// SQLite returns the dialect of SQLite.
func SQLite() Dialect {
	return Dialect{
		Now:      "$1",
		Schema:   "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'foreman_schema'",
		List:     "(SELECT value FROM json_each(%s))",
		Identity: "INTEGER PRIMARY KEY AUTOINCREMENT", Blob: "BLOB", Text: "TEXT", Int: "INTEGER",
		ReadFirst: true,
		Count: `INSERT INTO task_count (state, agent, shard, n) SELECT state, agent, 0, count(*) FROM task GROUP BY state, agent;
CREATE TRIGGER task_count_insert AFTER INSERT ON task BEGIN INSERT INTO task_count (state, agent, shard, n) VALUES (NEW.state, NEW.agent, 0, 1) ON CONFLICT (state, agent, shard) DO UPDATE SET n = n + 1; END;
CREATE TRIGGER task_count_update AFTER UPDATE OF state ON task WHEN OLD.state <> NEW.state BEGIN UPDATE task_count SET n = n - 1 WHERE state = OLD.state AND agent = OLD.agent AND shard = 0; INSERT INTO task_count (state, agent, shard, n) VALUES (NEW.state, NEW.agent, 0, 1) ON CONFLICT (state, agent, shard) DO UPDATE SET n = n + 1; END;
CREATE TRIGGER task_count_delete AFTER DELETE ON task BEGIN UPDATE task_count SET n = n - 1 WHERE state = OLD.state AND agent = OLD.agent AND shard = 0; END;
`,
		CountsOpen: true,
	}
}

// PostgreSQL returns the dialect of PostgreSQL.
func PostgreSQL() Dialect {
	return Dialect{
		Now:       "coalesce($1::bigint, (extract(epoch from statement_timestamp()) * 1000)::bigint)",
		Schema:    "SELECT 1 WHERE to_regclass('foreman_schema') IS NOT NULL",
		Skip:      " FOR UPDATE OF t SKIP LOCKED",
		Lock:      " FOR UPDATE",
		Exclusive: "SELECT pg_advisory_xact_lock(hashtextextended(current_schema() || ' ' || $1, 0))",
		List:      "(SELECT value::bigint FROM json_array_elements_text(%s::json))",
		Identity:  "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY", Blob: "BYTEA", Text: `TEXT COLLATE "C"`, Int: "BIGINT",
		Batches: true,
		// Only tasks that ended are counted by triggers, because the triggers slow down every
		// change. Each connection has its own rows, so that transactions do not wait for each
		// other.
		Count: `INSERT INTO task_count (state, agent, shard, n) SELECT state, '', 0, count(*) FROM task WHERE ended_at IS NOT NULL GROUP BY state;
CREATE FUNCTION task_count_change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF TG_OP <> 'INSERT' AND OLD.state IN (4, 5) THEN INSERT INTO task_count AS c (state, agent, shard, n) VALUES (OLD.state, '', pg_backend_pid(), -1) ON CONFLICT (state, agent, shard) DO UPDATE SET n = c.n - 1; END IF; IF TG_OP <> 'DELETE' AND NEW.state IN (4, 5) THEN INSERT INTO task_count AS c (state, agent, shard, n) VALUES (NEW.state, '', pg_backend_pid(), 1) ON CONFLICT (state, agent, shard) DO UPDATE SET n = c.n + 1; END IF; RETURN NULL; END $$;
CREATE TRIGGER task_count_insert AFTER INSERT ON task FOR EACH ROW WHEN (NEW.state IN (4, 5)) EXECUTE FUNCTION task_count_change();
CREATE TRIGGER task_count_update AFTER UPDATE OF state ON task FOR EACH ROW WHEN (OLD.state <> NEW.state AND (OLD.state IN (4, 5) OR NEW.state IN (4, 5))) EXECUTE FUNCTION task_count_change();
CREATE TRIGGER task_count_delete AFTER DELETE ON task FOR EACH ROW WHEN (OLD.state IN (4, 5)) EXECUTE FUNCTION task_count_change();
`,
		FoldCounts: `WITH gone AS (DELETE FROM task_count t WHERE t.shard <> 0 AND NOT EXISTS (SELECT 1 FROM pg_stat_activity a WHERE a.pid = t.shard) RETURNING t.state, t.n)
INSERT INTO task_count AS c (state, agent, shard, n) SELECT state, '', 0, sum(n)::bigint FROM gone GROUP BY state ORDER BY state ON CONFLICT (state, agent, shard) DO UPDATE SET n = c.n + excluded.n`,
	}
}

// Expand adapts a statement to the dialect: it replaces {now}, {skip}, {lock}, {identity},
// {blob}, {text}, {int} and {count}. In a statement with {now} the parameter $1 is the time and
// must have no other use.
func (d Dialect) Expand(query string) string {
	return strings.NewReplacer("{now}", d.Now, "{skip}", d.Skip, "{lock}", d.Lock,
		"{identity}", d.Identity, "{blob}", d.Blob, "{text}", d.Text, "{int}", d.Int, "{count}", d.Count,
	).Replace(query)
}

// ConcurrentWrites reports whether writing transactions run concurrently, so that one may wait
// for the locks of another. Two rules avoid deadlocks. A statement that changes several tasks
// either skips locked tasks (Unlocked, UnlockedLimit) or locks them in the order of their numbers
// (InOrder). No transaction waits for a second task while it has locked a first one.
func (d Dialect) ConcurrentWrites() bool { return d.Skip != "" }

// Unlocked returns a condition for the tasks that satisfy condition and are not locked.
func (d Dialect) Unlocked(condition string) string {
	if !d.ConcurrentWrites() {
		return condition
	}
	return "seq = ANY (ARRAY(SELECT t.seq FROM task t WHERE " + condition + "{skip}))"
}

// UnlockedLimit is Unlocked for at most limit tasks.
func (d Dialect) UnlockedLimit(condition string, limit int) string {
	few := "SELECT t.seq FROM task t WHERE " + condition + " LIMIT " + strconv.Itoa(limit) + "{skip}"
	if !d.ConcurrentWrites() {
		return "seq IN (" + few + ")"
	}
	return "seq = ANY (ARRAY(" + few + "))"
}

// InOrder returns a condition for all tasks that satisfy condition. The statement waits for
// locked tasks.
func (d Dialect) InOrder(condition string) string {
	if !d.ConcurrentWrites() {
		return condition
	}
	return "seq = ANY (ARRAY(SELECT t.seq FROM task t WHERE " + condition + " ORDER BY t.seq{lock}))"
}

// In returns the List of a parameter.
func (d Dialect) In(param string) string { return strings.Replace(d.List, "%s", param, 1) }
