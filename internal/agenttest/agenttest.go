// Package agenttest is an HTTP agent for tests: a server on loopback that records its
// requests, and injects faults.
package agenttest

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/org/foreman-action/internal/testkit/loopback"
	"github.com/org/foreman-action/protocol"
)

// A Request is one received request.
type Request struct {
	Method string
	URI    string // path and query, as sent
	Header http.Header
	Body   []byte
	// Task is the decoded body. Err is the error of reading or decoding it. After an error the
	// handler was not called.
	Task protocol.TaskMessage
	Err  error
}

// A Server is a running agent. Its methods are safe for concurrent use.
type Server struct {
	// URL is the base address, such as "http://127.0.0.1:41234".
	URL string

	http *loopback.Server
}

// New starts an agent. handler returns the answer to every POST, whatever its path; a nil handler
// decides to skip. handler may be called concurrently and must return. To delay bytes of an
// answer, use the fields of Answer. A request without a task gets status 422, a method other than
// POST gets 405. The agent stops when the test ends, and closes the connections of unfinished
// answers.
func New(tb testing.TB, handler func(task protocol.TaskMessage) Answer) *Server {
	tb.Helper()
	if handler == nil {
		handler = func(protocol.TaskMessage) Answer { return Skip("nothing to do") }
	}
	srv := loopback.New(tb, loopback.Options{Handler: func(_ *http.Request, c loopback.Call) loopback.Answer {
		r := request(c)
		switch {
		case r.Method != http.MethodPost:
			a := Status(http.StatusMethodNotAllowed, `{"detail":"Method Not Allowed"}`)
			a.Header = http.Header{"Allow": {http.MethodPost}}
			return a.encode(tb, r.Task)
		case r.Err != nil:
			detail, err := json.Marshal(map[string]string{"detail": r.Err.Error()})
			if err != nil {
				tb.Errorf("agenttest: encode the refusal: %v", err)
			}
			return Status(http.StatusUnprocessableEntity, string(detail)).encode(tb, r.Task)
		}
		return handler(r.Task).encode(tb, r.Task)
	}})
	return &Server{srv.URL, srv}
}

// request decodes a recorded request.
func request(c loopback.Call) Request {
	r := Request{Method: c.Method, URI: c.URI, Header: c.Header, Body: c.Body, Err: c.Err}
	if r.Err == nil {
		r.Task, r.Err = protocol.ParseTask(c.Body)
	}
	return r
}

// Requests returns the requests so far, in order.
func (s *Server) Requests() []Request {
	var out []Request
	for _, c := range s.http.Calls() {
		out = append(out, request(c))
	}
	return out
}

// Tasks returns the tasks received so far, in order. Requests without a task are left out.
func (s *Server) Tasks() []protocol.TaskMessage {
	var tasks []protocol.TaskMessage
	for _, r := range s.Requests() {
		if r.Err == nil {
			tasks = append(tasks, r.Task)
		}
	}
	return tasks
}
