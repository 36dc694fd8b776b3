// Package resultstest is the results service of GitHub Actions for tests, with the
// REST API that lists artifacts: a server on loopback that keeps state as GitHub
// does, records the calls it gets in order, and fails when it is told to.
//
// It speaks the artifact service and version 2 of the cache service (Twirp with
// JSON), version 1 of the cache service, and the storage behind signed addresses.
// It is strict: what GitHub's own clients do not send is a problem, and a server
// made with [New] fails its test for each.
package resultstest

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

const maxBody = 4 << 20

// Config configures a [Server]. The zero value is the repository org/repo with the
// id 1001 and the default branch main.
type Config struct {
	Addr         string // to listen on; empty: 127.0.0.1:0
	Repo         string // "owner/name"
	RepositoryID int64
	Branch       string // the default branch

	// CamelCase answers with names like "signedUploadUrl", and with numbers as such;
	// without it names are like "signed_upload_url", and numbers are strings.
	CamelCase bool
	// Lenient lets a run upload an artifact anew whose upload was never finished.
	Lenient bool
}

// A Server is a fake service. All its methods are safe for concurrent use.
type Server struct {
	// URL is the root of everything: ACTIONS_RESULTS_URL, ACTIONS_CACHE_URL and
	// GITHUB_API_URL, without a trailing slash.
	URL string

	config Config
	http   *httptest.Server
	closed chan struct{}
	once   sync.Once

	mu        sync.Mutex // guards what follows
	lastID    int64
	jobs      map[string]Job // by runtime token
	denied    map[Denial]bool
	artifacts []*artifact
	caches    []*entry
	blobs     map[int64]*blob
	calls     []Call
	faults    []*fault
	problems  []string
}

// A Call is a request as it came.
type Call struct {
	Method string
	Path   string // escaped, with the query
	Header http.Header
	Body   []byte
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
			tb.Errorf("resultstest: %s", p)
		}
	})
	return s
}

// Start starts a server; the caller closes it.
func Start(c Config) (*Server, error) {
	if c.Addr == "" {
		c.Addr = "127.0.0.1:0"
	}
	if c.Repo == "" {
		c.Repo = "org/repo"
	}
	if c.RepositoryID == 0 {
		c.RepositoryID = 1001
	}
	if c.Branch == "" {
		c.Branch = "main"
	}
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", c.Addr)
	if err != nil {
		return nil, fmt.Errorf("start the results service: %w", err)
	}
	s := &Server{
		config: c, closed: make(chan struct{}), jobs: map[string]Job{}, denied: map[Denial]bool{}, blobs: map[int64]*blob{},
	}
	s.http = &httptest.Server{Listener: l, Config: &http.Server{Handler: http.HandlerFunc(s.serve), ReadHeaderTimeout: time.Minute}}
	s.http.Start()
	s.URL = s.http.URL
	return s, nil
}

// Close stops the server; calls that are held end.
func (s *Server) Close() {
	s.once.Do(func() {
		close(s.closed)
		s.http.Close()
	})
}

// Repo returns the name of the repository.
func (s *Server) Repo() string { return s.config.Repo }

// RepositoryID returns the id of the repository.
func (s *Server) RepositoryID() int64 { return s.config.RepositoryID }

// Branch returns the default branch.
func (s *Server) Branch() string { return s.config.Branch }

// Calls returns the calls so far, in order.
func (s *Server) Calls() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}

// Problems returns what clients did that GitHub's own do not do.
func (s *Server) Problems() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.problems)
}

// id returns the next id. The caller holds s.mu.
func (s *Server) id() int64 {
	s.lastID++
	return s.lastID
}

// A request is a call on its way through the routes; s.mu is held meanwhile.
type request struct {
	*http.Request
	s    *Server
	body []byte
	job  Job
}

// An answer is what a route returns.
type answer struct {
	status int
	header map[string]string
	body   []byte
}

// problem notes what is wrong with a request, and refuses it.
func (r *request) problem(format string, args ...any) answer {
	text := r.Method + " " + r.URL.Path + ": " + fmt.Sprintf(format, args...)
	r.s.problems = append(r.s.problems, text)
	return failure(http.StatusBadRequest, "malformed", text)
}

func (s *Server) serve(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(io.LimitReader(req.Body, maxBody))
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	s.mu.Lock()
	s.calls = append(s.calls, Call{req.Method, req.URL.RequestURI(), req.Header.Clone(), body})
	f := s.meet(req)
	s.mu.Unlock()
	if !f.hold(req.Context(), s.closed) || f.CutBefore {
		panic(http.ErrAbortHandler)
	}
	a := answer{f.Status, f.Header, []byte(f.Body)}
	if f.Status == 0 {
		a = s.route(&request{Request: req, s: s, body: body})
	}
	if f.CutAfter {
		panic(http.ErrAbortHandler)
	}
	for k, v := range a.header {
		w.Header().Set(k, v)
	}
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body)
}

// route finds who answers.
func (s *Server) route(r *request) answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	path := r.URL.Path
	switch {
	case strings.HasPrefix(path, "/blob/"):
		return r.blob()
	case strings.HasPrefix(path, "/repos/"):
		return r.rest()
	}
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	job, ok := s.jobs[token]
	if !ok {
		return failure(http.StatusUnauthorized, "unauthenticated", "no job has this token")
	}
	r.job = job
	if method, ok := strings.CutPrefix(path, "/twirp/github.actions.results.api.v1."); ok {
		return r.twirp(method)
	}
	if rest, ok := strings.CutPrefix(path, "/_apis/artifactcache/"); ok {
		return r.cacheV1(rest)
	}
	return r.problem("there is no such route")
}
