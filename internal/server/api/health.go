package api

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/org/foreman-action/internal/server/access"
	"github.com/org/foreman-action/internal/server/drain"
	"github.com/org/foreman-action/internal/server/loglimit"
	"github.com/org/foreman-action/internal/server/response"
)

// healthCacheTime is how long the state of the dependencies is cached. Anyone may request it, and
// the check of a database includes a write. Without the cache, a flood of requests would use up the
// database connections that agents need.
const healthCacheTime = time.Second

// A healthHandler answers whether the process lives and whether it is ready.
type healthHandler struct {
	check    func(ctx context.Context) map[string]error // nil: no dependencies
	drainer  *drain.Drainer                             // nil: none
	note     func() string                              // nil: none
	now      func() time.Time
	warnings *loglimit.Limiter
	log      *slog.Logger

	mu      sync.Mutex
	checked time.Time // zero: never
	state   map[string]error
}

// alive always answers that the process is alive.
func (h *healthHandler) alive(w http.ResponseWriter, r *http.Request, _ access.Caller) error {
	response.JSON(w, r, http.StatusOK, map[string]bool{"healthy": true})
	return nil
}

// A DegradedError means that a dependency failed, but the server still accepts events and serves
// agents. The server stays ready.
type DegradedError struct{ Err error }

// Error returns the text of the cause.
func (e *DegradedError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *DegradedError) Unwrap() error { return e.Err }

// ready answers whether the dependencies work. It logs the errors of failed dependencies once a
// minute.
func (h *healthHandler) ready(w http.ResponseWriter, r *http.Request, _ access.Caller) error {
	answer := struct {
		Ready        bool              `json:"ready"`
		Dependencies map[string]string `json:"dependencies"`
		Note         string            `json:"note,omitempty"`
	}{Ready: true, Dependencies: map[string]string{}}
	if h.note != nil {
		answer.Note = h.note()
	}
	status := http.StatusOK
	for name, err := range h.dependencies(r.Context()) {
		answer.Dependencies[name] = "ok"
		if _, degraded := errors.AsType[*DegradedError](err); degraded {
			answer.Dependencies[name] = "degraded" // the check that found it has logged it
		} else if err != nil {
			answer.Dependencies[name] = "down"
			answer.Ready, status = false, http.StatusServiceUnavailable
			if h.warnings.Allow("not ready: " + name) {
				h.log.LogAttrs(r.Context(), slog.LevelWarn, "not ready", slog.String("dependency", name), slog.Any("error", err))
			}
		}
	}
	if h.drainer != nil && h.drainer.Begun() { // so that a load balancer sends events and agents to other servers
		answer.Ready, answer.Note, status = false, "draining", http.StatusServiceUnavailable
	}
	response.JSON(w, r, status, answer)
	return nil
}

// dependencies returns the errors of the dependencies by name. If several requests arrive at once,
// only one of them runs the check.
func (h *healthHandler) dependencies(ctx context.Context) map[string]error {
	if h.check == nil {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if age := h.now().Sub(h.checked); h.checked.IsZero() || age < 0 || age >= healthCacheTime {
		// Other requests wait for this result, so the check continues if this client disconnects.
		h.state = h.check(context.WithoutCancel(ctx))
		h.checked = h.now()
	}
	return h.state
}
