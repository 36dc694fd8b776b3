package api

import (
	"net/http"
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/server/access"
	"github.com/org/foreman-action/internal/server/intake"
	"github.com/org/foreman-action/internal/server/response"
)

// A route is one path of the API.
type route struct {
	methods []string
	role    access.Role
	handle  handlerFunc
}

// A handlerFunc answers a request, or returns an error before it wrote anything.
type handlerFunc func(w http.ResponseWriter, r *http.Request, caller access.Caller) error

// An authorizeFunc returns the sender of a request if it has a role.
type authorizeFunc func(r *http.Request, role access.Role) (access.Caller, error)

// handlers are the handlers of the routes.
type handlers struct {
	agents    http.Handler // gets the sender by access.CallerOf
	operators *operatorHandler
	health    *healthHandler
	webhook   *intake.Webhook
	metrics   http.Handler // nil: none
}

// routes are the paths of the API, without a slash at the end.
type routes map[string]*route

// taskPath is the prefix of paths that contain a task's id.
const taskPath = "/queue/tasks/"

// newRoutes returns the table of all routes.
func newRoutes(h handlers) routes {
	get, post := []string{http.MethodGet, http.MethodHead}, []string{http.MethodPost}
	t := routes{
		"/queue/status":             {get, access.Operators, h.operators.status},
		taskPath + "{id}/retry":     {post, access.Operators, h.operators.retry},
		taskPath + "{id}/ask-again": {post, access.Operators, h.operators.askAgain},
		taskPath + "{id}/cancel":    {post, access.Operators, h.operators.cancel},
		"/server/reload":            {post, access.Operators, h.operators.reload},
		"/healthcheck":              {get, access.Anyone, h.health.alive},
		"/healthcheck/ready":        {get, access.Anyone, h.health.ready},
		"/github/webhook":           {post, access.Anyone, func(w http.ResponseWriter, r *http.Request, _ access.Caller) error { return h.webhook.Handle(w, r) }},
	}
	for _, path := range agentPaths {
		t[path] = &route{post, access.Agents, func(w http.ResponseWriter, r *http.Request, caller access.Caller) error {
			h.agents.ServeHTTP(w, caller.With(r))
			return nil
		}}
	}
	if h.metrics != nil {
		t["/metrics"] = &route{get, access.Operators, func(w http.ResponseWriter, r *http.Request, _ access.Caller) error {
			h.metrics.ServeHTTP(w, r)
			return nil
		}}
	}
	return t
}

// reserved reports whether a path belongs to the API. The dashboard does not get unknown paths
// below it.
func reserved(path string) bool {
	first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return slices.Contains([]string{"queue", "harness", "healthcheck", "github", "metrics", "server"}, first)
}

// find returns the route of a request, and sets its path value "id"; nil: no such route. It ignores
// one slash at the end of the path, because clients do not follow redirects of a POST.
// http.ServeMux would redirect, so it is not used.
func (t routes) find(r *http.Request) *route {
	path := strings.TrimSuffix(r.URL.Path, "/")
	rest, ok := strings.CutPrefix(path, taskPath)
	if !ok {
		return t[path]
	}
	id, action, _ := strings.Cut(rest, "/")
	if id == "" {
		return nil
	}
	r.SetPathValue("id", id)
	return t[taskPath+"{id}/"+action]
}

// checkMethod returns an error of type *response.Error unless the route has the method.
func (t *route) checkMethod(method string) error {
	if slices.Contains(t.methods, method) {
		return nil
	}
	return &response.Error{
		Status: http.StatusMethodNotAllowed, Detail: "Method Not Allowed",
		Header: http.Header{"Allow": {strings.Join(t.methods, ", ")}},
	}
}
