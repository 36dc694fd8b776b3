package agent_test

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/org/foreman-action/agent"
	"github.com/org/foreman-action/protocol"
)

// A harness is a harness's queue in memory, which uses the clock of the test. It is also a
// transport, so that requests reach it without a network.
type harness struct {
	lease time.Duration
	// Duration of a claim as sent to the agent; 0: lease.
	seconds int
	// It sends no claims, like the published harness.
	published bool
	// Status to answer with; -1: no connection; 0: no fault.
	fault func(path string) int
	// Header of the answer with the status of fault; nil: none.
	faultHeader func() http.Header
	hold        func(ctx context.Context, path string) error // called before a request is handled
	mu          sync.Mutex
	tasks       []*queued
	calls       []string // paths, in order
	header      http.Header
}

type queued struct {
	id       string
	attempt  int
	until    time.Time // zero: pending
	decision json.RawMessage
}

func newHarness(ids ...string) *harness {
	h := &harness{lease: 30 * time.Second}
	h.add(ids...)
	return h
}

func (h *harness) add(ids ...string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, id := range ids {
		h.tasks = append(h.tasks, &queued{id: id})
	}
}

// locked calls f while no request is handled.
func (h *harness) locked(f func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f()
}

// count returns how often a path was called.
func (h *harness) count(path string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := 0
	for _, c := range h.calls {
		if c == path {
			n++
		}
	}
	return n
}

// decided returns the ids of the tasks with a decision.
func (h *harness) decided() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var ids []string
	for _, q := range h.tasks {
		if q.decision != nil {
			ids = append(ids, q.id)
		}
	}
	return ids
}

func (h *harness) RoundTrip(req *http.Request) (*http.Response, error) {
	if h.hold != nil {
		if err := h.hold(req.Context(), strings.TrimPrefix(req.URL.RequestURI(), "/base")); err != nil {
			return nil, err
		}
	}
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	status := 0
	if h.fault != nil {
		h.locked(func() { status = h.fault(strings.TrimPrefix(req.URL.Path, "/base")) })
	}
	if status < 0 {
		return nil, io.ErrUnexpectedEOF
	}
	w := httptest.NewRecorder()
	if status > 0 {
		if h.faultHeader != nil {
			maps.Copy(w.Header(), h.faultHeader())
		}
		w.WriteHeader(status)
		return w.Result(), nil
	}
	h.ServeHTTP(w, req)
	return w.Result(), nil
}

func (h *harness) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body struct {
		AgentURL string `json:"agent_url"`
		TaskID   string `json:"task_id"`
		Attempt  int    `json:"attempt"`
	}
	data, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(data, &body)
	}
	if err != nil {
		w.WriteHeader(http.StatusUnprocessableEntity)
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	r.URL.Path = strings.TrimPrefix(r.URL.Path, "/base")
	h.calls = append(h.calls, r.URL.Path)
	h.header = r.Header
	if r.URL.Path == "/queue/next" {
		h.next(w)
		return
	}
	i := slices.IndexFunc(h.tasks, func(q *queued) bool { return q.id == body.TaskID })
	w.WriteHeader(h.change(r.URL.Path, i, body.Attempt, data))
}

func (h *harness) next(w http.ResponseWriter) {
	now := time.Now()
	for _, q := range h.tasks {
		if q.decision != nil || now.Before(q.until) {
			continue
		}
		q.attempt++
		q.until = now.Add(h.lease)
		task := theTask()
		task.TaskID = q.id
		if !h.published {
			task.Claim = &protocol.TaskClaim{Attempt: q.attempt, Lease: cmp.Or(h.seconds, int(h.lease/time.Second))}
		}
		data, err := protocol.Encode(task)
		if err != nil {
			panic(err)
		}
		_, _ = w.Write(data)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func (h *harness) change(path string, i, attempt int, data []byte) int {
	if i < 0 || path == "/harness/result" {
		return http.StatusAccepted
	}
	q := h.tasks[i]
	late := attempt > 0 && (attempt != q.attempt || q.decision != nil && path == "/queue/heartbeat")
	switch {
	case late:
		return http.StatusConflict
	case path == "/queue/heartbeat":
		q.until = time.Now().Add(h.lease)
	case path == "/queue/complete" && q.decision == nil:
		q.decision = data
	}
	return http.StatusAccepted
}

// newClient returns a client of the harness, or ends the test.
func newClient(tb testing.TB, o agent.ClientOptions) *agent.Client {
	tb.Helper()
	if o.URL == "" {
		o.URL = "http://harness/base"
	}
	if o.AgentURL == "" {
		o.AgentURL = "http://agent:9001"
	}
	c, err := agent.NewClient(o)
	if err != nil {
		tb.Fatalf("NewClient: %v", err)
	}
	return c
}
