package githubtest

import (
	"encoding/json"
	"net/http"

	"github.com/org/foreman-action/internal/github/githubtest/internal/state"
)

// An input is one call on its way to its handler. The server's mutex is held meanwhile.
type input struct {
	clock       *state.Clock
	repos       map[string]*state.Repository // by "owner/name" in lower case
	credentials *credentials
	actor       string // who the call is made by
	r           *http.Request
	body        []byte
	vars        map[string]string // of the path, unescaped
	repo        *state.Repository // nil: the call is about none
	issue       *state.Record     // nil: the call is about none
}

// decode reads the body as JSON; false means that it is none of that form.
func (in *input) decode(v any) bool { return json.Unmarshal(in.body, v) == nil }

type handler func(*input) answer

// with binds a function that renders something to a repository.
func with[T any](r *state.Repository, render func(*state.Repository, T) object) func(T) object {
	return func(v T) object { return render(r, v) }
}
