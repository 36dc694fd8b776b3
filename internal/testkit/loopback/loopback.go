// Package loopback runs HTTP servers on 127.0.0.1 for tests. A server records its requests in
// order. It injects faults: an error status, a delayed answer, or a connection that it closes
// before or in the middle of an answer.
package loopback

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"
)

// Options configure a [Server].
type Options struct {
	// Addr is the address to listen on. Empty: 127.0.0.1:0.
	Addr string
	// MaxBody limits the body of a request, in bytes. 0: 32 MiB.
	MaxBody int64
	// Handler answers a request. The body of the request is in c.Body; r.Body has been read. Handler
	// may be called concurrently. It must not wait: to delay an answer, it sets Hold in the [Answer].
	Handler func(r *http.Request, c Call) Answer
	// OnFault answers a request that is hit by a fault with a status. Nil: the answer has the fault's
	// Status, Header and Body.
	OnFault func(r *http.Request, c Call, f Fault) Answer
}

// A Call is one recorded request.
type Call struct {
	Method string
	URI    string // escaped path and query, as sent
	Header http.Header
	Body   []byte
	Err    error // set when the body is larger than MaxBody; Body is then its beginning
	Status int   // of the answer; 0 before the answer
	Cut    bool  // the connection was closed before the answer was complete
}

// A Server is a running server. Its methods are safe for concurrent use.
type Server struct {
	URL string // such as "http://127.0.0.1:41234"

	options Options
	http    *httptest.Server
	closed  chan struct{}
	once    sync.Once

	mu       sync.Mutex // guards the fields below
	calls    []*Call
	faults   faults
	problems []string
}

// Start starts a server; the caller closes it.
func Start(o Options) (*Server, error) {
	if o.Addr == "" {
		o.Addr = "127.0.0.1:0"
	}
	if o.MaxBody == 0 {
		o.MaxBody = 32 << 20
	}
	if o.OnFault == nil {
		o.OnFault = func(_ *http.Request, _ Call, f Fault) Answer { return f.Answer() }
	}
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", o.Addr)
	if err != nil {
		return nil, err
	}
	s := &Server{options: o, closed: make(chan struct{}), faults: faults{cutAt: -1}}
	s.http = &httptest.Server{Listener: listener, Config: &http.Server{Handler: s, ReadHeaderTimeout: time.Minute}}
	s.http.Start()
	s.URL = s.http.URL
	return s, nil
}

// New starts a server and closes it at the end of the test.
func New(tb testing.TB, o Options) *Server {
	tb.Helper()
	s, err := Start(o)
	if err != nil {
		tb.Fatal(err)
	}
	s.CloseAfter(tb, "loopback")
	return s
}

// CloseAfter closes the server at the end of a test, and then fails the test if there are
// problems. Each message begins with name.
func (s *Server) CloseAfter(tb testing.TB, name string) {
	tb.Cleanup(func() {
		s.Close()
		for _, p := range s.Problems() {
			tb.Errorf("%s: %s", name, p)
		}
	})
}

// Close stops the server. It closes the connections of delayed answers.
func (s *Server) Close() {
	s.once.Do(func() {
		close(s.closed)
		s.http.Close()
	})
}

// Calls returns copies of the requests so far, in the order of their arrival.
func (s *Server) Calls() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]Call, 0, len(s.calls))
	for _, c := range s.calls {
		list = append(list, *c)
	}
	return list
}

// ResetCalls removes the recorded requests. Faults keep their counts.
func (s *Server) ResetCalls() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = nil
}

// Problem records a mistake of a client. Handlers call it.
func (s *Server) Problem(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.problems = append(s.problems, fmt.Sprintf(format, args...))
}

// Problems returns the recorded mistakes so far.
func (s *Server) Problems() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.problems)
}

// Fault adds a fault. If several faults hit a request, only the one that was added first takes
// effect.
func (s *Server) Fault(f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults.list = append(s.faults.list, &fault{Fault: f})
}

// CutAt serves n more requests. After them the server closes the connection of every request
// without serving it, like a server that crashed after the n-th request. Negative: no limit.
func (s *Server) CutAt(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults.cutAt = n
}

// ClearFaults removes all faults, and the limit of CutAt.
func (s *Server) ClearFaults() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = faults{cutAt: -1}
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, s.options.MaxBody))
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); err != nil && !tooLarge {
		return // the client hung up before the request was complete
	}
	call := &Call{Method: r.Method, URI: r.URL.RequestURI(), Header: r.Header.Clone(), Body: body, Err: err}
	f := s.arrive(r, call)
	if !s.wait(r, f.Reached, f.Hold) || f.CutBefore {
		s.abort(call, 0)
	}
	var a Answer
	if f.Status != 0 {
		a = s.options.OnFault(r, *call, f)
	} else {
		a = s.options.Handler(r, *call)
	}
	if f.CutAfter {
		s.abort(call, a.status())
	}
	s.write(w, r, call, a)
}

// arrive records a request, and returns the fault that hits it.
func (s *Server) arrive(r *http.Request, c *Call) Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, c)
	return s.faults.meet(r)
}

// finish records the status of the answer, and whether the connection was cut.
func (s *Server) finish(c *Call, status int, cut bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.Status, c.Cut = status, cut
}

// abort closes the connection. It panics, so it does not return.
func (s *Server) abort(c *Call, status int) {
	s.finish(c, status, true)
	panic(http.ErrAbortHandler)
}

// wait sends a value to reached, then waits for hold. A nil channel is skipped. wait returns false
// if the client hangs up or the server closes first.
func (s *Server) wait(r *http.Request, reached chan<- struct{}, hold <-chan struct{}) bool {
	for reached != nil || hold != nil {
		next := hold
		if reached != nil {
			next = nil
		}
		select {
		case reached <- struct{}{}:
			reached = nil
		case <-next:
			hold = nil
		case <-r.Context().Done():
			return false
		case <-s.closed:
			return false
		}
	}
	return true
}
