// Package githubtest is a GitHub for tests: a server on loopback that keeps state as
// GitHub does, records the calls it gets in order, and fails when it is told to.
//
// Every request that it gets and every answer that it gives is held against
// GitHub's own OpenAPI description; what does not fit is a problem, and a server
// made with [New] fails its test for each. It reproduces what callers trip over:
// adding a label that does not exist creates it, names match without regard to
// case, closing twice does nothing, and who cannot be assigned is dropped silently.
package githubtest

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/org/foreman-action/internal/github/githubtest/internal/state"
)

const (
	defaultLogin = "github-actions[bot]"
	maxBody      = 8 << 20
)

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
	// Login is who the token belongs to, the author of what is written; empty means
	// "github-actions[bot]", or the App's.
	Login string
	// Now tells the time of what is written; nil means [time.Now].
	Now func() time.Time
}

// A Server is a fake GitHub. All its methods are safe for concurrent use.
type Server struct {
	// URL is the API's root, without a trailing slash.
	URL string

	login   string // who calls
	http    *httptest.Server
	routes  []route
	checker *checker // nil: no validation
	closed  chan struct{}
	once    sync.Once

	mu          sync.Mutex // guards what follows, and the repositories
	clock       *state.Clock
	repos       map[string]*state.Repository
	credentials credentials
	calls       []*Call
	faults      faults
	limit       limit
	budget      budget
	problems    []string
}

// New starts a server that lives as long as the test and fails it in the end for
// each of its [Server.Problems].
func New(tb testing.TB, c Config) *Server {
	tb.Helper()
	s, err := Start(c)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		s.Close()
		for _, p := range s.Problems() {
			tb.Errorf("githubtest: %s", p)
		}
	})
	return s
}

// Start starts a server without a test; the caller closes it.
func Start(c Config) (*Server, error) {
	if c.Addr == "" {
		c.Addr = "127.0.0.1:0"
	}
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
		login: c.Login, closed: make(chan struct{}), clock: clock, repos: map[string]*state.Repository{},
		credentials: credentials{token: c.Token, app: c.App, clock: clock, tokens: map[string]issued{}}, faults: faults{cutAt: -1},
	}
	if !c.SkipValidation {
		checker, err := newChecker()
		if err != nil {
			return nil, fmt.Errorf("load the OpenAPI description: %w", err)
		}
		s.checker = checker
	}
	s.routes = routes()
	listener, err := net.Listen("tcp", c.Addr)
	if err != nil {
		return nil, fmt.Errorf("start the fake GitHub: %w", err)
	}
	s.http = &httptest.Server{Listener: listener, Config: &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}}
	s.http.Start()
	s.URL = s.http.URL
	return s, nil
}

// Close stops the server and lets go of calls that a fault holds.
func (s *Server) Close() {
	s.once.Do(func() {
		close(s.closed)
		s.http.Close()
	})
}

// ServeHTTP answers one call.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err != nil {
		return // the caller hung up
	}
	c, f := s.arrive(r, body)
	if !f.hold(r.Context(), s.closed) || f.CutBefore {
		s.record(c, 0, true)
		panic(http.ErrAbortHandler)
	}
	a, checked := s.answer(r, body, f)
	if !checked {
		s.check(r, body, &a)
	}
	s.spend(r, a)
	s.record(c, a.status, f.CutAfter)
	if f.CutAfter {
		panic(http.ErrAbortHandler)
	}
	w.Header().Set("Date", s.date())
	a.write(w)
}

// arrive records a call, and returns it and the fault that it meets.
func (s *Server) arrive(r *http.Request, body []byte) (*Call, Fault) {
	c := newCall(r, body)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, c)
	return c, s.faults.meet(c)
}

func (s *Server) record(c *Call, status int, cut bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.Status, c.Cut = status, cut
}

// spend writes into an answer how many calls are left.
func (s *Server) spend(r *http.Request, a answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.budget.spend(r, a)
}

// date is the time as the header of that name has it.
func (s *Server) date() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.clock.Now().Format(http.TimeFormat)
}

// answer makes the answer to a call. checked says that it is a fault's own and not
// to be compared with the description.
func (s *Server) answer(r *http.Request, body []byte, f Fault) (a answer, checked bool) {
	if f.Status != 0 {
		s.check(r, body, nil)
		return f.answer(), true
	}
	if refusal, ok := s.authorize(r); !ok {
		return refusal, false
	}
	handle, vars := find(s.routes, r)
	if handle == nil {
		s.problem("%s %s: the fake has no such route", r.Method, r.URL.EscapedPath())
		return failure(http.StatusNotImplemented, "githubtest has no such route"), true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if a, refused := s.limit.refuse(s.clock); refused {
		return a, true
	}
	in := &input{clock: s.clock, repos: s.repos, credentials: &s.credentials, actor: s.login, r: r, body: body, vars: vars}
	a = conditional(r, handle(in))
	s.limit.account(a)
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
		s.problem("%s %s: %s", r.Method, r.URL.EscapedPath(), p)
	}
}

func (s *Server) problem(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.problems = append(s.problems, fmt.Sprintf(format, args...))
}
