// Package sqlstore is the part of the SQL stores that does not depend on the database.
//
// The statements depend on the database in two values: an [Engine], an interface of a few
// methods that runs transactions, and a [Dialect], the expressions and types that differ in
// the text of statements. A few verbs of package sqlqueue branch on a field of the Dialect,
// where one database is faster with another statement.
//
// A new database is a package beside sqlite and postgres with one of each, and with the other
// methods of database.Store: the election of a leader, a check of its health, and Close.
// It passes the suites of packages queuetest/conformance and memorytest. Its locations are
// recognized in config/serverconfig (the scheme of queue.url) and internal/server/database,
// and checked in internal/cli/foremand/deployment.
//
// The package has the tables (schema) and one type for each kind of data: [Records],
// [Ledgers], [Cursors], [Leaders] and [Slots], each in a file with its statements. Package
// sqlqueue has the tasks.
package sqlstore

import (
	"context"

	"github.com/org/foreman-action/queue"
)

// An Engine runs transactions on one database. It is safe for concurrent use.
//
// A function that is passed to an engine may run more than once, in any goroutine, but
// never concurrently with itself: each run sets its results anew. It must not call the
// engine. When it returns an error, its changes are rolled back.
type Engine interface {
	// Write runs f in a transaction. When it returns nil, the changes are durable.
	// Several calls may share a transaction, and one may be run again after a conflict.
	Write(ctx context.Context, f func(Tx) error) error
	// WriteOne is Write for an f that runs one statement, so that an engine may leave out
	// the transaction.
	WriteOne(ctx context.Context, f func(Tx) error) error
	// WriteBatch is Write for an f that answers the requests of several callers at once: those
	// that wait at the same time, and at least that of this call. All callers pass the same
	// f.
	WriteBatch(ctx context.Context, f func(Tx, []*ClaimRequest) error, w *ClaimRequest) error
	// Read runs f, which only reads, on one snapshot that contains all earlier commits.
	Read(ctx context.Context, f func(Tx) error) error
	// ReadOne is Read for an f that runs one statement, so that an engine may leave out the
	// transaction.
	ReadOne(ctx context.Context, f func(Tx) error) error
	// Announce notifies other processes, if the engine can, that tasks may have become
	// ready. It does not wait.
	Announce(c queue.Change)
}

// A Statement is a statement with its parameters and the function for its rows: see Tx.Query.
type Statement struct {
	Query string
	Args  []any
	Each  func(Row) error
}

// A Tx runs statements. Parameters are written $1, $2, …; they are int64, string,
// []byte or nil, and so are the columns of a row. With Dialect.Batches parameters may also be
// slices of int64, string and []byte; a nil []byte is NULL.
type Tx interface {
	// Exec runs a statement that returns no rows, and returns how many it changed.
	Exec(query string, args ...any) (int64, error)
	// Query runs a statement and calls each for every row that it returns, in order.
	Query(query string, each func(Row) error, args ...any) error
	// Now is the value of the parameter for the time: milliseconds since 1970, or nil
	// where the database has a clock of its own.
	Now() any
}

// A Row is one row of a result. It is valid until the function that gets it returns.
type Row interface {
	// Scan reads the columns into *int64, *int, *string and *[]byte, one for each. NULL
	// is the zero value; a []byte is a copy.
	Scan(dest ...any) error
}

// A ClaimRequest is a call of ClaimNext, with its result.
type ClaimRequest struct {
	Agent, By string // the agent of the task, and the claimant
	Lease     int64  // duration of the claim in milliseconds

	// The result.
	Claim    queue.Claim
	Found    bool     // there was a task
	Renewed  bool     // its texts are older than it: another task was joined to it meanwhile
	Promoted []string // the agents whose held back tasks became ready; empty text: decisions
}
