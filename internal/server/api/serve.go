package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"syscall"
	"time"

	"github.com/org/foreman-action/internal/server/request"
	"github.com/org/foreman-action/internal/wait"
)

// The limits of a connection. Streams set their own.
const (
	headerTimeout = 10 * time.Second
	idleTimeout   = 2 * time.Minute
	maxHeader     = 64 << 10
	// stopTimeout is how long requests may continue after a stop is requested.
	stopTimeout = 20 * time.Second
)

// Serve answers requests on the listeners until ctx ends or a listener fails. Then it accepts no
// further connections, answers those that were accepted, calls Stop, and finishes the requests in
// progress. It returns nil, or the error of the listener. For TLS pass listeners of crypto/tls. Call
// Serve only once.
func (s *Server) Serve(ctx context.Context, listeners ...net.Listener) error {
	a := &arrivals{conns: map[net.Conn]bool{}, idle: map[net.Conn]bool{}}
	h := &http.Server{
		Handler:           a.observe(s),
		ConnContext:       func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, connKey{}, c) },
		ConnState:         a.changed,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       request.Timeout,
		WriteTimeout:      request.Timeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
	ended := make(chan error, len(listeners))
	for _, l := range listeners {
		go func() { ended <- h.Serve(&scarce{l, func(err error) { s.exhausted(err, a.closeIdle()) }}) }()
	}
	var failed error
	running := len(listeners)
	select {
	case <-ctx.Done():
	case failed = <-ended:
		running--
	}
	for _, l := range listeners {
		_ = l.Close() // one of them may have failed already
	}
	for range running {
		s.log.Debug("a listener was closed", "error", <-ended)
	}
	shutdown, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	a.wait(shutdown)
	s.Stop()
	if err := h.Shutdown(shutdown); err != nil {
		s.log.Warn("requests cancelled: they did not end in time", "error", err)
		_ = h.Close() // the server stops anyway
	}
	if failed != nil {
		return fmt.Errorf("listen: %w", failed)
	}
	return nil
}

// A scarce listener reports that the process or the machine has no file descriptor left for the next
// connection. http.Server accepts again after a pause, and logs that at debug level only.
type scarce struct {
	net.Listener

	exhausted func(error)
}

// Accept implements net.Listener.
func (s *scarce) Accept() (net.Conn, error) {
	c, err := s.Listener.Accept()
	if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
		s.exhausted(err)
	}
	return c, err
}

// exhausted warns that the file descriptors are used up, after idle connections were closed.
func (s *Server) exhausted(err error, closed int) {
	if s.errors.warnings.Allow("file descriptors") {
		s.log.Warn("out of file descriptors: new connections wait; raise the limit (LimitNOFILE of systemd, ulimit -n), or find the client with many connections; further ones in this minute are not logged",
			"limit", maxFiles(), "closed_idle_connections", closed, "error", err)
	}
}

// arrivals are the connections of which no request has reached the handler yet. http.Server.Shutdown
// would close them without an answer. It also lists the connections without a current request.
type arrivals struct {
	mu          sync.Mutex
	conns, idle map[net.Conn]bool
}

type connKey struct{}

// arrivalTimeout is how long a stop waits for requests on connections that were accepted.
const arrivalTimeout = time.Second

// changed follows the states of a connection.
func (a *arrivals) changed(c net.Conn, state http.ConnState) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.idle, c)
	switch state {
	case http.StateNew:
		a.conns[c] = true
	case http.StateClosed, http.StateHijacked:
		delete(a.conns, c)
	case http.StateIdle:
		a.idle[c] = true
	case http.StateActive: // the handler removes it from conns
	}
}

// closeIdle closes the connections without a current request, and returns their number.
func (a *arrivals) closeIdle() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	n := len(a.idle)
	for c := range a.idle {
		_ = c.Close() // the client opens another one
	}
	clear(a.idle)
	return n
}

// observe returns a handler that removes the connections of its requests.
func (a *arrivals) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c, ok := r.Context().Value(connKey{}).(net.Conn); ok {
			a.mu.Lock()
			delete(a.conns, c)
			a.mu.Unlock()
		}
		next.ServeHTTP(w, r)
	})
}

// wait waits until there are none, for a limited time, because a client may send nothing.
func (a *arrivals) wait(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, arrivalTimeout)
	defer cancel()
	for a.any() && wait.For(ctx, 5*time.Millisecond) == nil {
	}
}

func (a *arrivals) any() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.conns) > 0
}
