// Package agenttest is an HTTP agent for tests: it answers on a loopback address,
// records what it was asked, and misbehaves on request.
package agenttest

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"github.com/org/foreman-action/protocol"
)

// maxRequest bounds the body of a request that is recorded.
const maxRequest = 32 << 20

// A Request is one request as it came.
type Request struct {
	Method string
	URI    string // path and query, as sent
	Header http.Header
	Body   []byte
	// Task is the body decoded; Err says why it could not be, and then the handler
	// was not asked.
	Task protocol.TaskMessage
	Err  error
}

// A Server is a running agent. Its methods are safe for concurrent use.
type Server struct {
	// URL is the base address, such as "http://127.0.0.1:41234".
	URL string

	tb      testing.TB
	handler func(task protocol.TaskMessage) Answer
	closed  chan struct{}

	mu       sync.Mutex
	requests []Request
}

// New starts an agent that answers every POST, whatever its path, as handler says; a
// nil handler decides to skip. handler may be called concurrently and must return: an
// Answer, not the handler, is what holds bytes back. A request that holds no task gets
// status 422, another method 405. The agent stops with the test, and what it still
// holds back is let go.
func New(tb testing.TB, handler func(task protocol.TaskMessage) Answer) *Server {
	tb.Helper()
	if handler == nil {
		handler = func(protocol.TaskMessage) Answer { return Skip("nothing to do") }
	}
	s := &Server{tb: tb, handler: handler, closed: make(chan struct{})}
	srv := httptest.NewServer(http.HandlerFunc(s.serve))
	s.URL = srv.URL
	tb.Cleanup(func() {
		close(s.closed)
		srv.Close()
	})
	return s
}

// Requests returns what was received so far, in order.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Tasks returns the tasks received so far, in order, without requests that held none.
func (s *Server) Tasks() []protocol.TaskMessage {
	var tasks []protocol.TaskMessage
	for _, r := range s.Requests() {
		if r.Err == nil {
			tasks = append(tasks, r.Task)
		}
	}
	return tasks
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	got := Request{Method: r.Method, URI: r.URL.RequestURI(), Header: r.Header.Clone(), Body: body, Err: err}
	if err == nil {
		got.Task, got.Err = protocol.ParseTask(body)
	}
	s.mu.Lock()
	s.requests = append(s.requests, got)
	s.mu.Unlock()
	switch {
	case r.Method != http.MethodPost:
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, `{"detail":"Method Not Allowed"}`, http.StatusMethodNotAllowed)
	case got.Err != nil:
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnprocessableEntity)
		_ = json.NewEncoder(w).Encode(map[string]string{"detail": got.Err.Error()})
	default:
		s.answer(w, r, got.Task)
	}
}

// answer carries out an Answer, step by step.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, task protocol.TaskMessage) {
	a := s.handler(task)
	body, err := a.body(task)
	if err != nil {
		s.tb.Errorf("agenttest: encode the decision: %v", err)
	}
	if !s.wait(r, a.HoldHeaders) {
		return
	}
	if a.Cut == CutBeforeHeaders {
		// net/http closes the connection without a word.
		panic(http.ErrAbortHandler)
	}
	w.Header().Set("Content-Type", "application/json")
	maps.Copy(w.Header(), a.Header)
	w.WriteHeader(a.status())
	half := len(body) / 2
	if a.HoldBody == nil && a.Cut != CutInBody {
		half = len(body)
	}
	_, _ = w.Write(body[:half])
	_ = http.NewResponseController(w).Flush()
	if a.Cut == CutInBody {
		panic(http.ErrAbortHandler)
	}
	if s.wait(r, a.HoldBody) {
		_, _ = w.Write(body[half:])
	}
}

// wait returns true when gate is closed or nil, and false when the client or the
// server went away first.
func (s *Server) wait(r *http.Request, gate <-chan struct{}) bool {
	if gate == nil {
		return true
	}
	select {
	case <-gate:
		return true
	case <-r.Context().Done():
	case <-s.closed:
	}
	return false
}
