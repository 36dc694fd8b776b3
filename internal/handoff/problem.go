package handoff

import (
	"fmt"
	"strings"
)

// The codes of a [Problem] in a result.
const (
	CodeInvalidJSON = "invalid_json"                // not one JSON value in UTF-8
	CodeType        = "type_error"                  // a value of the wrong type
	CodeRequired    = "required"                    // absent, blank or empty; for some fields also a value of a wrong type
	CodeEnum        = "invalid_enum"                // not one of the known values
	CodeInvalid     = "invalid"                     // contradicts another value
	CodeTooLong     = "too_long"                    // longer than [MaxSummary]
	CodeNoIssues    = "empty_for_changes_requested" // changes are requested, but no issue is listed
)

// Root is the path of a problem with the result as a whole.
const Root = "<root>"

// A Problem is one error in a result, in the form that agents receive.
type Problem struct {
	Path    string `json:"path"` // such as "work.issues[0].paths[1]", or [Root]
	Code    string `json:"code"` // one of the Code constants
	Message string `json:"message"`
}

// MaxProblems is the maximum number of problems that are recorded for one result.
const MaxProblems = 1000

// maxShown is the maximum number of problems in the text of an error.
const maxShown = 10

// A ValidationError lists the problems of a result. They are in the order of the contract's fields.
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
