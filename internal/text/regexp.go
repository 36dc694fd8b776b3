package text

import (
	"regexp"
	"sync"
)

// Regexp returns a function that returns a regular expression, which is compiled by the first call.
// A program that does not need the expression does not pay for it when it starts. A wrong expression
// panics at the first call. The function is safe for concurrent use. It is not inlined, because each
// copy would add 1.4 kB to the program.
//
//go:noinline
func Regexp(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
