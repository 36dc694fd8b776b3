// Package memory keeps the history of our actions on an issue: one [Record] per issue,
// the [Store] that it lives in, and the [Summary] that an agent gets. A [Journal]
// keeps the work in progress: one [Ledger] per task, with the decision and how far its
// actions got. Package memory/file keeps both in a folder.
//
// A record holds structured facts. The text that agents see is rendered from them
// by code: nothing that was written in an issue, and no rationale, gets into it.
// Memory is a help and never an authority: a caller that cannot load it goes on
// without it. A journal says what need not be done again, and never what may be done.
package memory

import (
	"context"
	"errors"
)

// Errors that callers branch on; test with errors.Is.
var (
	// ErrNotFound means that there is no record of the issue, or no ledger of the task.
	ErrNotFound = errors.New("nothing is remembered of the issue")
	// ErrConflict means that somebody else saved the record meanwhile. What was to be
	// saved is not saved: load again, put the change on top, save. Of a ledger it says
	// that the task has one already.
	ErrConflict = errors.New("the record was changed meanwhile")
	// ErrBroken means that something is stored which is no record of this issue, or no
	// ledger of this task: truncated, not JSON, too large, out of its bounds, or of
	// another one. The next Save with revision 0, or Begin, takes its place and keeps
	// what was there aside, where the store can.
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
	// Save stores the record of r.Repo and r.Issue if the stored one still has the
	// revision r.Revision, 0 meaning that there is none (or only a broken one), and
	// returns [ErrConflict] otherwise. The store increments: what is stored has the
	// revision r.Revision+1 and the schema [Schema]; r itself does not change, so a
	// caller that goes on with it adds 1 to its revision. When Save returns nil the
	// record is durable, as far as the medium goes. After any other error but
	// ErrConflict the old record or the new one is stored, never a mixture.
	Save(ctx context.Context, r Record) error
}
