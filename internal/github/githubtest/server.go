// Package githubtest is a GitHub for tests: a server on loopback that keeps state as GitHub does,
// records its calls in order, and injects faults.
//
// It checks every request and every response against GitHub's own OpenAPI description, and each
// GraphQL query against GitHub's schema. Each mismatch is a problem, and a server made with [New]
// fails its test for each problem.
//
// It reproduces the surprises of GitHub: adding a label that does not exist creates it, names match
// without regard to case, closing twice does nothing, and users that cannot be assigned are dropped
// silently. A repository may hold changes as suggestions, see [Repo.SetAutomation].
package githubtest

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/org/foreman-action/internal/github/githubtest/internal/state"
	"github.com/org/foreman-action/internal/testkit/loopback"
)

const defaultLogin = "github-actions[bot]"

// Config configures a [Server]. The zero value is a server on a free port of
// loopback that takes any token.
type Config struct {
	// Addr is the address to listen on; empty means 127.0.0.1:0.
	Addr string
	// SkipValidation turns off the check against the OpenAPI description, which takes about a
	// millisecond per call. It is for benchmarks.
	SkipValidation bool
	// Token is the only accepted token: a call without "Bearer <Token>" gets 401. Empty: any token.
	Token string
	// App replaces Token: only tokens of the App are accepted. Nil: no App.
	App *App
	// Login is the owner of the token and the author of all writes. Empty: "github-actions[bot]",
	// or the App's login.
	Login string
	// Now returns the time of writes; nil means [time.Now].
	Now func() time.Time
}

// A Server is a fake GitHub. All its methods are safe for concurrent use.
type Server struct {
	*loopback.Server // its URL is the API's root, without a trailing slash

	login   string // login of the caller
	routes  []route
	checker *checker // nil: no validation

	mu          sync.Mutex // guards the fields below, and the repositories
	clock       *state.Clock
	repos       map[string]*state.Repository
	accounts    map[string]state.Account // by login in lower case
	credentials credentials
	limit       limit
	budget      budget
	lag         lag
	hooks       hooks
	before      func(method, path string) // nil: none
}

// New starts a server that is closed at the end of the test. The test fails for each of the
// server's Problems.
func New(tb testing.TB, c Config) *Server {
	tb.Helper()
	s, err := Start(c)
	if err != nil {
		tb.Fatal(err)
	}
	s.CloseAfter(tb, "githubtest")
	return s
}

// Start starts a server without a test; the caller closes it.
func Start(c Config) (*Server, error) {
	if c.Login == "" && c.App != nil {
		c.Login = c.App.Slug + "[bot]"
	}
	if c.Login == "" {
		c.Login = defaultLogin
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	clock := state.NewClock(c.Now)
	s := &Server{
		login: c.Login, routes: routes(), clock: clock, repos: map[string]*state.Repository{}, accounts: map[string]state.Account{},
		credentials: credentials{token: c.Token, app: c.App, clock: clock, tokens: map[string]issued{}},
	}
	if !c.SkipValidation {
		s.checker = &checker{}
		// The description is loaded before the first call. With the race detector, on a loaded machine,
		// that takes longer than a caller waits.
		if _, err := newRouter(); err != nil {
			return nil, fmt.Errorf("load GitHub's description: %w", err)
		}
	}
	var err error
	if s.Server, err = loopback.Start(loopback.Options{Addr: c.Addr, Handler: s.serve, OnFault: s.fault}); err != nil {
		return nil, fmt.Errorf("start the fake GitHub: %w", err)
	}
	return s, nil
}

// serve answers one call.
func (s *Server) serve(r *http.Request, c loopback.Call) loopback.Answer {
	s.mu.Lock()
	before := s.before
	s.mu.Unlock()
	if before != nil {
		before(r.Method, r.URL.EscapedPath()) // without the mutex, because it may use the server
	}
	a, checked := s.answer(r, c.Body)
	if !checked {
		s.check(r, c.Body, &a)
	}
	return s.finish(r, a)
}

// fault answers a call to which a fault with a status applies. The fault's response is not compared
// with the description.
func (s *Server) fault(r *http.Request, c loopback.Call, f Fault) loopback.Answer {
	s.check(r, c.Body, nil)
	a := failure(f.Status, http.StatusText(f.Status))
	if f.Body != "" {
		a.raw = []byte(f.Body)
	}
	for k, v := range f.Header {
		a.header.Set(k, v)
	}
	return s.finish(r, a)
}

// finish adds the headers of every response: the number of remaining calls, and the date.
func (s *Server) finish(r *http.Request, a answer) loopback.Answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.budget.spend(r, a)
	return a.encode(s.clock.Now())
}

// answer returns the response to a call. checked is true if the response must not be compared with
// the description.
func (s *Server) answer(r *http.Request, body []byte) (a answer, checked bool) {
	if refusal, ok := s.authorize(r); !ok {
		return refusal, false
	}
	if v := version(r); v != oldVersion && v != newVersion {
		return failure(http.StatusBadRequest, fmt.Sprintf("The API version %q is not supported", v)), true
	}
	handle, vars := find(s.routes, r)
	if handle == nil {
		s.Problem("%s %s: the fake has no such route", r.Method, r.URL.EscapedPath())
		return failure(http.StatusNotImplemented, "githubtest has no such route"), true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	counts := r.URL.Path != graphQLPath // the GraphQL API has a separate limit
	if a, refused := s.limit.refuse(s.clock); counts && refused {
		return a, true
	}
	in := &input{clock: s.clock, repos: s.repos, accounts: s.accounts, credentials: &s.credentials, hooks: &s.hooks, actor: s.login, r: r, body: body, vars: vars}
	if r.Method == http.MethodGet {
		in.repos = s.lag.shown(s.repos, s.clock.Now())
	} else {
		defer s.lag.record(s.repos, s.clock.Now())()
	}
	a = conditional(r, inVersion(r, handle(in)))
	if counts {
		s.limit.account(a)
	}
	return a, false
}

func (s *Server) authorize(r *http.Request) (refusal answer, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.credentials.authorize(r)
}

func (s *Server) check(r *http.Request, body []byte, a *answer) {
	if s.checker == nil {
		return
	}
	for _, p := range s.checker.check(r, body, a) {
		s.Problem("%s %s: %s", r.Method, r.URL.EscapedPath(), p)
	}
}
