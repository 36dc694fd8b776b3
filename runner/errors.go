package runner

import (
	"errors"
	"fmt"
)

var (
	// ErrGone says that the issue is not there any more: deleted, transferred, or
	// out of the token's sight.
	ErrGone = errors.New("the issue is gone (deleted or transferred) or the token cannot see it")
	// ErrNotFound says that something other than the issue does not exist.
	ErrNotFound = errors.New("not found")
	// ErrTruncated says that a list is too long to be read as a whole.
	ErrTruncated = errors.New("the list is too long to be read as a whole")
	// ErrUncertain says that a write was sent and its outcome is unknown.
	ErrUncertain = errors.New("the outcome of the write is unknown")
)

// A PermissionError says that the token may not do what was tried.
type PermissionError struct {
	Need string // the missing line of a workflow's permissions block, such as "issues: write"
	Err  error  // what the host answered
}

// Error names the missing permission and the answer.
func (e *PermissionError) Error() string {
	return fmt.Sprintf("the token lacks %q: %v", e.Need, e.Err)
}

// Unwrap returns the host's answer.
func (e *PermissionError) Unwrap() error { return e.Err }

// An UnknownActionError says that a decision asks for an action that the executor
// does not know. What stood before it in the list was carried out and stays; what
// stands after it is not tried.
type UnknownActionError struct {
	Type  string
	Index int // of the action in the decision, from 0
}

// Error starts with the name that the published protocol gives this error.
func (e *UnknownActionError) Error() string {
	return fmt.Sprintf("UnknownActionError: action %d has the unknown type %q", e.Index+1, e.Type)
}
