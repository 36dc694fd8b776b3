package yamlfile

import (
	"cmp"
	"strings"

	"github.com/org/foreman-action/internal/order"
	"github.com/org/foreman-action/rules/problem"
)

type (
	// A Problem is one mistake in a file.
	Problem = problem.Problem
	// Problems are the mistakes of one or several files.
	Problems = problem.List
)

// Mistakes returns the problems that are not warnings, sorted.
func Mistakes(ps Problems) Problems { return filter(ps, false) }

// Sort sorts the problems by file, line and column. Problems at the same place keep their order.
func Sort(ps Problems) {
	order.Stable(ps, func(a, b Problem) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}

// filter returns the sorted warnings, or the sorted problems that are not warnings.
func filter(ps Problems, warnings bool) Problems {
	var out Problems
	for _, p := range ps {
		if p.Warning == warnings {
			out = append(out, p)
		}
	}
	Sort(out)
	return out
}
