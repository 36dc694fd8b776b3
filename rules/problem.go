package rules

import "github.com/org/foreman-action/rules/problem"

type (
	// A Problem is a mistake in a file, or a warning, with its place.
	Problem = problem.Problem
	// Problems are the errors of [Parse], [Compile] and [CompileCondition]. As an error they can be
	// found with errors.As.
	Problems = problem.List
)
