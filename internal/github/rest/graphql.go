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

// graphQLPath returns the path of the GraphQL API, relative to the root of the REST API. On an
// Enterprise Server these are /api/graphql and /api/v3/.
func graphQLPath(root string) string {
	if strings.HasSuffix(root, "/api/v3/") {
		return "../graphql"
	}
	return "graphql"
}

// limitedType is the type of the error when no points of the GraphQL API's own limit are left.
const limitedType = "RATE_LIMITED"

// refuses reports whether an error of that type means that a query was not carried out. GitHub
// documents none of them. Others, and errors without a type, may be those of a mutation that was
// carried out in part.
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
		Code string `json:"code"` // of a query that is not valid
	} `json:"extensions"`
}

// readErrors sets the answer of a query that GitHub answered with 200 and errors.
func (r *reply) readErrors(now time.Time) {
	var body struct {
		Data   *map[string]json.RawMessage `json:"data"`
		Errors []queryError                `json:"errors"`
	}
	if r.StatusCode != http.StatusOK || json.Unmarshal(r.body, &body) != nil || len(body.Errors) == 0 {
		return
	}
	first := body.Errors[0]
	// Redacted before it is clipped, which could leave half a token.
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
	a.readLimits(r.Header, now)
	r.answer = a
}

// ownLimit reports whether an answer of the GraphQL API means that its own limit is spent, which
// does not hold for the REST API. The secondary limits hold for both.
func (a *AnswerError) ownLimit() bool {
	return a.RetryAfter == nil && !strings.Contains(strings.ToLower(a.Message), "secondary") && (a.Type == limitedType || a.Spent)
}
