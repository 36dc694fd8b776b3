package memory

import (
	"cmp"
	"context"
	"slices"
	"time"
)

// An Agenda is a [Store] that can also list the records on which a scheduled run has work: a scheduled
// close, proposals that wait, or actions to be judged. A store that cannot list them must not keep closings, because no run
// would find them. Implementations pass the suite memorytest.RunAgenda.
type Agenda interface {
	Store
	// Pending lists the issues of a repository whose records have a time of [Record.Due]: each issue
	// once, sorted by that time. The list may be out of date, so the caller
	// loads each record before it acts. complete is false when some records could not be read.
	// Pending changes nothing. Errors: the context's, or one of the medium.
	Pending(ctx context.Context, repo string) (list []Due, complete bool, err error)
	// Acted lists the issues of a repository whose records may have a time of [Record.FirstAfter]: each
	// issue once, sorted by Due.At, which is not after that time. The record of the repository itself is not
	// listed. complete, changes and errors are as in Pending.
	Acted(ctx context.Context, repo string, after time.Time) (list []Due, complete bool, err error)
}

// A Due is an issue and the time from which a scheduled run has work on it; see [Record.Due] and
// [Agenda].
type Due struct {
	Issue int
	At    time.Time // UTC
}

// SortDue sorts a list by time and then by issue, the order in which [Agenda] returns it.
func SortDue(list []Due) { slices.SortFunc(list, CompareDue) }

// CompareDue compares two elements of such a list, as [slices.SortFunc] needs it.
func CompareDue(a, b Due) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Issue, b.Issue)) }
