// Package server is the harness's HTTP API: the queue for agents, health, the webhook, and
// what operators see and change.
//
// What agents send and get is the published wire: statuses, bodies and problems are those
// that published clients know. Beyond it, a client may wait for a task, and may say which
// claim it has and is told when it lost it.
package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/org/foreman-action/internal/secret"
	"github.com/org/foreman-action/internal/server/guard"
	"github.com/org/foreman-action/internal/server/intake"
	"github.com/org/foreman-action/queue"
)

// DefaultLease is how long a claim lasts without a heartbeat.
const DefaultLease = 300 * time.Second

// An Intake takes the events of the webhook.
type Intake interface {
	Take(ctx context.Context, a intake.Arrival) (intake.Outcome, error)
}

// Options say what a Server works with.
type Options struct {
	Queue queue.Queue   // must be set
	Lease time.Duration // of a claim without a heartbeat; 0: DefaultLease
	// Credentials are asked for whoever sends a request; nil: there are none, and only
	// requests from this machine are answered.
	Credentials *Credentials

	Intake Intake // of the webhook; nil: there is none
	// WebhookSecrets are those that GitHub may sign with: several while one is being
	// replaced. Without any the webhook is off.
	WebhookSecrets []secret.Text

	// Wake is called when an agent says that a decision waits; nil: nobody needs it.
	Wake func()
	// Health tells of what the server depends on, by name: nil for what is well. It returns
	// soon. Nil: it depends on nothing.
	Health func(ctx context.Context) map[string]error
	// Metrics answers /metrics to operators; nil: nothing does.
	Metrics http.Handler
	// Dashboard answers every path that is not the API's, and knows by itself to whom; nil:
	// nothing does. The context of its requests ends when the server is to stop.
	Dashboard http.Handler
	// Around puts something around the whole of what Serve answers, such as what measures
	// it; nil: nothing.
	Around func(http.Handler) http.Handler

	Now func() time.Time // for ages; nil: time.Now
	Log *slog.Logger     // nil discards
}

// A Server answers HTTP requests. It is an http.Handler, and safe for concurrent use.
type Server struct {
	o       Options
	log     *slog.Logger
	routes  map[string]*route // by path
	tasks   map[string]*route // by what is to be done with a task
	origins *http.CrossOriginProtection
	waiters *waiters
	secrets [][]byte
	bodies  *bodies
	hooks   gate // of the webhook, to which anybody may send
	results gate // of decisions
	wrong   *guard.Attempts
	pulse   pulse

	once     sync.Once
	stopping chan struct{} // closed when the server is to stop
}

// New returns a Server; nothing listens yet. The error names the option that cannot be used.
func New(o Options) (*Server, error) {
	switch {
	case o.Queue == nil:
		return nil, errors.New("server: Queue is not set")
	case o.Lease < 0:
		return nil, fmt.Errorf("server: a claim is to last %v", o.Lease)
	case o.Intake == nil && len(o.WebhookSecrets) > 0:
		return nil, errors.New("server: there are secrets of a webhook, and no Intake")
	}
	o.Lease = cmp.Or(o.Lease, DefaultLease)
	if o.Credentials == nil {
		o.Credentials, _ = NewCredentials(nil) // none can be wrong
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Server{o: o, log: o.Log, origins: http.NewCrossOriginProtection(), waiters: newWaiters(o.Queue.Watch), stopping: make(chan struct{})}
	s.bodies = &bodies{open: map[*body]struct{}{}}
	s.hooks = gate{brief: newRoom(64, 2*time.Second), large: newRoom(4, 5*time.Second)}
	s.results = gate{large: newRoom(4, 5*time.Second)}
	s.wrong = guard.NewAttempts(o.Now)
	for _, text := range o.WebhookSecrets {
		if text == "" {
			return nil, errors.New("server: a secret of the webhook is empty")
		}
		s.secrets = append(s.secrets, []byte(string(text)))
	}
	s.routes, s.tasks = s.table(), s.verbs()
	return s, nil
}

// The bounds of a connection. Those of a whole request leave room for the longest poll;
// who streams sets its own.
const (
	headerTimeout  = 10 * time.Second
	requestTimeout = 2 * time.Minute
	idleTimeout    = 2 * time.Minute
	maxHeader      = 64 << 10
	// stopTimeout is how long requests may go on after the server was told to stop.
	stopTimeout = 20 * time.Second
)

// Serve answers what comes in on the listeners, until ctx is done or one of them breaks.
// Then those who wait for a task are told that there is none, what was begun is finished,
// and Serve returns nil, or the error of the listener. It closes the listeners. For
// encrypted connections pass listeners of crypto/tls. Serve is called once.
func (s *Server) Serve(ctx context.Context, listeners ...net.Listener) error {
	handler := http.Handler(s)
	if s.o.Around != nil {
		handler = s.o.Around(s)
	}
	h := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       requestTimeout,
		WriteTimeout:      requestTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
	ended := make(chan error, len(listeners))
	for _, l := range listeners {
		go func() { ended <- h.Serve(l) }()
	}
	var broken error
	running := len(listeners)
	select {
	case <-ctx.Done():
	case broken = <-ended:
		running--
	}
	s.Stop()
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	if err := h.Shutdown(last); err != nil {
		s.log.Warn("requests were cut off, for they did not end in time", "error", err)
		_ = h.Close() // nothing is left to be done about it
	}
	for range running {
		if err := <-ended; broken == nil && !errors.Is(err, http.ErrServerClosed) {
			broken = err
		}
	}
	s.waiters.idle.Wait()
	if broken != nil {
		return fmt.Errorf("listen: %w", broken)
	}
	return nil
}

// Stop ends what would keep a server from stopping: those who wait for a task are told
// that there is none, from now on too, streams of the dashboard end, and bodies have two
// seconds left to come. Serve calls it.
func (s *Server) Stop() {
	s.once.Do(func() {
		close(s.stopping)
		s.bodies.stop()
	})
}
