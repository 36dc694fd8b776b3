package rest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/org/foreman-action/internal/roundtrip"
	"github.com/org/foreman-action/internal/secret"
)

const (
	maxMessage = 300 // runes of GitHub's message in an error
	maxDetails = 3   // validation errors in an error
	maxAddress = 1000
)

// An AnswerError is a response without success, or the errors of the GraphQL API. Its text never
// contains the token.
type AnswerError struct {
	Status  int
	Message string // GitHub's sentence, one line, clipped; may be empty
	Docs    string // documentation_url; may be empty
	// Type is the type of the first error of the GraphQL API, whose responses have the status 200.
	// Else it is empty.
	Type    string
	details []string // the first validation errors
	named   bool     // a validation error names a parameter of the request
	unsure  bool     // GitHub may have executed the query
	// Location is the address of the object after a move; empty: the response has none.
	Location string
	// SSO is the address at which a person authorizes the token for an organization that requires
	// SAML single sign-on; empty: the response has none. Error does not contain it, because logs of
	// the action are often public.
	SSO string
	// accepted lists the permissions that GitHub accepts for the request, in the syntax of a workflow.
	accepted string
	// The rate limits in the headers.
	RetryAfter *time.Duration // how long to wait; nil: it does not name a time
	Spent      bool           // no calls are left until Reset
	Reset      time.Time      // when calls are allowed again; zero: unknown
}

// readHeaders parses the rate limits and the accepted permissions in the headers. It redacts the
// token.
func (a *AnswerError) readHeaders(h http.Header, now time.Time, token string) {
	a.accepted = permissions(secret.Redact(h.Get("X-Accepted-Github-Permissions"), token))
	if wait, ok := roundtrip.RetryAfter(h, now); ok {
		a.RetryAfter = &wait
	}
	a.Location, a.SSO = h.Get("Location"), signOn(h.Get("X-Github-Sso"))
	a.Spent = h.Get("X-Ratelimit-Remaining") == "0"
	if reset, err := strconv.ParseInt(h.Get("X-Ratelimit-Reset"), 10, 64); err == nil {
		a.Reset = time.Unix(min(reset, now.Add(roundtrip.MaxRetryAfter).Unix()), 0).UTC()
	}
}

// signOn returns the address in a header such as "required; url=https://github.com/orgs/o/sso?…".
func signOn(header string) string {
	_, address, _ := strings.Cut(header, "url=")
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" || u.Host == "" || len(address) > maxAddress {
		return ""
	}
	return u.String()
}

// permissions converts a list such as "issues=write; pull_requests=write" to the syntax of a
// workflow. Each part between semicolons is enough; a request needs all permissions between commas.
func permissions(header string) string {
	line := Clip(header, maxMessage)
	return strings.NewReplacer("; ", " or ", ";", " or ", ", ", " and ", ",", " and ", "=", ": ", "_", "-").Replace(line)
}

// Error returns the status, GitHub's message and the first validation errors.
func (a *AnswerError) Error() string {
	var b strings.Builder
	if a.Status == http.StatusOK {
		b.WriteString(strings.TrimSpace("GraphQL error " + a.Type))
	} else {
		fmt.Fprintf(&b, "%d %s", a.Status, http.StatusText(a.Status))
	}
	if a.Message != "" && !strings.EqualFold(a.Message, http.StatusText(a.Status)) {
		b.WriteString(": " + a.Message)
	}
	if len(a.details) > 0 {
		fmt.Fprintf(&b, " (%s)", strings.Join(a.details, "; "))
	}
	return b.String()
}

// redirect reports whether the response is a redirect.
func (a *AnswerError) redirect() bool {
	switch a.Status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// permission reports whether a 403 is about the token's permissions. It looks for the sentences
// that GitHub uses for Actions tokens, personal tokens and users.
func (a *AnswerError) permission() bool {
	m := strings.ToLower(a.Message)
	return strings.Contains(m, "not accessible by") || strings.HasPrefix(m, "must have ")
}

// limit reports whether the message of a 403 or 429 is about a rate limit.
func (a *AnswerError) limit() bool {
	m := strings.ToLower(a.Message)
	return strings.Contains(m, "rate limit") || strings.Contains(m, "abuse detection") ||
		strings.Contains(a.Docs, "rate-limits")
}

// closed reports whether GitHub refuses every write to the issues of the repository: it is archived,
// or its issues are disabled. The errors of the GraphQL API have the same sentences.
func (a *AnswerError) closed() bool {
	m := strings.ToLower(a.Message)
	switch a.Status {
	case http.StatusForbidden:
		return strings.Contains(m, "archived")
	case http.StatusOK:
		return a.Type != limitedType && strings.Contains(m, "archived so is read-only")
	case http.StatusGone:
		return strings.Contains(m, "disabled")
	}
	return false
}

// final reports whether GitHub would refuse the same write again. The sentences of a 403 are about a
// locked conversation, a blocked account, and an issue with 2,500 comments. A 422 counts if it names
// a parameter, unless it asks for fewer writes in a time; a 410, unless the issue was deleted.
func (a *AnswerError) final() bool {
	m := strings.ToLower(a.Message)
	switch a.Status {
	case http.StatusForbidden:
		return strings.Contains(m, "locked") || strings.Contains(m, "blocked") || strings.Contains(m, "commenting is disabled")
	case http.StatusGone:
		return !strings.Contains(m, "deleted")
	case http.StatusUnprocessableEntity:
		return a.named && !a.hasty()
	}
	return false
}

// refuses reports whether a 422 contains one of the sentences of [Op.Refusals].
func (a *AnswerError) refuses(parts []string) bool {
	return a.Status == http.StatusUnprocessableEntity && !a.hasty() &&
		slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(a.sentences(), part) })
}

// hasty reports whether a 422 asks for fewer writes in a time.
func (a *AnswerError) hasty() bool { return strings.Contains(a.sentences(), "too quickly") }

// sentences returns the message and the details in lower case.
func (a *AnswerError) sentences() string {
	return strings.ToLower(a.Message + " " + strings.Join(a.details, " "))
}

// decodeAnswer parses the body of a response without success. It accepts any body: if the body is
// not GitHub's JSON, the error has no message.
func decodeAnswer(status int, body []byte) *AnswerError {
	a := &AnswerError{Status: status}
	var fields map[string]json.RawMessage
	if json.Unmarshal(body, &fields) != nil {
		return a
	}
	a.Message = Clip(Text(fields["message"]), maxMessage)
	a.Docs = Clip(Text(fields["documentation_url"]), maxMessage)
	a.details = details(fields["errors"])
	a.named = namesField(fields["errors"])
	return a
}

// redact replaces the token in the texts of the response.
func (a *AnswerError) redact(token string) {
	a.Message = secret.Redact(a.Message, token)
	for i, d := range a.details {
		a.details[i] = secret.Redact(d, token)
	}
}

// details parses "errors": a list of objects or sentences, or one sentence.
func details(raw json.RawMessage) []string {
	if s := Text(raw); s != "" {
		return []string{Clip(s, maxMessage)}
	}
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) != nil {
		return nil
	}
	var list []string
	for _, item := range items {
		if s := Clip(detail(item), maxMessage); s != "" {
			list = append(list, s)
		}
		if len(list) == maxDetails {
			break
		}
	}
	return list
}

// namesField reports whether one of the first validation errors names a field.
func namesField(raw json.RawMessage) bool {
	var items []json.RawMessage
	_ = json.Unmarshal(raw, &items) // a value that is not a list names no field
	for _, item := range items[:min(maxDetails, len(items))] {
		var fields map[string]json.RawMessage
		if json.Unmarshal(item, &fields) == nil && Text(fields["field"]) != "" {
			return true
		}
	}
	return false
}

func detail(raw json.RawMessage) string {
	if s := Text(raw); s != "" {
		return s
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return ""
	}
	if s := Text(fields["message"]); s != "" {
		return s
	}
	where := strings.Trim(Text(fields["resource"])+"."+Text(fields["field"]), ".")
	return strings.TrimPrefix(where+": "+Text(fields["code"]), ": ")
}

// Text returns the value of a JSON string, and an empty string for any other value.
func Text(raw json.RawMessage) string {
	var s string
	_ = json.Unmarshal(raw, &s) // on failure s stays empty
	return s
}

// Clip converts untrusted text for one line of an error: without control characters, and with at
// most n runes.
func Clip(s string, n int) string {
	if len(s) > 4*n {
		s = s[:4*n] // bounds the work below; a rune has at most 4 bytes
	}
	var b strings.Builder
	runes := 0
	for _, r := range s {
		if runes == n {
			b.WriteString("…")
			break
		}
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			r = ' '
		}
		b.WriteRune(r)
		runes++
	}
	return strings.TrimSpace(b.String())
}

// StatusOf returns the HTTP status of the [AnswerError] in an error, or 0 if it has none.
func StatusOf(err error) int {
	if a, ok := errors.AsType[*AnswerError](err); ok {
		return a.Status
	}
	return 0
}
