// Package llmtest is a model service for tests: a loopback server with the API of one provider. It
// rejects incorrect requests as the provider would, and can simulate failures.
package llmtest

import (
	"errors"
	"net/http"
	"sync"
	"testing"

	"github.com/org/foreman-action/internal/testkit/loopback"
)

// Key is the only API key that a [Server] accepts.
const Key = "sk-llmtest-0123456789abcdef"

// The providers, as package llm names them.
const (
	Anthropic = "anthropic"
	OpenAI    = "openai"
	Ollama    = "ollama"
)

// maxRequest bounds the body of a request.
const maxRequest = 1 << 20

// A Request is one request as it was received.
type Request struct {
	Method string
	URI    string // path and query, as sent
	Header http.Header
	Body   []byte
	// Model, System, Text and MaxTokens are the fields of the body. Err is the first error in the
	// request. If it is not nil, the request did not reach the answer function, and the fields may
	// be empty.
	Model, System, Text string
	MaxTokens           int
	Err                 error
}

// A Server is a running service. Its methods are safe for concurrent use.
type Server struct {
	// URL is the base URL to give to a client, such as "http://127.0.0.1:41234".
	URL string

	wire wire
	http *loopback.Server
}

// New starts a service with the API of a provider. answer returns the answer to each correct
// request; nil means the text "Yes." An incorrect request gets the status and the error body that
// the provider would send. answer may be called concurrently. It must not block: [Answer.Hold]
// delays a response. The service stops with the test, and aborts unfinished responses.
func New(tb testing.TB, provider string, answer func(r Request) Answer) *Server {
	tb.Helper()
	w, ok := wireOf(provider)
	if !ok {
		tb.Fatalf("llmtest: no provider %q", provider)
	}
	if answer == nil {
		answer = func(Request) Answer { return Say("Yes.") }
	}
	srv := loopback.New(tb, loopback.Options{MaxBody: maxRequest, Handler: func(_ *http.Request, c loopback.Call) loopback.Answer {
		r := read(w, c)
		if f, ok := errors.AsType[*fault](r.Err); ok {
			a := Fail(f.status, f.name)
			a.Text = f.text
			return a.encode(w)
		}
		return answer(r).encode(w)
	}})
	return &Server{srv.URL, w, srv}
}

// InTurn returns the answers one after the other, and then repeats the last one.
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

// Requests returns the requests so far, in order.
func (s *Server) Requests() []Request {
	var out []Request
	for _, c := range s.http.Calls() {
		out = append(out, read(s.wire, c))
	}
	return out
}
