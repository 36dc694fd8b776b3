package contract

import "fmt"

// A Problem is the error of a command that failed without a document of its own. It is printed as
// an [Error].
type Problem struct {
	Code Code
	Err  error // must not be nil
	// Next is the recommended next step; empty: the message describes it.
	Next Next
}

// Error returns the message.
func (p *Problem) Error() string { return p.Err.Error() }

// Unwrap returns the cause.
func (p *Problem) Unwrap() error { return p.Err }

// Fail returns a Problem with a formatted text, like fmt.Errorf.
func Fail(code Code, format string, args ...any) *Problem {
	return &Problem{Code: code, Err: fmt.Errorf(format, args...)}
}

// With sets the recommended next step of a problem.
func (p *Problem) With(next Next) *Problem {
	p.Next = next
	return p
}
