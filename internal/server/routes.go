package server

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
)

// A route is one path of the API.
type route struct {
	methods []string
	access  access
	serve   func(c *call) error
}

// A call is a request that is being answered.
type call struct {
	w   http.ResponseWriter
	r   *http.Request
	who *known // nil: no credential is needed
	id  string // of the task that the path names
}

// The bounds of bodies, in bytes.
const (
	maxSmall    = 64 << 10
	maxDecision = 8 << 20  // a comment on GitHub has 64 KiB at most; each byte costs ten while it is read
	maxWebhook  = 25 << 20 // GitHub sends no more
)

// table lists the paths, without a slash at the end.
func (s *Server) table() map[string]*route {
	get, post := []string{http.MethodGet, http.MethodHead}, []string{http.MethodPost}
	t := map[string]*route{
		"/queue/next":        {post, agents, s.next},
		"/queue/complete":    {post, agents, s.complete},
		"/queue/heartbeat":   {post, agents, s.heartbeat},
		"/harness/result":    {post, agents, s.result},
		"/healthcheck":       {get, anybody, s.alive},
		"/healthcheck/ready": {get, anybody, s.ready},
		"/github/webhook":    {post, anybody, s.webhook},
		"/queue/status":      {get, operators, s.status},
	}
	if s.o.Metrics != nil {
		t["/metrics"] = &route{get, operators, func(c *call) error { s.o.Metrics.ServeHTTP(c.w, c.r); return nil }}
	}
	return t
}

// verbs lists what can be done with a task: POST /queue/tasks/<id>/<verb>.
func (s *Server) verbs() map[string]*route {
	post := []string{http.MethodPost}
	return map[string]*route{
		"retry":  {post, operators, s.retry},
		"cancel": {post, operators, s.cancel},
	}
}

// find returns the route of a path, and the id of the task in it; nil: there is none. A
// slash more or less at the end is no other path: clients do not follow redirects.
func (s *Server) find(path string) (*route, string) {
	if r := s.routes[path]; r != nil {
		return r, ""
	}
	path = strings.TrimSuffix(path, "/")
	rest, ok := strings.CutPrefix(path, "/queue/tasks/")
	if !ok {
		return s.routes[path], ""
	}
	id, verb, _ := strings.Cut(rest, "/")
	if id == "" {
		return nil, ""
	}
	return s.tasks[verb], id
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer s.panicked(r)
	if r.Body != nil && r.ContentLength != 0 {
		b := s.bodies.begin(w, r.Body)
		defer b.leave()
		r.Body = b
	}
	route, id := s.find(r.URL.Path)
	if route == nil && s.o.Dashboard != nil && !ours(r.URL.Path) {
		s.dashboard(w, r)
		return
	}
	h := w.Header()
	h["X-Content-Type-Options"] = nosniff
	h["Cache-Control"] = noStore
	c := &call{w: w, r: r, id: id}
	if err := s.serve(c, route); err != nil {
		s.fail(c, err)
	}
}

// panicked tells the log of a panic, which net/http would do without saying what was asked,
// and among what is only told when everything is. The connection is cut off.
func (s *Server) panicked(r *http.Request) {
	v := recover()
	if v == nil {
		return
	}
	if err, ok := v.(error); !ok || !errors.Is(err, http.ErrAbortHandler) {
		s.log.LogAttrs(r.Context(), slog.LevelError, "panic while a request was answered", slog.String("method", shown(r.Method)),
			slog.String("path", shown(r.URL.Path)), slog.Any("error", v), slog.String("stack", string(debug.Stack())))
	}
	panic(http.ErrAbortHandler)
}

func (s *Server) serve(c *call, route *route) error {
	if route == nil {
		return &refusal{status: http.StatusNotFound, detail: "Not Found"}
	}
	if !slices.Contains(route.methods, c.r.Method) {
		return &refusal{
			status: http.StatusMethodNotAllowed, detail: "Method Not Allowed",
			header: http.Header{"Allow": {strings.Join(route.methods, ", ")}},
		}
	}
	who, err := s.admit(c.r, route.access)
	if err != nil {
		return err
	}
	c.who = who
	return route.serve(c)
}

// ours reports whether a path can only be the API's, so that what is unknown below it is
// no page that people look for.
func ours(path string) bool {
	first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return slices.Contains([]string{"queue", "harness", "healthcheck", "github", "metrics"}, first)
}

// dashboard hands a request on. Its streams must not keep the server from stopping.
func (s *Server) dashboard(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	go func() {
		select {
		case <-s.stopping:
			cancel()
		case <-ctx.Done():
		}
	}()
	s.o.Dashboard.ServeHTTP(w, r.WithContext(ctx))
}
