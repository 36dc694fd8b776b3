// Package memory keeps the history of our actions on an issue: one [Record] per issue, the
// [Store] that contains it, and the [Summary] that an agent gets. A [Journal] keeps the work in
// progress: one [Ledger] per task, with the decision and the state of its actions. Package
// memory/file keeps both in a folder.
//
// A record contains structured facts, and code renders the summary from them. The summary
// contains no text of an issue and no rationale. Memory grants no permission: a caller that
// cannot load it continues without it. A record also contains the actions that are proposed to people;
// a caller carries one out only when a person with the permission accepts it. A journal lists the actions that need not be repeated; it
// permits none.
//
// A new store has the methods of [Store], and those of [Journal] and [Agenda] if it can have them. It
// passes the suites of package memorytest. The file memory.go of internal/cli/event opens it, and
// config/table.go and internal/actions/inputs.go list its name.
package memory

import (
	"context"
	"errors"
)

// Errors that callers branch on; test with errors.Is.
var (
	// ErrNotFound means that there is no record of the issue, or no ledger of the task.
	ErrNotFound = errors.New("not found in the memory")
	// ErrConflict means that another run saved the record meanwhile. Nothing was saved: load
	// again, repeat the change, save. For a ledger it means that the task already has one.
	ErrConflict = errors.New("the record was changed meanwhile")
	// ErrBroken means that the stored object is not a valid record of this issue, or not a valid
	// ledger of this task: truncated, not JSON, too large, out of bounds, or of another issue or
	// task. The next Save with revision 0, or Begin, replaces it and, where the store can, keeps
	// the old object under another name.
	ErrBroken = errors.New("the stored record is unusable")
	// ErrNewer means that a newer version of this program wrote the record, or the
	// ledger. It is neither read nor replaced.
	ErrNewer = errors.New("the stored record is of a newer version")
)

// A Store keeps one [Record] per issue. Implementations are safe for concurrent
// use, by several processes too, and pass the suite of package memorytest.
// Repository names match without regard to case.
type Store interface {
	// Load returns the record of an issue. It changes nothing. Errors: [ErrNotFound],
	// [ErrBroken], [ErrNewer], the context's, or one of the medium.
	Load(ctx context.Context, repo string, issue int) (Record, error)
	// Save stores r if the stored record has the revision r.Revision, and returns [ErrConflict]
	// otherwise. Revision 0 means that no record, or only a broken one, is stored. The stored
	// record gets the revision r.Revision+1 and the schema of [Record.StoredSchema]. r itself does not change, so
	// a caller that continues with it adds 1 to its revision. When Save returns nil, the record
	// is as durable as the medium allows. After an error other than ErrConflict, either the old
	// record or the new one is stored, never a mixture.
	Save(ctx context.Context, r Record) error
}

// A Batch is a [Store] without compare-and-swap: it checks for conflicting saves only after a
// save. A run that saves many records checks all of them together at its end.
type Batch interface {
	Store
	// Defer makes Save return without the check that no other run has saved the same record
	// meanwhile. Settle checks all these saves.
	Defer()
	// Settle commits the saves since Defer. It returns the issues whose record another run has
	// saved meanwhile. The saves of these issues are reverted, and the caller repeats them. After
	// an error some of the saved records are not stored or cannot be found.
	Settle(ctx context.Context) (lost []int, err error)
}
