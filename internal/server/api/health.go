package api

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/org/foreman-action/internal/server/access"
	"github.com/org/foreman-action/internal/server/loglimit"
	"github.com/org/foreman-action/internal/server/response"
)

// healthCacheTime is how long the state of the dependencies is cached. Anyone may request
// it, and checking whether a database accepts writes is a write: a flood of requests would
// take all connections to the database from agents.
const healthCacheTime = time.Second

// A healthHandler answers whether the process lives and whether it is ready.
type healthHandler struct {
	check    func(ctx context.Context) map[string]error // nil: no dependencies
	note     func() string                              // nil: none
	now      func() time.Time
	warnings *loglimit.Limiter
	log      *slog.Logger

	mu      sync.Mutex
	checked time.Time // zero: never
	state   map[string]error
}

// alive answers as long as the process does.
func (h *healthHandler) alive(w http.ResponseWriter, r *http.Request, _ access.Caller) error {
	response.JSON(w, r, http.StatusOK, map[string]bool{"healthy": true})
	return nil
}

// A DegradedError means that a dependency fails without which the server still accepts events
// and serves agents: the server stays ready.
type DegradedError struct{ Err error }

// Error returns the text of the cause.
func (e *DegradedError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *DegradedError) Unwrap() error { return e.Err }

// ready answers whether the dependencies work. The errors of those that are down go to the log,
// once a minute.
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
			answer.Dependencies[name] = "degraded" // whoever finds that logs it
		} else if err != nil {
			answer.Dependencies[name] = "down"
			answer.Ready, status = false, http.StatusServiceUnavailable
			if h.warnings.Allow("not ready: " + name) {
				h.log.LogAttrs(r.Context(), slog.LevelWarn, "not ready", slog.String("dependency", name), slog.Any("error", err))
			}
		}
	}
	response.JSON(w, r, status, answer)
	return nil
}

// dependencies returns their errors by name. Of concurrent requests one checks them.
func (h *healthHandler) dependencies(ctx context.Context) map[string]error {
	if h.check == nil {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if age := h.now().Sub(h.checked); h.checked.IsZero() || age < 0 || age >= healthCacheTime {
		// Other requests wait for the result, even if this one's client disconnects.
		h.state = h.check(context.WithoutCancel(ctx))
		h.checked = h.now()
	}
	return h.state
}
