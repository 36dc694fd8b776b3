package rest

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/secret"
)

// A Query is the body of a call to the GraphQL API; see [Call.GraphQL].
type Query struct {
	Query     string `json:"query"`
	Variables any    `json:"variables"`
}

// graphQLPath returns the path of the GraphQL API, given the root path of the REST API. On an
// Enterprise Server the root of the REST API is /api/v3/, and the GraphQL API is /api/graphql.
func graphQLPath(root string) string {
	if strings.HasSuffix(root, "/api/v3/") {
		return "../graphql"
	}
	return "graphql"
}

// limitedType is the type of the error when the GraphQL API's own rate limit is used up.
const limitedType = "RATE_LIMITED"

// refuses reports whether an error of that type means that GitHub did not execute the query. GitHub
// documents none of these types. If an error has another type or no type, a mutation may have been
// executed in part.
func refuses(typ string) bool {
	switch typ {
	case limitedType, "NOT_FOUND", "FORBIDDEN", "INSUFFICIENT_SCOPES", "UNPROCESSABLE":
		return true
	}
	return false
}

// A queryError is one of the errors in an answer of the GraphQL API.
type queryError struct {
	Type       string `json:"type"`
	Message    string `json:"message"`
	Extensions struct {
		Code string `json:"code"` // set if the query is invalid
	} `json:"extensions"`
}

// readErrors sets r.answer if the response has the status 200 and contains errors of the GraphQL
// API.
func (r *reply) readErrors(now time.Time) {
	var body struct {
		Data   *map[string]json.RawMessage `json:"data"`
		Errors []queryError                `json:"errors"`
	}
	if r.StatusCode != http.StatusOK || json.Unmarshal(r.body, &body) != nil || len(body.Errors) == 0 {
		return
	}
	first := body.Errors[0]
	// Redacted before it is clipped, because clipping could leave half a token.
	clean := func(s string) string { return Clip(secret.Redact(s, r.token), maxMessage) }
	a := &AnswerError{Status: r.StatusCode, Type: clean(first.Type), Message: clean(first.Message)}
	for _, e := range body.Errors {
		invalid := body.Data == nil && e.Extensions.Code != ""
		a.unsure = a.unsure || !refuses(e.Type) && !invalid
	}
	if body.Data != nil {
		for _, field := range *body.Data {
			a.unsure = a.unsure || string(field) != "null"
		}
	}
	a.readHeaders(r.Header, now, r.token)
	r.answer = a
}

// ownLimit reports whether the GraphQL API's own rate limit is used up. That limit does not apply
// to the REST API. The secondary limits apply to both APIs.
func (a *AnswerError) ownLimit() bool {
	return a.RetryAfter == nil && !strings.Contains(strings.ToLower(a.Message), "secondary") && (a.Type == limitedType || a.Spent)
}
