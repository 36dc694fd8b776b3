package schedule

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/order"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/triage"
)

// A Window is the part of a search's issues that a run examines, in that order.
type Window struct {
	Search
	Issues []triage.Issue
	Total  int // number of issues that match the query
}

// Sorted reports whether the query has its own sort. Such a search has no cursor.
func (s Search) Sorted() bool { return text.Sorts(s.Query) }

// After returns the query for the issues that were created on the day of a cursor or later. A query
// that has its own "created:" stays as it is, because GitHub documents no search with two.
func (s Search) After(c memory.Cursor) string {
	if strings.Contains(strings.ToLower(s.Query), "created:") {
		return s.Query
	}
	return s.Query + " created:>=" + c.Created.UTC().Format(time.DateOnly)
}

// older compares two issues by creation.
func older(a, b triage.Issue) int {
	return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.Number, b.Number))
}

// Later returns the issues after a cursor, oldest first.
func Later(list []triage.Issue, c memory.Cursor) []triage.Issue {
	at := triage.Issue{Number: c.Issue, CreatedAt: c.Created}
	later := slices.DeleteFunc(slices.Clone(list), func(i triage.Issue) bool { return older(i, at) <= 0 })
	order.Stable(later, older)
	return later
}

// Continue moves the window to the issues after a cursor. later has the issues that a search found
// there. If end is true, these are all, and the window continues with its own oldest issues.
func (w *Window) Continue(c memory.Cursor, later []triage.Issue, end bool) {
	first := slices.Clone(w.Issues)
	w.Issues = Later(later, c)
	if !end {
		return
	}
	passed := Later(first, c)
	order.Stable(first, older)
	for _, i := range first {
		if !slices.ContainsFunc(passed, func(p triage.Issue) bool { return p.Number == i.Number }) {
			w.Issues = append(w.Issues, i)
		}
	}
}

// Examined returns the cursor after a run, and how many issues of the window were examined: those
// before the first one that waits.
func (w Window) Examined(waiting map[int]bool) (c memory.Cursor, n int) {
	n = slices.IndexFunc(w.Issues, func(i triage.Issue) bool { return waiting[i.Number] })
	if n < 0 {
		n = len(w.Issues)
	}
	if n > 0 {
		last := w.Issues[n-1]
		c = memory.Cursor{Scan: w.Query, Issue: last.Number, Created: last.CreatedAt}
	}
	return c, n
}

// count returns how many issues of the window were examined.
func (w Window) count(waiting map[int]bool) (n int) {
	for _, i := range w.Issues {
		if !waiting[i.Number] {
			n++
		}
	}
	return n
}

// Candidates returns the issues of the windows without duplicates.
func Candidates(windows []Window) []Candidate {
	var list []Candidate
	for _, w := range windows {
		list = Merge(list, w.Search, w.Issues)
	}
	return list
}

// Share shortens the windows so that they contain at most that many issues together. The windows
// take an issue in turn. An issue that another window has taken does not count again. Share returns
// the candidates of the windows.
func Share(windows []Window, most int) []Candidate {
	taken := map[int]bool{}
	lengths := make([]int, len(windows))
	for more := true; more; {
		more = false
		for i, w := range windows {
			if lengths[i] == len(w.Issues) {
				continue
			}
			n := w.Issues[lengths[i]].Number
			if !taken[n] && len(taken) == most {
				continue
			}
			taken[n], more = true, true
			lengths[i]++
		}
	}
	for i := range windows {
		windows[i].Issues = windows[i].Issues[:lengths[i]]
	}
	return Candidates(windows)
}

// Numbers returns the numbers of the candidates.
func Numbers(list []Candidate) map[int]bool {
	numbers := map[int]bool{}
	for _, c := range list {
		numbers[c.Issue.Number] = true
	}
	return numbers
}
