package memory

import (
	"cmp"
	"context"
	"slices"
	"time"
)

// An Agenda is a [Store] that can be asked which of its records hold a closing to come.
// A store that cannot tell is none, and no closing should be kept in it: nobody would
// find it. Implementations pass the suite memorytest.RunAgenda.
type Agenda interface {
	Store
	// Pending returns the issues of a repository whose records hold a closing, each
	// once, the one that is due first before the others. It is a hint: the record says
	// what is really there. complete is false when some records could not be looked at.
	// It changes nothing. Errors: the context's, or one of the medium.
	Pending(ctx context.Context, repo string) (list []Due, complete bool, err error)
}

// A Due tells when the first closing of an issue may be carried out.
type Due struct {
	Issue int
	At    time.Time // UTC
}

// SortDue puts a list in the order in which [Agenda] returns it.
func SortDue(list []Due) {
	slices.SortFunc(list, func(a, b Due) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Issue, b.Issue)) })
}
