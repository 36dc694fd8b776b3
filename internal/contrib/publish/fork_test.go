package publish

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/org/foreman-action/internal/contrib/gh"
	"github.com/org/foreman-action/triage"
)

// TestFind asks the real gh for forks. A server on this machine has the place of GitHub.
func TestFind(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("gh"); err != nil {
		t.Skip("there is no gh")
	}
	many := make([]listed, 1000)
	for i := range many {
		many[i] = listed{fmt.Sprintf("x%d", i), "z/x"}
	}
	last := append(slices.Clone(many), listed{"r-fork", "O/R"})
	tests := []struct {
		name     string
		server   hub
		wantName string // forkName of the configuration
		want     Fork
		refused  string
		err      string
	}{
		{name: "no fork", want: Fork{"me", "r", true}},
		{name: "the same name", server: hub{named: `{"full_name": "me/r", "fork": true, "source": {"full_name": "o/r"}, "parent": {"full_name": "o/r"}}`}, want: Fork{"me", "r", false}},
		{name: "renamed", server: hub{named: `{"full_name": "me/s", "source": {"full_name": "o/r"}, "parent": {"full_name": "o/r"}}`}, want: Fork{"me", "s", false}},
		{name: "fork of a fork", server: hub{named: `{"full_name": "me/r", "source": {"full_name": "o/r"}, "parent": {"full_name": "x/r"}}`}, want: Fork{"me", "r", false}},
		{name: "transferred", server: hub{named: `{"full_name": "you/r", "source": {"full_name": "o/r"}}`}, want: Fork{"me", "r", true}},
		{name: "another name", server: hub{forks: []listed{{"x", "z/x"}, {"deleted", ""}, {"r-1", "o/r"}}}, want: Fork{"me", "r-1", false}},
		{name: "the last of 1,000", server: hub{forks: last}, want: Fork{"me", "r-fork", false}},
		{name: "none of 1,000", server: hub{forks: many}, want: Fork{"me", "r", true}},
		{name: "the last of 1,000, of which some are hidden", server: hub{forks: last, partial: true}, want: Fork{"me", "r-fork", false}},
		{name: "no such account", server: hub{nobody: true}, want: Fork{"me", "r", true}},
		{name: "hostile name", server: hub{forks: []listed{{"../../x", "o/r"}}}, want: Fork{"me", "r", true}},
		{name: "taken", server: hub{named: `{"full_name": "me/r"}`}, refused: `me/r is not a fork of o/r: set "forkName"`},
		{name: "a name of our own", wantName: "r-new", want: Fork{"me", "r-new", true}},
		{name: "a second fork", wantName: "r-new", server: hub{forks: []listed{{"r-1", "o/r"}}}, refused: "me/r-1 is the fork of o/r"},
		{name: "the repository was renamed", server: hub{target: `{"full_name": "o/renamed"}`}, refused: "o/r is now o/renamed"},
		{name: "SSO", server: hub{named: "", status: 403}, err: "HTTP 403"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := httptest.NewServer(tt.server)
			defer s.Close()
			// gh asks github.localhost without TLS, so that a proxy can answer.
			c := gh.CLI{Host: "github.localhost", Environ: append(os.Environ(), "HTTP_PROXY="+s.URL, "GH_DEBUG=api", "GH_FORCE_TTY=80", "CLICOLOR_FORCE=1", "http_proxy="+s.URL, "GH_TOKEN=t", "GH_CONFIG_DIR="+t.TempDir(), "XDG_STATE_HOME="+t.TempDir())}
			got, refused, err := Find(t.Context(), c, triage.Ref{Owner: "o", Repo: "r", Number: 1}, "me", tt.wantName)
			if got != tt.want || !strings.HasPrefix(refused, tt.refused) || (refused == "") != (tt.refused == "") || (err != nil) != (tt.err != "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("got %+v, %q, %v", got, refused, err)
			}
		})
	}
}

// A listed repository is a fork of an account.
type listed struct{ name, parent string }

// A hub answers as GitHub.
type hub struct {
	named  string // the repository me/r; empty: it is missing
	target string // the repository o/r; empty: it is missing
	forks  []listed
	nobody bool // no account has the name
	// partial lets pages of forks report that something was left out.
	partial bool
	status  int // of all answers; 0: 200
}

// ServeHTTP answers requests for a repository, and for pages of forks.
func (h hub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	switch {
	case h.status != 0:
		w.WriteHeader(h.status)
		fmt.Fprint(w, `{"message": "Resource protected by organization SAML enforcement."}`)
	case strings.HasSuffix(r.URL.Path, "/graphql"):
		h.page(w, r)
	case strings.HasSuffix(r.URL.Path, "/repos/me/r") && h.named != "":
		fmt.Fprint(w, h.named)
	case strings.HasSuffix(r.URL.Path, "/repos/o/r") && h.target != "":
		fmt.Fprint(w, h.target)
	default:
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"message": "Not Found"}`)
	}
}

// page answers a query with 100 forks.
func (h hub) page(w http.ResponseWriter, r *http.Request) {
	var query struct {
		Variables struct{ Login, Cursor string }
	}
	if err := json.NewDecoder(r.Body).Decode(&query); err != nil || query.Variables.Login != "me" {
		http.Error(w, fmt.Sprintf("%v: %+v", err, query), http.StatusBadRequest)
		return
	}
	if h.nobody {
		fmt.Fprint(w, `{"data": {"repositoryOwner": null}}`)
		return
	}
	const size = 100
	from, _ := strconv.Atoi(query.Variables.Cursor)
	to := min(len(h.forks), from+size)
	nodes := []any{}
	for _, f := range h.forks[from:to] {
		node := map[string]any{"name": f.name, "parent": nil}
		if f.parent != "" {
			node["parent"] = map[string]any{"nameWithOwner": f.parent}
		}
		nodes = append(nodes, node)
	}
	answer := map[string]any{"data": map[string]any{"repositoryOwner": map[string]any{"repositories": map[string]any{
		"nodes": nodes, "pageInfo": map[string]any{"hasNextPage": to < len(h.forks), "endCursor": strconv.Itoa(to)},
	}}}}
	if h.partial {
		answer["errors"] = []any{map[string]any{"type": "FORBIDDEN", "message": "Resource protected by organization SAML enforcement."}}
	}
	_ = json.NewEncoder(w).Encode(answer)
}
