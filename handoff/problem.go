package handoff

import (
	"fmt"
	"strings"
)

// The codes of a [Problem] in a result.
const (
	CodeInvalidJSON = "invalid_json"                // not one JSON value in UTF-8
	CodeType        = "type_error"                  // a value of the wrong type
	CodeRequired    = "required"                    // absent, blank, empty, or not of the type that must be there
	CodeEnum        = "invalid_enum"                // not one of the known values
	CodeInvalid     = "invalid"                     // contradicts another value
	CodeTooLong     = "too_long"                    // longer than [MaxSummary]
	CodeNoIssues    = "empty_for_changes_requested" // changes requested without an issue
)

// Root is the path of a problem with the result as a whole.
const Root = "<root>"

// A Problem is one thing wrong with a result, as tools report it to agents.
type Problem struct {
	Path    string `json:"path"` // such as "work.issues[0].paths[1]", or [Root]
	Code    string `json:"code"` // one of the Code constants
	Message string `json:"message"`
}

// MaxProblems bounds the problems of one result; those behind are left out.
const MaxProblems = 1000

// maxShown bounds the problems in the text of an error.
const maxShown = 10

// A ValidationError lists the problems of a result, in the order of the contract.
type ValidationError struct {
	Role     Role
	Problems []Problem // never empty
}

// Error joins the messages of the first ten problems with "; ".
func (e *ValidationError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "parse %s: ", e.Role.ResultName())
	for i, p := range e.Problems {
		if i > 0 {
			b.WriteString("; ")
		}
		if i == maxShown {
			fmt.Fprintf(&b, "and %d more", len(e.Problems)-maxShown)
			break
		}
		b.WriteString(p.Message)
	}
	return b.String()
}
