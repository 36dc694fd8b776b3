// Package sqlqueue keeps tasks, records, ledgers and cursors in a SQL database: one
// body of statements for every engine. Packages sqlite and postgres put an [Engine]
// beneath it.
//
// A task is three rows, of which only the small one is written often: its state, its
// texts, and what was decided. Tasks that wait for a time have states of their own, and
// every statement that is run often reads one partial index from its beginning, so that
// none of them gets slower with the number of tasks.
package sqlqueue

import (
	"context"

	"github.com/org/foreman-action/queue"
)

// An Engine runs statements on one database. It is safe for concurrent use.
//
// A function that is given to an engine may be run more than once, by any goroutine,
// but by one at a time: each run sets what it returns anew. It may not call the engine.
// When it returns an error, nothing of what it did is kept.
type Engine interface {
	// Dialect says how statements are written for the database.
	Dialect() Dialect
	// Write runs f in a transaction. When it returns nil, what f did is durable.
	// Transactions may be run together, and again when another one got in their way.
	Write(ctx context.Context, f func(Tx) error) error
	// Single is Write for an f that runs one statement, so that an engine may leave out
	// the transaction.
	Single(ctx context.Context, f func(Tx) error) error
	// Together is Write for an f that does the same for many: it gets the wishes of callers
	// that wait at the same time, at least the one that this call brings. All callers pass
	// the same f.
	Together(ctx context.Context, f func(Tx, []*Wish) error, w *Wish) error
	// Read runs f, which changes nothing, and sees all that was committed before.
	Read(ctx context.Context, f func(Tx) error) error
	// Look is Read for an f that runs one statement, so that an engine may leave out the
	// transaction.
	Look(ctx context.Context, f func(Tx) error) error
	// Announce tells other processes, as far as the engine can, that tasks may have
	// become ready. It does not wait.
	Announce(c queue.Change)
}

// A Tx runs statements. Parameters are written $1, $2, …; they are int64, string,
// []byte or nil, and so are the columns of a row.
type Tx interface {
	// Exec runs a statement that returns no rows, and returns how many it changed.
	Exec(query string, args ...any) (int64, error)
	// Query runs a statement and calls each for every row that it returns, in order.
	Query(query string, each func(Row) error, args ...any) error
	// Now is the value of the parameter for the time: milliseconds since 1970, or nil
	// where the database has a clock of its own.
	Now() any
}

// A Row is one row that a statement returned. It is valid until the function returns
// that it was given to.
type Row interface {
	// Scan reads the columns into *int64, *int, *string and *[]byte, one for each. NULL
	// is the zero value; a []byte is a copy.
	Scan(dest ...any) error
}

// A Dialect is what differs between databases in the text of statements.
type Dialect struct {
	// Now is an expression for the time in milliseconds since 1970; it may use the
	// parameter $1, which is Tx.Now.
	Now string
	// Skip ends a SELECT of a task "t" that is changed by the same statement: other
	// transactions look past it. Empty where only one transaction writes.
	Skip string
	// Lock ends a SELECT of a row that is changed by the same transaction; empty as above.
	Lock string
	// Exclusive is a statement that keeps other transactions out that run it with the
	// same $1, a text, until this one ends; empty as above.
	Exclusive string
	// List is an expression, in parentheses, for the numbers in the JSON array %s, to
	// stand behind IN.
	List string
	// Identity, Blob, Text and Int are types of columns: a number that grows with each
	// row and is the primary key; bytes; text that is compared byte for byte; 64 bits.
	Identity, Blob, Text, Int string
	// Probe says that ClaimNext reads before it writes when it found nothing the last
	// time, because writes stand in line.
	Probe bool
	// Claim, Insert and Complete take the place of shared statements where one does the work
	// of several; empty: they do not. Claim hands out one task, also one whose time came, and
	// is run alone; where there is none, those who claim at the same time do so together.
	// Insert adds a task with its texts ($15 the message, $16 the origin). Complete keeps
	// the decision ($5) too.
	Claim, Insert, Complete string
}
