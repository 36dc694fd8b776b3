package memory

import (
	"cmp"
	"context"
	"slices"
	"time"
)

// An Agenda is a [Store] that lists its records with a closing to come. Do not keep a
// closing in a store that cannot list it: no run would find it. Implementations pass the
// suite memorytest.RunAgenda.
type Agenda interface {
	Store
	// Pending returns the issues of a repository whose records hold a closing, each
	// once, the one that is due first before the others. It is a hint: only the record
	// is certain. complete is false when some records could not be read.
	// It changes nothing. Errors: the context's, or one of the medium.
	Pending(ctx context.Context, repo string) (list []Due, complete bool, err error)
}

// A Due is an issue and the time from which its first closing may be carried out.
type Due struct {
	Issue int
	At    time.Time // UTC
}

// SortDue puts a list in the order in which [Agenda] returns it.
func SortDue(list []Due) {
	slices.SortFunc(list, func(a, b Due) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Issue, b.Issue)) })
}
