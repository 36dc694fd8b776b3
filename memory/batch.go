package memory

import "context"

// A Batch is a [Store] without compare-and-swap, in which a save is made sure of afterwards. A
// run that saves many records makes sure of all of them together, in the end.
type Batch interface {
	Store
	// Defer lets Save return before it is sure that no other run has saved the same record
	// meanwhile, until Settle is called.
	Defer()
	// Settle commits the saves since Defer. It returns the issues whose record another run has
	// saved meanwhile: their saves are reverted and have to be repeated. After an error some
	// records are not stored, or will not be found.
	Settle(ctx context.Context) (lost []int, err error)
}
