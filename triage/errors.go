package triage

import (
	"errors"
	"fmt"
)

// The errors of a code host that callers handle separately; test with errors.Is.
var (
	// ErrNeedsHost means that a step needs the code host, but none is configured.
	ErrNeedsHost = errors.New("no code host is configured")
	// ErrGone means that the issue no longer exists or is not visible to the token. It may have
	// been deleted or transferred.
	ErrGone = errors.New("the issue is gone (deleted or transferred) or the token cannot see it")
	// ErrNotFound means that something other than the issue does not exist.
	ErrNotFound = errors.New("not found")
	// ErrUnsupported means that events of that name are not about issues or pull requests, as a ping
	// is not.
	ErrUnsupported = errors.New("the event contains no issue")
	// ErrTruncated means that a list is too long to be read as a whole.
	ErrTruncated = errors.New("the list is too long to be read as a whole")
	// ErrUncertain means that a write was sent and its outcome is unknown.
	ErrUncertain = errors.New("the outcome of the write is unknown")
	// ErrLimited means that the rate limit of the host is used up, and that the wait for new calls
	// is too long.
	ErrLimited = errors.New("the API rate limit is used up")
	// ErrHalted means that a write was not tried: the context ended, or a guard forbade it.
	// A later attempt at the task continues with that write.
	ErrHalted = errors.New("the run was stopped before a write")
)

// A PermissionError means that the token lacks the permission for a request.
type PermissionError struct {
	Need string // the missing line of a workflow's permissions block, such as "issues: write"
	// Accepted lists the permissions that the host accepts for the request, such as "issues: write or
	// pull-requests: write"; empty: the host named none. It is one line, and untrusted.
	Accepted string
	Err      error // the host's answer
}

// Error names the missing permission, the permissions that the host accepts, and the answer.
func (e *PermissionError) Error() string {
	if e.Accepted != "" {
		return fmt.Sprintf("the token lacks %q (GitHub accepts %s): %v", e.Need, e.Accepted, e.Err)
	}
	return fmt.Sprintf("the token lacks %q: %v", e.Need, e.Err)
}

// Unwrap returns the host's answer.
func (e *PermissionError) Unwrap() error { return e.Err }

// A RefusedError means that the host refused a write, and would refuse it again.
type RefusedError struct {
	Reason string // the host's reason, in one line; untrusted
	// Parameter means that the reason is one parameter of the write, such as a milestone. Otherwise
	// the host refuses any such write.
	Parameter bool
	// Repository means that the host refuses every write to the issues of the repository.
	Repository bool
	Err        error // the host's answer; may be nil
}

// Error starts with "refused by GitHub".
func (e *RefusedError) Error() string { return "refused by GitHub: " + e.Reason }

// Unwrap returns the host's answer.
func (e *RefusedError) Unwrap() error { return e.Err }

// An UnknownActionError means that a decision contains an action of an unknown type. The actions
// before it in the list were carried out; those after it are not tried.
type UnknownActionError struct {
	Type  string
	Index int // of the action in the decision, from 0
}

// Error starts with "UnknownActionError", the name of this error in the published protocol.
func (e *UnknownActionError) Error() string {
	return fmt.Sprintf("UnknownActionError: action %d has the unknown type %q", e.Index+1, e.Type)
}
