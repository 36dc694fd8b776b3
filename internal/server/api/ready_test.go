package api_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/org/foreman-action/internal/server/api"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/queue/queuetest"
)

// TestReadyOften requests readiness many times. The dependencies are checked once a second. If the
// first client disconnects, the others still get the right answer.
func TestReadyOften(t *testing.T) {
	t.Parallel()
	clock := queuetest.NewClock()
	var asked atomic.Int64
	s, err := api.New(api.Options{Queue: queue.New(queue.Options{}), Now: clock.Now, Health: func(ctx context.Context) map[string]error {
		asked.Add(1)
		return map[string]error{"queue": ctx.Err()}
	}})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(ctx context.Context) {
		w := httptest.NewRecorder()
		if s.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, "/healthcheck/ready", nil)); w.Code != http.StatusOK {
			t.Errorf("got %d: %s", w.Code, w.Body)
		}
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	for second := range int64(3) {
		ask(gone)
		var all sync.WaitGroup
		for range 100 {
			all.Go(func() { ask(t.Context()) })
		}
		all.Wait()
		if got := asked.Load(); got != second+1 {
			t.Errorf("in second %d the dependencies were asked %d times in all, want once in each", second+1, got)
		}
		clock.Advance(time.Second)
	}
}

// TestReadyDegraded stays ready while a dependency is degraded.
func TestReadyDegraded(t *testing.T) {
	t.Parallel()
	s, err := api.New(api.Options{Queue: queue.New(queue.Options{}), Health: func(context.Context) map[string]error {
		return map[string]error{"queue": nil, "github": fmt.Errorf("check: %w", &api.DegradedError{Err: errors.New("revoked")})}
	}})
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/healthcheck/ready", nil))
	want := `{"ready":true,"dependencies":{"github":"degraded","queue":"ok"}}`
	if got := strings.TrimSpace(w.Body.String()); w.Code != http.StatusOK || got != want {
		t.Errorf("got %d %s, want %s", w.Code, got, want)
	}
}
