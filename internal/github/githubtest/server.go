// Package githubtest is a GitHub for tests: a server on loopback that keeps state as
// GitHub does, records its calls in order, and injects faults.
//
// Every request and every answer is checked against GitHub's own OpenAPI description, and each
// GraphQL query against its schema; each mismatch is a problem, and a server made with [New] fails its test for it. It
// reproduces the surprises of GitHub: adding a label that does not exist creates it,
// names match without regard to case, closing twice does nothing, and users that
// cannot be assigned are dropped silently.
package githubtest

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/org/foreman-action/internal/github/githubtest/internal/state"
	"github.com/org/foreman-action/internal/loopback"
)

const defaultLogin = "github-actions[bot]"

// Config configures a [Server]. The zero value is a server on a free port of
// loopback that takes any token.
type Config struct {
	// Addr is the address to listen on; empty means 127.0.0.1:0.
	Addr string
	// SkipValidation leaves out the comparison with the OpenAPI description, which
	// costs about a millisecond a call; for benchmarks.
	SkipValidation bool
	// Token, when set, must come as "Bearer <Token>"; other calls get 401.
	Token string
	// App, when set, is who calls, in the place of Token.
	App *App
	// Login owns the token, and is the author of all writes; empty means
	// "github-actions[bot]", or the App's.
	Login string
	// Now returns the time of writes; nil means [time.Now].
	Now func() time.Time
}

// A Server is a fake GitHub. All its methods are safe for concurrent use.
type Server struct {
	*loopback.Server // its URL is the API's root, without a trailing slash

	login   string // who calls
	routes  []route
	checker *checker // nil: no validation

	mu          sync.Mutex // guards what follows, and the repositories
	clock       *state.Clock
	repos       map[string]*state.Repository
	credentials credentials
	limit       limit
	budget      budget
}

// New starts a server that lives as long as the test and fails it in the end for
// each of its Problems.
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
		login: c.Login, routes: routes(), clock: clock, repos: map[string]*state.Repository{},
		credentials: credentials{token: c.Token, app: c.App, clock: clock, tokens: map[string]issued{}},
	}
	if !c.SkipValidation {
		checker, err := newChecker()
		if err != nil {
			return nil, fmt.Errorf("load the OpenAPI description: %w", err)
		}
		s.checker = checker
	}
	var err error
	if s.Server, err = loopback.Start(loopback.Options{Addr: c.Addr, Handler: s.serve, OnFault: s.fault}); err != nil {
		return nil, fmt.Errorf("start the fake GitHub: %w", err)
	}
	return s, nil
}

// serve answers one call.
func (s *Server) serve(r *http.Request, c loopback.Call) loopback.Answer {
	a, checked := s.answer(r, c.Body)
	if !checked {
		s.check(r, c.Body, &a)
	}
	return s.finish(r, a)
}

// fault answers a call that a fault with a status hits. The fault's answer is not
// compared with the description.
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

// finish adds the headers that every answer has: how many calls are left, and the date.
func (s *Server) finish(r *http.Request, a answer) loopback.Answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.budget.spend(r, a)
	return a.encode(s.clock.Now())
}

// answer makes the answer to a call; checked is true when it is not to be compared
// with the description.
func (s *Server) answer(r *http.Request, body []byte) (a answer, checked bool) {
	if refusal, ok := s.authorize(r); !ok {
		return refusal, false
	}
	handle, vars := find(s.routes, r)
	if handle == nil {
		s.Problem("%s %s: the fake has no such route", r.Method, r.URL.EscapedPath())
		return failure(http.StatusNotImplemented, "githubtest has no such route"), true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	counts := r.URL.Path != graphQLPath // which has a limit of its own
	if a, refused := s.limit.refuse(s.clock); counts && refused {
		return a, true
	}
	in := &input{clock: s.clock, repos: s.repos, credentials: &s.credentials, actor: s.login, r: r, body: body, vars: vars}
	a = conditional(r, handle(in))
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
