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
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	apiURL       = "https://api.github.com" // in the url fields of answers, so that they do not depend on the port
	webURL       = "https://github.com"
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

	config  Config
	http    *httptest.Server
	routes  []route
	checker *checker // nil: no validation
	closed  chan struct{}
	once    sync.Once

	mu       sync.Mutex // guards what follows, and the repositories
	repos    map[string]*Repo
	ahead    time.Duration // of the server's clock before Config.Now
	spare    int           // calls that are left in the hour
	spends   bool          // they are counted
	lastID   int64
	lastOpen int64 // id of the last event of an issue's opening
	calls    []*Call
	faults   []*fault
	cutAt    int // calls left to serve; negative: no limit
	limit    limit
	tokens   map[string]issued // of the App's installations
	problems []string
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
	s := &Server{config: c, repos: map[string]*Repo{}, lastID: 1000, cutAt: -1, closed: make(chan struct{})}
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
	n, f := s.arrive(r, body)
	if !f.hold(r.Context(), s.closed) || f.CutBefore {
		s.record(n, 0, true)
		panic(http.ErrAbortHandler)
	}
	a, checked := s.answer(r, body, f)
	if !checked {
		s.check(r, body, &a)
	}
	s.spend(r, a)
	s.record(n, a.status, f.CutAfter)
	if f.CutAfter {
		panic(http.ErrAbortHandler)
	}
	w.Header().Set("Date", s.date())
	a.write(w)
}

// date is the time as the header of that name has it.
func (s *Server) date() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now().Format(http.TimeFormat)
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
	if a, refused := s.refuse(); refused {
		return a, true
	}
	a = conditional(r, handle(&input{Server: s, r: r, body: body, vars: vars}))
	s.account(&a)
	return a, false
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

// Problems returns what did not fit GitHub's description so far: requests, answers
// of the fake, and routes that it does not have.
func (s *Server) Problems() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.problems...)
}

// Repo returns the repository "owner/name", which is made on first use: public, with
// the issue types Bug, Feature and Task and nothing else.
func (s *Server) Repo(fullName string) *Repo {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := strings.ToLower(fullName)
	if r := s.repos[key]; r != nil {
		return r
	}
	owner, name, ok := strings.Cut(fullName, "/")
	if !ok {
		panic(fmt.Sprintf("githubtest: repository %q: want owner/name", fullName))
	}
	r := newRepo(s, owner, name)
	s.repos[key] = r
	return r
}

// Issue returns a copy of an issue as it is now; the zero Issue when there is none.
func (s *Server) Issue(fullName string, number int) Issue {
	r := s.Repo(fullName)
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := r.issues[number]; i != nil {
		return i.snapshot()
	}
	return Issue{}
}

// Advance moves the server's clock on: what happens from now on happens that much
// later than [Config].Now says. It adds to what was advanced before.
func (s *Server) Advance(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ahead += d
}

// SetBudget lets n more calls be told of in the hour: from now on each answer says one
// less. The search has a budget of its own, and no call is refused for want of one.
func (s *Server) SetBudget(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.spare, s.spends = n, true
}

// spend writes into an answer how many calls are left.
func (s *Server) spend(r *http.Request, a answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case a.header == nil:
	case strings.HasPrefix(r.URL.Path, "/search/"):
		a.header.Set("X-Ratelimit-Resource", "search")
		a.header.Set("X-Ratelimit-Remaining", "29")
	case s.spends:
		s.spare = max(s.spare-1, 0)
		a.header.Set("X-Ratelimit-Resource", "core")
		a.header.Set("X-Ratelimit-Remaining", strconv.Itoa(s.spare))
	}
}

// now is the time with the precision that GitHub keeps. The caller holds s.mu.
func (s *Server) now() time.Time { return s.config.Now().Add(s.ahead).UTC().Truncate(time.Second) }

// id returns a new id. The caller holds s.mu.
func (s *Server) id() int64 {
	s.lastID++
	return s.lastID
}

// openID returns a new id for an event of an issue's opening. These count apart from
// 1, so that an issue with more labels changes no other id. The caller holds s.mu.
func (s *Server) openID() int64 {
	s.lastOpen++
	return s.lastOpen
}
