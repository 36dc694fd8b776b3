package memory

import "context"

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
