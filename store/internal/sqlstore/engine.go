// Package sqlstore is the part of the SQL stores that does not depend on the database.
//
// Two values contain the differences between databases. An [Engine] runs transactions. A
// [Dialect] contains the expressions and types that differ in the text of statements. A few
// operations of package sqlqueue branch on a field of the Dialect, where one database is faster
// with another statement.
//
// A new database is a package beside sqlite and postgres with an Engine, a Dialect, and the other
// methods of database.Store: leader election, a health check, and Close. It passes the suites of
// packages queuetest and memorytest. internal/config/serverconfig (the scheme of queue.url)
// and internal/server/database recognize its locations, and internal/cli/foremand/deployment
// checks them.
//
// The package has the tables (schema) and one type for each kind of data: [Records], [Ledgers],
// [Cursors], [Leaders] and [Slots], each in a file with its statements. Package sqlqueue has the
// tasks.
package sqlstore

import (
	"context"

	"github.com/org/foreman-action/queue"
)

// An Engine runs transactions on one database. It is safe for concurrent use.
//
// A function that is passed to an engine may run more than once and in any goroutine, but never
// concurrently with itself. Each run must therefore set its results anew. The function must not
// call the engine. When it returns an error, its changes are rolled back.
type Engine interface {
	// Write runs f in a transaction. When it returns nil, the changes are durable. Several calls
	// may share a transaction, and f may run again after a conflict.
	Write(ctx context.Context, f func(Tx) error) error
	// WriteOne is Write for an f that runs one statement, so that an engine may leave out
	// the transaction.
	WriteOne(ctx context.Context, f func(Tx) error) error
	// WriteBatch is Write for an f that serves the requests of several callers at once. f gets
	// the requests that wait at the same time, w included. All callers pass the same f.
	WriteBatch(ctx context.Context, f func(Tx, []*ClaimRequest) error, w *ClaimRequest) error
	// Read runs f, which only reads, on one snapshot that contains all earlier commits.
	Read(ctx context.Context, f func(Tx) error) error
	// ReadOne is Read for an f that runs one statement, so that an engine may leave out the
	// transaction.
	ReadOne(ctx context.Context, f func(Tx) error) error
	// Announce reports to other processes that tasks may have become ready, if the engine can. It
	// does not wait.
	Announce(c queue.Change)
}

// A Statement is a statement with its parameters, and the function for its rows as in Tx.Query.
type Statement struct {
	Query string
	Args  []any
	Each  func(Row) error
}

// A Tx runs statements. Parameters are written $1, $2, …. Parameters and columns are int64,
// string, []byte or nil. With Dialect.Batches parameters may also be slices of int64, string and
// []byte; a nil []byte in a slice is NULL.
type Tx interface {
	// Exec runs a statement that returns no rows, and returns how many it changed.
	Exec(query string, args ...any) (int64, error)
	// Query runs a statement and calls each for every row that it returns, in order.
	Query(query string, each func(Row) error, args ...any) error
	// Now returns the parameter for the time: milliseconds since 1970, or nil where the database
	// uses its own clock.
	Now() any
}

// A Row is one row of a result. It is valid until the function that gets it returns.
type Row interface {
	// Scan reads the columns into *int64, *int, *string and *[]byte, one for each. NULL becomes
	// the zero value. A []byte is a copy.
	Scan(dest ...any) error
}

// A ClaimRequest is a call of ClaimNext, with its result.
type ClaimRequest struct {
	Agent, By string // the agent of the task, and the claimant
	Lease     int64  // duration of the claim in milliseconds
	Task      string // id of the only task that may be claimed; empty: any task

	// The result.
	Claim    queue.Claim
	Found    bool     // there was a task
	Renewed  bool     // another task was joined to it meanwhile, so its texts are outdated
	Promoted []string // agents with tasks that became due; empty text: decisions
}
