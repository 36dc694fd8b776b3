// Package memory keeps the history of our actions on an issue: one [Record] per issue, the
// [Store] that contains it, and the [Summary] that an agent gets. A [Journal] keeps the work in
// progress: one [Ledger] per task, with the decision and the state of its actions. Package
// memory/file keeps both in a folder.
//
// A record contains structured facts. Code renders the text that agents see from them: no text
// of an issue, and no rationale, gets into it. Memory grants no permission: a caller that
// cannot load it continues without it. A journal lists the actions that need no repetition; it
// permits none.
package memory

import (
	"context"
	"errors"
)

// Errors that callers branch on; test with errors.Is.
var (
	// ErrNotFound means that there is no record of the issue, or no ledger of the task.
	ErrNotFound = errors.New("the memory has no record of the issue")
	// ErrConflict means that another run saved the record meanwhile. Nothing was saved: load
	// again, repeat the change, save. For a ledger it means that the task already has one.
	ErrConflict = errors.New("the record was changed meanwhile")
	// ErrBroken means that the stored object is not a record of this issue, or not a ledger of this
	// task: truncated, not JSON, too large, out of its bounds, or of another one. The next Save
	// with revision 0, or Begin, replaces it and, where the store can, keeps the old object under
	// another name.
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
	// Save stores the record of r.Repo and r.Issue if the stored one still has the revision
	// r.Revision, 0 meaning that there is none (or only a broken one), and returns
	// [ErrConflict] otherwise. The stored record has the revision r.Revision+1 and the schema
	// [Schema]; r itself does not change, so a caller that continues with it adds 1 to its
	// revision. When Save returns nil the record is durable, as far as the medium goes. After
	// any other error but ErrConflict the old record or the new one is stored, never a mixture.
	Save(ctx context.Context, r Record) error
}
