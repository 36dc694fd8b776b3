package githubtest

import (
	"encoding/json"
	"net/http"

	"github.com/org/foreman-action/internal/github/githubtest/internal/state"
)

// An input is one call with the data for its handler. The handler runs under the server's mutex.
type input struct {
	clock       *state.Clock
	repos       map[string]*state.Repository // by "owner/name" in lower case
	accounts    map[string]state.Account     // by login in lower case
	credentials *credentials
	hooks       *hooks
	actor       string // login of the caller
	r           *http.Request
	body        []byte
	vars        map[string]string // parameters in the path, unescaped
	repo        *state.Repository // nil: the call is not about a repository
	issue       *state.Record     // nil: the call is not about an issue
}

// decode parses the body as JSON; false means that the body does not fit v.
func (in *input) decode(v any) bool { return json.Unmarshal(in.body, v) == nil }

type handler func(*input) answer

// with returns a render function whose first argument is always r.
func with[T any](r *state.Repository, render func(*state.Repository, T) object) func(T) object {
	return func(v T) object { return render(r, v) }
}
