// Package llmtest is a model service for tests: it answers on a loopback address, on
// the wire of one provider, takes nothing but correct requests, and misbehaves on
// request.
package llmtest

import (
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
)

// Key is the only API key that a [Server] takes.
const Key = "sk-llmtest-0123456789abcdef"

// The providers, as package llm names them.
const (
	Anthropic = "anthropic"
	OpenAI    = "openai"
	Ollama    = "ollama"
)

// maxRequest bounds the body of a request.
const maxRequest = 1 << 20

// A Request is one request as it came.
type Request struct {
	Method string
	URI    string // path and query, as sent
	Header http.Header
	Body   []byte
	// What the body says. Err says what is wrong with the request; the model was not
	// asked then, and the others may be empty.
	Model, System, Text string
	MaxTokens           int
	Err                 error
}

// A Server is a running service. Its methods are safe for concurrent use.
type Server struct {
	// URL is the base URL to give to a client, such as "http://127.0.0.1:41234".
	URL string

	wire   wire
	answer func(r Request) Answer
	closed chan struct{}

	mu       sync.Mutex
	requests []Request
}

// New starts a service that speaks as a provider does, and answers each correct
// request as answer says; nil means that it says "Yes." Anything else gets the status
// and the error body that the provider would send. answer may be called concurrently
// and must return: an [Answer] is what holds bytes back. The service stops with the
// test, and what it still holds back is let go.
func New(tb testing.TB, provider string, answer func(r Request) Answer) *Server {
	tb.Helper()
	w, ok := wireOf(provider)
	if !ok {
		tb.Fatalf("llmtest: no provider %q", provider)
	}
	if answer == nil {
		answer = func(Request) Answer { return Say("Yes.") }
	}
	s := &Server{wire: w, answer: answer, closed: make(chan struct{})}
	srv := httptest.NewServer(http.HandlerFunc(s.serve))
	s.URL = srv.URL
	tb.Cleanup(func() {
		close(s.closed)
		srv.Close()
	})
	return s
}

// InTurn gives one answer after the other, and the last one for ever.
func InTurn(first Answer, then ...Answer) func(Request) Answer {
	var mu sync.Mutex
	list := append([]Answer{first}, then...)
	return func(Request) Answer {
		mu.Lock()
		defer mu.Unlock()
		a := list[0]
		if len(list) > 1 {
			list = list[1:]
		}
		return a
	}
}

// Requests returns what was received so far, in order.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	got := Request{Method: r.Method, URI: r.URL.RequestURI(), Header: r.Header.Clone(), Body: body}
	if err != nil {
		got.Err = &fault{http.StatusRequestEntityTooLarge, "request_too_large", err.Error()}
	} else {
		s.check(&got)
	}
	s.mu.Lock()
	s.requests = append(s.requests, got)
	s.mu.Unlock()
	if f, ok := errors.AsType[*fault](got.Err); ok {
		a := Fail(f.status, f.name)
		a.Text = f.text
		s.write(w, r, a)
		return
	}
	s.write(w, r, s.answer(got))
}

// write carries out an Answer, step by step.
func (s *Server) write(w http.ResponseWriter, r *http.Request, a Answer) {
	if !s.wait(r, a.Hold) {
		return
	}
	if a.Cut == BeforeHeaders {
		// net/http closes the connection without a word.
		panic(http.ErrAbortHandler)
	}
	w.Header().Set("Content-Type", "application/json")
	maps.Copy(w.Header(), a.Header)
	status := a.Status
	if status == 0 {
		status = http.StatusOK
	}
	w.WriteHeader(status)
	body := a.body(s.wire)
	half := len(body)
	if a.HoldBody != nil || a.Cut == InBody {
		half /= 2
	}
	_, _ = w.Write(body[:half])
	_ = http.NewResponseController(w).Flush()
	if a.Cut == InBody {
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
