package results

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/sanitize"
)

var (
	errAddress  = errors.New("the address is not usable")
	errTooLarge = errors.New("the answer is too large")
	errTimeout  = errors.New("no answer in time")
)

// minSecret is the length from which on a text counts as a secret: hiding a shorter
// one would only make errors unreadable.
const minSecret = 6

// A statusError is an answer other than success.
type statusError struct {
	status int
	code   string // Twirp's or Azure's own, such as "already_exists"; may be empty
	text   string // one line, without secrets; may be empty
	spent  bool   // a rate limit is the reason
}

// Error names the status, then what the service said of it.
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

// taken reports whether an error says that a name is in use.
func taken(err error) bool {
	e, ok := errors.AsType[*statusError](err)
	return ok && (e.status == http.StatusConflict || e.code == "already_exists")
}

// absent reports whether an error says that there is no such thing.
func absent(err error) bool {
	e, ok := errors.AsType[*statusError](err)
	return ok && (e.status == http.StatusNotFound || e.status == http.StatusGone || e.code == "not_found")
}

// forbidden reports whether an error says that the job lacks a right.
func forbidden(err error) bool {
	e, ok := errors.AsType[*statusError](err)
	return ok && !e.spent && (e.status == http.StatusForbidden || e.code == "permission_denied")
}

// certain reports whether an error proves that nothing was done: the service
// answered, and said no.
func certain(err error) bool {
	e, ok := errors.AsType[*statusError](err)
	return ok && e.status >= 300 && e.status < 500
}

// passing reports whether a request may succeed when it is sent again.
func passing(err error) bool {
	if e, ok := errors.AsType[*statusError](err); ok {
		return e.status >= 500
	}
	// What was slow once would cost the job as much again.
	slow, ok := errors.AsType[net.Error](err)
	late := errors.Is(err, errTimeout) || ok && slow.Timeout()
	final := late || errors.Is(err, errTooLarge) || errors.Is(err, errAddress)
	return !final && !errors.Is(err, context.Canceled)
}

// kind says for the log why a request is repeated; of an error only its type, for
// its text may hold anything.
func kind(err error) string {
	if e, ok := errors.AsType[*statusError](err); ok {
		return fmt.Sprint(e.status)
	}
	return fmt.Sprintf("%T", err)
}

// refusal makes an error of an answer. Only two fields of its JSON are shown.
func (c *client) refusal(r reply, from call) *statusError {
	e := &statusError{status: r.status, code: r.header.Get("X-Ms-Error-Code")}
	var body struct{ Code, Msg, Message string }
	if json.Unmarshal(r.body, &body) == nil {
		if body.Code != "" {
			e.code = body.Code
		}
		e.text = body.Msg
		if e.text == "" {
			e.text = body.Message
		}
	}
	secrets := append(slices.Clip(from.secrets), c.token)
	e.code, e.text = line(e.code, secrets), line(e.text, secrets)
	wait := r.header.Get("Retry-After")
	e.spent = r.status == http.StatusTooManyRequests || wait != "" || r.header.Get("X-Ratelimit-Remaining") == "0"
	switch {
	case r.status < 400:
		e.text = "a redirect is not followed"
	case e.spent && wait != "":
		e.text = strings.TrimPrefix(e.text+"; ", "; ") + "rate limit, retry after " + line(wait, nil) + " s"
	}
	return e
}

// line makes one short line of what a service said.
func line(s string, secrets []string) string {
	const most = 200
	s = sanitize.Name(hide(s, secrets))
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	return s
}

// hide replaces every secret in a text.
func hide(text string, secrets []string) string {
	for _, s := range secrets {
		if len(s) >= minSecret {
			text = strings.ReplaceAll(text, s, "***")
		}
	}
	return text
}

// redact takes secrets out of what an error says. errors.Is still finds its causes.
func redact(err error, secrets []string) error {
	if text := hide(err.Error(), secrets); text != err.Error() {
		return &redactedError{text, err}
	}
	return err
}

// A redactedError is an error with a secret taken out of its text. It can be
// compared with its causes, and does not hand them out.
type redactedError struct {
	text string
	err  error
}

func (e *redactedError) Error() string { return e.text }

func (e *redactedError) Is(target error) bool { return errors.Is(e.err, target) }

// As serves this package's own questions about an answer, whose text is clean.
func (e *redactedError) As(target any) bool {
	s, ok := target.(**statusError)
	return ok && errors.As(e.err, s)
}
