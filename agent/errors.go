package agent

import "errors"

// A Reason is the kind of an [Error], in one word.
type Reason string

// The reasons.
const (
	ReasonAuth        Reason = "auth"        // no Authorization header was available; nothing was sent
	ReasonUnreachable Reason = "unreachable" // no connection, a broken one, or something that is not HTTP
	ReasonTimeout     Reason = "timeout"     // the answer was not complete in time
	ReasonCanceled    Reason = "canceled"    // the caller's context was canceled
	ReasonStatus      Reason = "status"      // an HTTP status that carries no decision
	ReasonTooLarge    Reason = "too_large"   // more than RemoteOptions.MaxBytes
	ReasonNotJSON     Reason = "not_json"    // an empty body, or one that is not one JSON value
	ReasonInvalid     Reason = "invalid"     // a decision with mistakes; or a task that is not JSON
	ReasonWrongTask   Reason = "wrong_task"  // a decision on another task
	// ReasonNotDecision means JSON without task_id and decision, such as the status page of a
	// proxy.
	ReasonNotDecision Reason = "not_decision"
)

// An Error means that an agent gave no usable answer. Its text contains the reason, and no
// userinfo, no query string and no credential that was sent. Foreign text in it is short and has
// no line breaks or control characters.
type Error struct {
	Address string // the result of Remote.Address
	Reason  Reason
	Status  int // HTTP status; 0: no answer
	// Err is the cause. For ReasonInvalid, ReasonNotDecision and ReasonNotJSON it may wrap a
	// *protocol.ValidationError. For ReasonTimeout and ReasonCanceled errors.Is finds the
	// context's error. errors.Is finds other causes, too, but they cannot be unwrapped, because
	// their text may contain a secret.
	Err error
}

// Error returns "ask agent at ADDRESS: cause".
func (e *Error) Error() string {
	text := string(e.Reason)
	if e.Err != nil {
		text = e.Err.Error()
	}
	return "ask agent at " + e.Address + ": " + text
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// An opaque is an error with a text that is safe to show. errors.Is finds its cause, but callers
// cannot unwrap it.
type opaque struct {
	text  string
	cause error
}

func (e *opaque) Error() string { return e.text }

// Is reports whether the cause matches target.
func (e *opaque) Is(target error) bool { return errors.Is(e.cause, target) }
