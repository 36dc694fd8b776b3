package sqlstore

import (
	"strconv"
	"strings"
)

// A Dialect contains the differences between databases in the text of statements.
type Dialect struct {
	// Now is an expression for the time in milliseconds since 1970; it may use the
	// parameter $1, which is Tx.Now.
	Now string
	// Skip ends a SELECT of a task "t" that is changed by the same statement: the row is
	// locked, and rows that are locked already are skipped. Empty where only one
	// transaction writes at a time.
	Skip string
	// Lock ends a SELECT of a row that is changed by the same transaction; empty as above.
	Lock string
	// Exclusive is a statement that takes a lock on $1, a text, until the transaction ends;
	// empty as above. See [Exclude].
	Exclusive string
	// List is an expression, in parentheses, for the numbers in the JSON array %s, to
	// stand behind IN.
	List string
	// Identity, Blob, Text and Int are types of columns: a number that grows with each
	// row and is the primary key; bytes; text that is compared byte for byte; 64 bits.
	Identity, Blob, Text, Int string
	// ReadFirst is true if reading before a write that mostly changes no row is faster, because
	// writes are serialized.
	ReadFirst bool
	// ModifyingCTE is true if one statement can change several tables (WITH … INSERT), and that is
	// faster than several statements.
	ModifyingCTE bool
}

// SQLite returns the dialect of SQLite.
func SQLite() Dialect {
	return Dialect{
		Now:      "$1",
		List:     "(SELECT value FROM json_each(%s))",
		Identity: "INTEGER PRIMARY KEY AUTOINCREMENT", Blob: "BLOB", Text: "TEXT", Int: "INTEGER",
		ReadFirst: true,
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
		ModifyingCTE: true,
	}
}

// Expand writes a statement for the dialect: it puts its own words in the place of {now},
// {skip}, {lock}, {identity}, {blob}, {text} and {int}. The parameter $1 of a statement is
// the time wherever {now} stands in it, and there alone.
func (d Dialect) Expand(query string) string {
	return strings.NewReplacer("{now}", d.Now, "{skip}", d.Skip, "{lock}", d.Lock,
		"{identity}", d.Identity, "{blob}", d.Blob, "{text}", d.Text, "{int}", d.Int,
	).Replace(query)
}

// ConcurrentWrites reports whether transactions that write run concurrently, so that one may
// wait for the locks of another. To avoid deadlocks, a statement that changes several tasks
// either skips locked ones (Unlocked, UnlockedLimit) or locks them in the order of their
// numbers (InOrder), and no transaction waits for a second task while it has locked a first
// one.
func (d Dialect) ConcurrentWrites() bool { return d.Skip != "" }

// Unlocked returns a condition for the tasks that satisfy another one and are not locked.
func (d Dialect) Unlocked(condition string) string {
	if !d.ConcurrentWrites() {
		return condition
	}
	return "seq = ANY (ARRAY(SELECT t.seq FROM task t WHERE " + condition + "{skip}))"
}

// UnlockedLimit is Unlocked for a limited number of tasks.
func (d Dialect) UnlockedLimit(condition string, limit int) string {
	few := "SELECT t.seq FROM task t WHERE " + condition + " LIMIT " + strconv.Itoa(limit) + "{skip}"
	if !d.ConcurrentWrites() {
		return "seq IN (" + few + ")"
	}
	return "seq = ANY (ARRAY(" + few + "))"
}

// InOrder returns a condition for all tasks that satisfy another one; it waits for locked
// ones.
func (d Dialect) InOrder(condition string) string {
	if !d.ConcurrentWrites() {
		return condition
	}
	return "seq = ANY (ARRAY(SELECT t.seq FROM task t WHERE " + condition + " ORDER BY t.seq{lock}))"
}

// In returns the List of a parameter.
func (d Dialect) In(param string) string { return strings.Replace(d.List, "%s", param, 1) }
