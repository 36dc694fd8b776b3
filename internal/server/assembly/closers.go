package assembly

import (
	"errors"
	"slices"
)

// closers are the functions that close opened resources.
type closers []func() error

func (c *closers) add(f func() error) { *c = append(*c, f) }

// close calls all closers, the last one first.
func (c closers) close() error {
	var errs []error
	for _, f := range slices.Backward(c) {
		errs = append(errs, f())
	}
	return errors.Join(errs...)
}
