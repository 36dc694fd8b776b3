package api_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/org/foreman-action/internal/server/api"
	"github.com/org/foreman-action/queue"
)

// A failing queue cannot be written after some tasks were cancelled.
type failing struct {
	queue.Queue

	left atomic.Int32
}

func (f *failing) Cancel(ctx context.Context, t queue.Seen, by string) error {
	if f.left.Add(-1) < 0 {
		return queue.ErrUnavailable
	}
	return f.Queue.Cancel(ctx, t, by)
}

// TestBulkInterrupted checks that an act which the store interrupts answers with what was done, and where to
// continue.
func TestBulkInterrupted(t *testing.T) {
	t.Parallel()
	for changed, want := range map[int32]string{0: `{"detail":"the queue cannot be written now; try again"}`, 3: `"error":"the queue cannot be written now; try again"`} {
		q := &failing{Queue: queue.New(queue.Options{})}
		q.left.Store(changed)
		for n := range 40 {
			enqueue(t, q.Queue, n+1, 0)
		}
		s, err := api.New(api.Options{Queue: q})
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://localhost/queue/bulk", strings.NewReader(`{"verb":"cancel","filter":{"state":"pending"}}`))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		body := w.Body.String()
		if status := map[int32]int{0: http.StatusServiceUnavailable, 3: http.StatusOK}[changed]; w.Code != status || !strings.Contains(body, want) {
			t.Errorf("after %d: got %d %s", changed, w.Code, body)
		}
		if changed > 0 && (!strings.Contains(body, `"changed":3,`) || strings.Contains(body, `"next":null`)) {
			t.Errorf("got %s", body)
		}
	}
}
