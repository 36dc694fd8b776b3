package rpc

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/roundtrip"
	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/internal/secret"
)

// ErrTooLarge is the error for an answer that is larger than the request allows.
var ErrTooLarge = errors.New("the answer is too large")

var (
	errAddress = errors.New("the address is not usable")
	errTimeout = errors.New("no answer in time")
)

// A statusError is a response whose status is not success.
type statusError struct {
	status int
	code   string // error code of Twirp or Azure, such as "already_exists"; may be empty
	text   string // one line, without secrets; may be empty
	spent  bool   // the rate limit is exceeded
}

// Error returns the status, then the reason that the service gave.
func (e *statusError) Error() string {
	s := fmt.Sprintf("HTTP status %d", e.status)
	if e.code != "" {
		s += " " + e.code
	}
	if e.text != "" {
		s += ": " + e.text
	}
	return s
}

// IsTaken reports whether the service refused because a name is in use.
func IsTaken(err error) bool {
	e, ok := errors.AsType[*statusError](err)
	return ok && (e.status == http.StatusConflict || e.code == "already_exists")
}

// IsNotFound reports whether the service answered that the requested item does not exist.
func IsNotFound(err error) bool {
	e, ok := errors.AsType[*statusError](err)
	return ok && (e.status == http.StatusNotFound || e.status == http.StatusGone || e.code == "not_found")
}

// IsForbidden reports whether the service refused because the job lacks a permission.
func IsForbidden(err error) bool {
	e, ok := errors.AsType[*statusError](err)
	return ok && !e.spent && (e.status == http.StatusForbidden || e.code == "permission_denied")
}

// IsRefused reports whether the service refused the request, so that it certainly had no effect.
func IsRefused(err error) bool {
	e, ok := errors.AsType[*statusError](err)
	return ok && e.status >= 300 && e.status < 500
}

// passing reports whether a request may succeed when it is sent again.
func passing(err error) bool {
	if e, ok := errors.AsType[*statusError](err); ok {
		return e.status >= 500
	}
	// A time-out is not retried, because the next try may take as long again.
	slow, ok := errors.AsType[net.Error](err)
	late := errors.Is(err, errTimeout) || ok && slow.Timeout()
	final := late || errors.Is(err, ErrTooLarge) || errors.Is(err, errAddress)
	return !final && !errors.Is(err, context.Canceled)
}

// kind returns the cause of a retry for the log: a status, or what failed. It omits the text of the
// error, which may contain anything.
func kind(err error) string {
	if e, ok := errors.AsType[*statusError](err); ok {
		return fmt.Sprint(e.status)
	}
	if errors.Is(err, errTimeout) {
		return errTimeout.Error()
	}
	return roundtrip.Cause(err)
}

// newStatusError makes an error of a response. It shows only the code and the message of the JSON.
func newStatusError(r Response, now time.Time, secrets []string) *statusError {
	e := &statusError{status: r.Status, code: r.Header.Get("X-Ms-Error-Code")}
	var body struct{ Code, Msg, Message string }
	if json.Unmarshal(r.Body, &body) == nil {
		e.code = cmp.Or(body.Code, e.code)
		e.text = cmp.Or(body.Msg, body.Message)
	}
	e.code, e.text = line(e.code, secrets), line(e.text, secrets)
	wait, asked := roundtrip.RetryAfter(r.Header, now)
	e.spent = r.Status == http.StatusTooManyRequests || r.Header.Get("Retry-After") != "" || r.Header.Get("X-Ratelimit-Remaining") == "0"
	switch {
	case r.Status < 400:
		e.text = "a redirect is not followed"
	case asked:
		e.text = strings.TrimPrefix(e.text+"; ", "; ") + fmt.Sprintf("rate limit, retry after %.0f s", wait.Seconds())
	}
	return e
}

// line shortens a text of the service to one line without secrets.
func line(s string, secrets []string) string {
	const most = 200
	s = sanitize.Name(secret.Redact(s, secrets...))
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	return s
}

// redact removes secrets from the text of an error. errors.Is still finds the causes of the error.
func redact(err error, secrets []string) error {
	if text := secret.Redact(err.Error(), secrets...); text != err.Error() {
		return &redactedError{text, err}
	}
	return err
}

// A redactedError is an error whose text contained a secret. errors.Is finds its causes, but Unwrap
// is missing, because the texts of the causes contain the secret.
type redactedError struct {
	text string
	err  error
}

func (e *redactedError) Error() string { return e.text }

func (e *redactedError) Is(target error) bool { return errors.Is(e.err, target) }

// As finds only a [statusError], whose text contains no secrets.
func (e *redactedError) As(target any) bool {
	s, ok := target.(**statusError)
	return ok && errors.As(e.err, s)
}
