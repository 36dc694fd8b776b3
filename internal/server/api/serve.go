package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/org/foreman-action/internal/server/request"
)

// The limits of a connection. Streams set their own.
const (
	headerTimeout = 10 * time.Second
	idleTimeout   = 2 * time.Minute
	maxHeader     = 64 << 10
	// stopTimeout is how long requests may continue after a stop is requested.
	stopTimeout = 20 * time.Second
)

// Serve answers requests on the listeners until ctx ends or a listener fails. Then it calls Stop,
// finishes the requests in progress, and closes the listeners. It returns nil, or the error of the
// listener. For TLS pass listeners of crypto/tls. Call Serve only once.
func (s *Server) Serve(ctx context.Context, listeners ...net.Listener) error {
	handler := http.Handler(s)
	if s.middleware != nil {
		handler = s.middleware(s)
	}
	h := &http.Server{
		Handler:           handler,
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
	s.Stop()
	shutdown, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	if err := h.Shutdown(shutdown); err != nil {
		s.log.Warn("requests cancelled: they did not end in time", "error", err)
		_ = h.Close() // the server stops anyway
	}
	for range running {
		if err := <-ended; failed == nil && !errors.Is(err, http.ErrServerClosed) {
			failed = err
		}
	}
	s.polls.Wait()
	if failed != nil {
		return fmt.Errorf("listen: %w", failed)
	}
	return nil
}
