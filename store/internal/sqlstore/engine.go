// Package sqlstore is what stores in SQL databases have in common, whatever the engine is:
// what an [Engine] does, how its [Dialect] differs from others, and the tables. It keeps
// records, ledgers, cursors and slots, each by a type of its own that holds the statements
// it needs. Package sqlqueue keeps the tasks. Packages sqlite and postgres put an engine
// beneath them.
package sqlstore

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
	// Write runs f in a transaction. When it returns nil, what f did is durable.
	// Transactions may be run together, and again when another one got in their way.
	Write(ctx context.Context, f func(Tx) error) error
	// Single is Write for an f that runs one statement, so that an engine may leave out
	// the transaction.
	Single(ctx context.Context, f func(Tx) error) error
	// Together is Write for an f that does the same for many: it gets the requests of callers
	// that wait at the same time, at least the one that this call brings. All callers pass
	// the same f.
	Together(ctx context.Context, f func(Tx, []*ClaimRequest) error, w *ClaimRequest) error
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

// A ClaimRequest is a claim that waits for its task.
type ClaimRequest struct {
	Agent, By string // whose task is wanted, and by whom
	Lease     int64  // how long the claim is to last, in milliseconds

	// What became of it.
	Claim    queue.Claim
	Found    bool     // there was a task
	Promoted []string // the agents that have tasks whose time came; empty text: decisions
}
