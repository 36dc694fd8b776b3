package publish

import (
	"cmp"
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

	"github.com/org/foreman-action/internal/coding/contrib/gh"
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
		{name: "a fork of a fork, by another name", wantName: "r-new", server: hub{forks: []listed{{"mine", "x/r o/r"}}}, refused: "me/mine is the fork of o/r"},
		{name: "a fork of a fork of a fork", server: hub{forks: []listed{{"mine", "y/r x/r o/r"}}}, want: Fork{"me", "mine", false}},
		{name: "a fork of the same origin", wantName: "r-new", server: hub{ancestors: "z/r", forks: []listed{{"mine", "x/r z/r"}}}, refused: "me/mine is the fork of o/r"},
		{name: "a fork of the same origin, by its name", wantName: "r", server: hub{named: `{"full_name": "me/r", "source": {"full_name": "z/r"}, "parent": {"full_name": "x/r"}}`, ancestors: "z/r", forks: []listed{{"r", "x/r z/r"}}}, want: Fork{"me", "r", false}},
		{name: "the repository's own fork first", server: hub{forks: []listed{{"mine", "x/r o/r"}, {"r-1", "o/r"}}}, want: Fork{"me", "r-1", false}},
		{name: "a fork of the same origin, and the repository was renamed", server: hub{now: "o/renamed", ancestors: "z/r", target: `{"full_name": "o/renamed"}`, forks: []listed{{"mine", "z/r"}}}, refused: "o/r is now o/renamed"},
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

// A listed repository is a fork of an account. ancestors are the names of the parent, of its parent,
// and so on.
type listed struct{ name, ancestors string }

// A hub answers as GitHub.
type hub struct {
	named  string // the repository me/r; empty: it is missing
	target string // the repository o/r; empty: it is missing
	forks  []listed
	// now is the name of o/r, and ancestors are those of o/r, in the list of forks.
	now, ancestors string
	nobody         bool // GitHub has no account of this name
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
		Query     string
		Variables struct{ Login, Cursor, Owner, Name string }
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
	nodes, levels := []any{}, strings.Count(query.Query, "parent {")
	for _, f := range h.forks[from:to] {
		nodes = append(nodes, nodeOf("me/"+f.name, f.ancestors, levels))
	}
	answer := map[string]any{"data": map[string]any{"repositoryOwner": map[string]any{"repositories": map[string]any{
		"nodes": nodes, "pageInfo": map[string]any{"hasNextPage": to < len(h.forks), "endCursor": strconv.Itoa(to)},
	}}}}
	if v := query.Variables; v.Owner+"/"+v.Name == "o/r" {
		answer["data"].(map[string]any)["repository"] = nodeOf(cmp.Or(h.now, "o/r"), h.ancestors, levels)
	}
	if h.partial {
		answer["errors"] = []any{map[string]any{"type": "FORBIDDEN", "message": "Resource protected by organization SAML enforcement."}}
	}
	if err := json.NewEncoder(w).Encode(answer); err != nil {
		panic(err) // it cannot fail, because all values are texts, objects and lists
	}
}

// nodeOf returns a repository with the ancestors that a query asks for.
func nodeOf(name, ancestors string, levels int) map[string]any {
	_, short, _ := strings.Cut(name, "/")
	out := map[string]any{"name": short, "nameWithOwner": name, "parent": nil}
	if parent, rest, _ := strings.Cut(ancestors, " "); parent != "" && levels > 0 {
		out["parent"] = nodeOf(parent, rest, levels-1)
	}
	return out
}
