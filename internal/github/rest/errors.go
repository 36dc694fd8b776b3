package rest

import (
	"fmt"
	"time"

	"github.com/org/foreman-action/internal/secret"
	"github.com/org/foreman-action/triage"
)

// A LimitError means that GitHub refuses calls for longer than the call may wait. GitHub has
// certainly not executed the call.
type LimitError struct {
	Wait  time.Duration // time that GitHub asks to wait, from now
	Until time.Time     // end of that time, if the whole account waits for it; zero: only this call
	Left  time.Duration // time that the call was still allowed to wait
	// Probing means that another request still checks whether the limit has ended. Wait is then the
	// time that a request may take.
	Probing bool
	Err     error // GitHub's answer
}

// Error states how long GitHub asks to wait.
func (e *LimitError) Error() string {
	if !e.Until.IsZero() {
		return fmt.Sprintf("GitHub limits the account until %s; its requests wait until then: %v", e.Until.UTC().Format("2006-01-02 15:04:05 MST"), e.Err)
	}
	if e.Probing {
		return fmt.Sprintf("rate limited: another request still checks whether the limit has ended: %v", e.Err)
	}
	return fmt.Sprintf("rate limited: GitHub asks to wait %s, this call may wait %s more: %v",
		e.Wait.Round(time.Second), max(e.Left, 0).Round(time.Second), e.Err)
}

// Unwrap returns GitHub's answer.
func (e *LimitError) Unwrap() error { return e.Err }

// Is reports whether the target is [triage.ErrLimited].
func (e *LimitError) Is(target error) bool { return target == triage.ErrLimited }

// An unsentError is a failure of a request that GitHub certainly did not execute.
type unsentError struct{ err error }

func (e *unsentError) Error() string { return e.err.Error() }
func (e *unsentError) Unwrap() error { return e.err }

// redact replaces the token in the text of an error.
func redact(err error, token string) error {
	if text := secret.Redact(err.Error(), token); text != err.Error() {
		return &redactedError{text, err}
	}
	return err
}

// A redactedError is an error whose text contained a secret.
type redactedError struct {
	text string
	err  error
}

func (e *redactedError) Error() string { return e.text }
func (e *redactedError) Unwrap() error { return e.err }
