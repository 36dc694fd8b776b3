package api

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
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
	handler := http.Handler(s)
	if s.middleware != nil {
		handler = s.middleware(s)
	}
	a := &arrivals{conns: map[net.Conn]bool{}}
	h := &http.Server{
		Handler:           a.observe(handler),
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
		go func() { ended <- h.Serve(l) }()
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
		<-ended
	}
	shutdown, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	a.wait(shutdown)
	s.Stop()
	if err := h.Shutdown(shutdown); err != nil {
		s.log.Warn("requests cancelled: they did not end in time", "error", err)
		_ = h.Close() // the server stops anyway
	}
	s.polls.Wait()
	if failed != nil {
		return fmt.Errorf("listen: %w", failed)
	}
	return nil
}

// arrivals are the connections of which no request has reached the handler yet. http.Server.Shutdown
// would close them without an answer.
type arrivals struct {
	mu    sync.Mutex
	conns map[net.Conn]bool
}

type connKey struct{}

// arrivalTimeout is how long a stop waits for requests on connections that were accepted.
const arrivalTimeout = time.Second

// changed follows the states of a connection.
func (a *arrivals) changed(c net.Conn, state http.ConnState) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch state {
	case http.StateNew:
		a.conns[c] = true
	case http.StateClosed, http.StateHijacked:
		delete(a.conns, c)
	case http.StateActive, http.StateIdle: // the handler removes it
	}
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
