// Package resultstest is the results service of GitHub Actions for tests, with the REST API that
// lists artifacts: a server on loopback that keeps state as GitHub does, records its calls in
// order, and injects faults.
//
// It implements the artifact service and version 2 of the cache service (Twirp with JSON), version
// 1 of the cache service, and the storage behind signed addresses. It is strict: a call that
// GitHub's own clients do not make is a problem. A server made with [New] fails its test for each
// problem.
package resultstest

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/org/foreman-action/internal/testkit/loopback"
)

// A Fault makes some of the calls fail. If neither Nth nor Times is set, only the first call fails.
type Fault = loopback.Fault

// A Server is a fake service. All its methods are safe for concurrent use.
type Server struct {
	// URL, a field of the loopback server, is the root of all services: the value for
	// ACTIONS_RESULTS_URL, ACTIONS_CACHE_URL and GITHUB_API_URL, without a trailing slash.
	*loopback.Server

	config Config

	mu        sync.Mutex // guards the fields below
	ids       ids
	jobs      map[string]Job // by runtime token
	denied    map[Denial]bool
	storage   *storage
	artifacts *artifacts
	caches    *caches
}

// New starts a server that is closed at the end of the test. The test fails for each of the
// server's Problems.
func New(tb testing.TB, c Config) *Server {
	tb.Helper()
	s, err := Start(c)
	if err != nil {
		tb.Fatal(err)
	}
	s.CloseAfter(tb, "resultstest")
	return s
}

// Start starts a server; the caller closes it.
func Start(c Config) (*Server, error) {
	c.Repo = cmp.Or(c.Repo, "org/repo")
	c.RepositoryID = cmp.Or(c.RepositoryID, 1001)
	c.Branch = cmp.Or(c.Branch, "main")
	if c.Now == nil {
		c.Now = func() time.Time { return time.Date(2026, 4, 10, 8, 30, 0, 0, time.UTC) }
	}
	s := &Server{config: c, jobs: map[string]Job{}, denied: map[Denial]bool{}}
	s.storage = &storage{ids: &s.ids, blobs: map[int64]*blob{}}
	s.artifacts = &artifacts{config: c, ids: &s.ids, storage: s.storage, denied: s.denied}
	s.caches = &caches{ids: &s.ids, storage: s.storage, denied: s.denied}
	var err error
	if s.Server, err = loopback.Start(loopback.Options{Addr: c.Addr, MaxBody: 4 << 20, Handler: s.serve}); err != nil {
		return nil, fmt.Errorf("start the results service: %w", err)
	}
	s.storage.url = s.URL
	return s, nil
}

// Front serves GitHub's REST API at one address, the value for GITHUB_API_URL. s answers calls
// about artifacts, with any token, and github answers all other calls. The caller closes the
// server.
func (s *Server) Front(github http.Handler) *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.Contains(r.URL.Path, "/actions/artifacts") && !strings.HasPrefix(r.URL.Path, "/repos/"+s.config.Repo+"/branches/") {
			github.ServeHTTP(w, r)
			return
		}
		r.Header.Set("Authorization", "Bearer "+s.RESTToken())
		s.ServeHTTP(w, r)
	}))
}

func (s *Server) serve(r *http.Request, c loopback.Call) loopback.Answer {
	if c.Err != nil {
		return loopback.Answer{Cut: loopback.BeforeHeaders}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.route(request{Request: r, body: c.Body})
	if a.problem != "" {
		text := r.Method + " " + r.URL.Path + ": " + a.problem
		s.Problem("%s", text)
		refused := failure(http.StatusBadRequest, "malformed", text)
		maps.Copy(refused.header, a.header)
		a = refused
	}
	return loopback.Answer{Status: a.status, Header: a.header, Body: a.body}
}

// branch answers a request for a branch of the REST API as GitHub does after the default branch was
// renamed. No other branch exists.
func (s *Server) branch(r request, escaped string) answer {
	switch {
	case r.Header.Get("Authorization") != "Bearer "+restToken():
		return refusal(http.StatusUnauthorized, "Bad credentials")
	case s.denied[ContentsRead]:
		return refusal(http.StatusForbidden, "Resource not accessible by integration")
	case s.config.Renamed == "" || escaped != url.PathEscape(s.config.Renamed):
		return refusal(http.StatusNotFound, "Branch not found")
	}
	to := s.URL + "/repositories/" + strconv.FormatInt(s.config.RepositoryID, 10) + "/branches/" + url.PathEscape(s.config.Branch)
	return answer{status: http.StatusMovedPermanently, header: http.Header{"Location": {to}}}
}

// route selects the service that answers a call.
func (s *Server) route(r request) answer {
	if strings.HasPrefix(r.URL.Path, "/blob/") {
		return s.storage.serve(r)
	}
	if path, ok := strings.CutPrefix(r.URL.Path, "/repos/"+s.config.Repo+"/actions/artifacts"); ok {
		return s.artifacts.rest(r, path)
	}
	if branch, ok := strings.CutPrefix(r.URL.EscapedPath(), "/repos/"+s.config.Repo+"/branches/"); ok {
		return s.branch(r, branch)
	}
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	path, isTwirp := strings.CutPrefix(r.URL.Path, "/twirp/github.actions.results.api.v1.")
	cachePath, isCache := strings.CutPrefix(r.URL.Path, "/_apis/artifactcache/")
	job, ok := s.jobs[token]
	r.job = job
	switch {
	case strings.HasPrefix(r.URL.Path, "/repos/"):
		return problem("there is no such route")
	case !ok:
		return failure(http.StatusUnauthorized, "unauthenticated", "no job has this token")
	case isTwirp:
		methods := s.artifacts.methods()
		maps.Copy(methods, s.caches.methods())
		return twirp(r, methods[path], s.config.CamelCase)
	case isCache:
		return s.caches.serveV1(r, cachePath)
	}
	return problem("there is no such route")
}
