package agent

import "errors"

// A Reason is the kind of an [Error], in one word.
type Reason string

// The reasons.
const (
	ReasonAuth        Reason = "auth"        // the Authorization header could not be had; nothing was sent
	ReasonUnreachable Reason = "unreachable" // no connection, a broken one, or something that is not HTTP
	ReasonTimeout     Reason = "timeout"     // the last byte did not come in time
	ReasonCanceled    Reason = "canceled"    // the caller's context was canceled
	ReasonStatus      Reason = "status"      // an HTTP status that carries no decision
	ReasonTooLarge    Reason = "too_large"   // more than RemoteOptions.MaxBytes
	ReasonNotJSON     Reason = "not_json"    // an empty body, or one that is not one JSON value
	ReasonInvalid     Reason = "invalid"     // a decision with mistakes; or a task that is not JSON
	ReasonWrongTask   Reason = "wrong_task"  // a decision on another task
	// ReasonNotDecision: JSON without task_id and decision, such as the status page of a proxy.
	ReasonNotDecision Reason = "not_decision"
)

// An Error means that an agent gave no usable answer, and why. Its text holds no
// userinfo, no query string and no credential that was sent; foreign text in it is
// short and has no line breaks or control characters.
type Error struct {
	Address string // as Remote.Address returns it
	Reason  Reason
	Status  int // of the HTTP answer; 0 when there was none
	// Err is the cause. For ReasonInvalid, ReasonNotDecision and ReasonNotJSON it may wrap a
	// *protocol.ValidationError; for ReasonTimeout and ReasonCanceled, errors.Is finds
	// the context's error. Other causes can be compared with errors.Is, but not taken
	// out, because their own text may hold a secret.
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

// opaque is an error with a text that is safe to show. errors.Is finds its cause, but no caller can
// unwrap it.
type opaque struct {
	text  string
	cause error
}

func (e *opaque) Error() string { return e.text }

// Is makes errors.Is see the cause.
func (e *opaque) Is(target error) bool { return errors.Is(e.cause, target) }
