package api

import (
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/server/access"
	"github.com/org/foreman-action/internal/server/bulk"
	"github.com/org/foreman-action/internal/server/intake"
	"github.com/org/foreman-action/internal/server/response"
)

// A route answers the requests for one pattern of the mux.
type route struct {
	role   access.Role
	handle handlerFunc
}

// A handlerFunc answers a request, or returns an error before it wrote anything.
type handlerFunc func(w http.ResponseWriter, r *http.Request, caller access.Caller) error

// An authorizeFunc returns the sender of a request if it has a role.
type authorizeFunc func(r *http.Request, role access.Role) (access.Caller, error)

// handlers are the handlers of the routes.
type handlers struct {
	agents    http.Handler // gets the sender by access.CallerOf
	operators *operatorHandler
	history   *historyHandler
	record    *recordHandler
	pauses    *pauseHandler
	drain     *drainHandler
	health    *healthHandler
	webhook   *intake.Webhook
	metrics   http.Handler // nil: none
}

// routes returns all routes of the API, by their patterns.
func (h handlers) routes() map[string]route {
	t := map[string]route{
		"GET /queue/status":                {access.Operators, h.operators.status},
		"GET /queue/tasks":                 {access.Operators, h.operators.list},
		"GET /queue/count":                 {access.Operators, h.operators.count},
		"POST /queue/bulk":                 {access.Operators, h.operators.bulk},
		"POST /queue/tasks/{id}/retry":     {access.Operators, h.operators.change(bulk.Retry)},
		"POST /queue/tasks/{id}/ask-again": {access.Operators, h.operators.change(bulk.AskAgain)},
		"POST /queue/tasks/{id}/cancel":    {access.Operators, h.operators.change(bulk.Cancel)},
		"GET /queue/history":               {access.Operators, h.history.series},
		"GET /queue/export":                {access.Operators, h.history.export},
		"GET /server/budget":               {access.Operators, h.operators.calls},
		"GET /server/track-record":         {access.Operators, h.record.report},
		"GET /server/pauses":               {access.Operators, h.pauses.list},
		"POST /server/pause":               {access.Operators, h.pauses.pause},
		"POST /server/resume":              {access.Operators, h.pauses.resume},
		"POST /server/drain":               {access.Operators, h.drain.start},
		"POST /server/reload":              {access.Operators, h.operators.reload},
		"GET /healthcheck":                 {access.Anyone, h.health.alive},
		"GET /healthcheck/ready":           {access.Anyone, h.health.ready},
		"GET /healthz":                     {access.Anyone, h.health.alive},
		"GET /livez":                       {access.Anyone, h.health.alive},
		"GET /readyz":                      {access.Anyone, h.health.ready},
		"POST /github/webhook":             {access.Anyone, func(w http.ResponseWriter, r *http.Request, _ access.Caller) error { return h.webhook.Handle(w, r) }},
	}
	for _, pattern := range agentPatterns {
		t[pattern] = route{access.Agents, func(w http.ResponseWriter, r *http.Request, caller access.Caller) error {
			h.agents.ServeHTTP(w, caller.With(r))
			return nil
		}}
	}
	if h.metrics != nil {
		t["GET /metrics"] = route{access.Operators, func(w http.ResponseWriter, r *http.Request, _ access.Caller) error {
			h.metrics.ServeHTTP(w, r)
			return nil
		}}
	}
	return t
}

// handle adds the routes to the mux.
func (s *Server) handle(routes map[string]route) {
	for pattern, route := range routes {
		s.mux.Handle(pattern, s.wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			setHeader(w)
			caller, err := s.authorize(r, route.role)
			if err == nil {
				err = route.handle(w, r, caller)
			}
			if err != nil {
				s.errors.write(w, r, err)
			}
		})))
	}
}

// setHeader sets the headers of every answer of the API.
func setHeader(w http.ResponseWriter) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
}

// dispatch passes a request to the mux, or to the dashboard if the mux has no pattern for its path.
func (s *Server) dispatch(w http.ResponseWriter, r *http.Request) {
	missing := &response.Error{Status: http.StatusNotFound, Detail: "Not Found"}
	if asked, ok := withoutSlash(r); ok {
		h, pattern := s.mux.Handler(asked)
		if pattern != "" {
			s.mux.ServeHTTP(w, asked)
			return
		}
		missing = response.Unmatched(h, asked)
	}
	if missing.Status == http.StatusNotFound && s.dashboard != nil && !reserved(r.URL.Path) {
		s.dashboard.ServeHTTP(w, r)
		return
	}
	r.Pattern = response.NoPattern
	s.wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		setHeader(w)
		s.errors.write(w, r, missing)
	})).ServeHTTP(w, r)
}

// reserved reports whether a path belongs to the API. The dashboard does not get unknown paths
// below it.
func reserved(path string) bool {
	first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return slices.Contains([]string{"queue", "harness", "healthcheck", "healthz", "livez", "readyz", "github", "metrics", "server"}, first)
}

// withoutSlash returns the request for a mux. Its path has no slash at the end, because a mux would
// redirect, and clients do not follow redirects of a POST. For the same reason it reports false for
// a path such as "//" or "/a/../b", which no route has.
func withoutSlash(r *http.Request) (*http.Request, bool) {
	trimmed := strings.TrimSuffix(r.URL.Path, "/")
	if trimmed == "" || path.Clean(trimmed) != trimmed {
		return nil, false
	}
	asked, u := *r, *r.URL
	u.Path, u.RawPath = trimmed, ""
	asked.URL = &u
	return &asked, true
}
