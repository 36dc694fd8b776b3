package agent

import (
	"errors"
	"net/http"
	"time"
)

// ReasonLost means that the agent no longer has the claim on the task.
const ReasonLost Reason = "lost"

// ErrLost means that another agent has the claim, or that the task is finished, so that further
// work on the task is useless. Test with errors.Is.
var ErrLost = errors.New("the agent no longer has the claim on the task")

// A ClientError is the failure of a call to the harness, with its reason. Its text contains no
// credentials. Foreign text in it is short and has no line breaks.
type ClientError struct {
	Doing   string // such as "claim a task"
	Address string // the result of Client.Address
	Reason  Reason
	Status  int // HTTP status; 0: no answer
	// RetryAfter is how long the harness asks to wait before the next call; 0: it does not ask.
	RetryAfter time.Duration
	// Err is the cause. errors.Is finds ErrLost and the context's errors in it. It may wrap a
	// *protocol.ValidationError.
	Err error
}

// Error returns "DOING at ADDRESS: cause".
func (e *ClientError) Error() string {
	text := string(e.Reason)
	if e.Err != nil {
		text = e.Err.Error()
	}
	return e.Doing + " at " + e.Address + ": " + text
}

// Unwrap returns the cause.
func (e *ClientError) Unwrap() error { return e.Err }

// Retryable reports whether the same call may succeed later, because the harness was down, slow,
// busy or being replaced.
func (e *ClientError) Retryable() bool {
	if e.Reason == ReasonUnreachable || e.Reason == ReasonTimeout {
		return true
	}
	if e.Reason != ReasonStatus {
		return false
	}
	switch e.Status {
	case http.StatusNotFound, http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return true // 404 may come from a proxy whose harness is down
	}
	return e.Status >= http.StatusInternalServerError
}
