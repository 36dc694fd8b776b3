// Package api is the HTTP API of the server. Agents claim tasks and send decisions, GitHub sends
// events, and operators see and change tasks. The dashboard serves all other paths.
//
// Agents use the published protocol, with its status codes, bodies and problems. In addition, a
// client may wait for a task. It may also send the number of its claim; then the response reports a
// lost claim.
//
// Server.ServeHTTP handles a request in these steps: it sets a deadline for the body (package
// request), and passes it to the mux, whose routes are in routes.go. A route checks the sender
// (package access), and calls the handler. Handlers return errors, which errors.go writes and logs.
package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"sync"
	"time"

	"github.com/org/foreman-action/harness/observe"
	"github.com/org/foreman-action/internal/github"
	"github.com/org/foreman-action/internal/secret"
	"github.com/org/foreman-action/internal/server/access"
	"github.com/org/foreman-action/internal/server/budget"
	"github.com/org/foreman-action/internal/server/drain"
	"github.com/org/foreman-action/internal/server/filter"
	"github.com/org/foreman-action/internal/server/intake"
	"github.com/org/foreman-action/internal/server/loglimit"
	"github.com/org/foreman-action/internal/server/request"
	"github.com/org/foreman-action/internal/trackrecord"
	"github.com/org/foreman-action/internal/wait"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/queue/history"
)

// Options configure a Server.
type Options struct {
	Queue queue.Queue // required
	// Pauses are those of the queue; nil: operators cannot pause.
	Pauses queue.Pauses
	// Configured are the agents and repositories that pauses should name; nil: any.
	Configured *filter.Configured
	Lease      time.Duration // of a claim without a heartbeat; 0: queue.DefaultClaim
	// Credentials authenticate the senders of requests; nil: there are none, and only
	// requests from this machine are answered.
	Credentials *access.Credentials
	// Agents answers the paths that agents use. The sender is that of access.CallerOf. Nil: they are
	// answered with Queue, Lease and Wake, as by [NewAgents].
	Agents http.Handler
	// StopAgents ends the long requests of Agents, as [Server.Stop] does; nil: there are none.
	StopAgents func()
	// Attempts limits how fast secrets can be guessed; nil: this server uses its own limit.
	Attempts *access.Attempts
	// Proxies are the proxies that report the addresses of clients; empty: a client's address is that
	// of its connection.
	Proxies access.Proxies

	Take intake.Taker // of the webhook; nil: no webhook
	// Label gets each change of a label from the webhook; nil: it is ignored.
	Label          func(c github.LabelChange)
	WebhookSecrets []secret.Text // see intake.WebhookOptions
	// SpoolDir is the folder for temporary files with long webhook deliveries; empty: the system's
	// default.
	SpoolDir string

	// Wake is called when an agent reports a decision; nil: no call.
	Wake func()
	// Note returns a public notice about current delays of a server that is ready; empty: no delay.
	// Nil: no notices.
	Note func() string
	// Health returns the server's dependencies by name, each with its error or nil. After a
	// [DegradedError] the server stays ready. Health must return quickly. Nil: no dependencies.
	Health func(ctx context.Context) map[string]error
	// GitHub is the address of GitHub's web pages, whose issues operators search for; empty:
	// https://github.com.
	GitHub string
	// Budget returns the calls to GitHub, for operators. Nil: GitHub is never called.
	Budget func() budget.Report
	// History is the history of the tasks, for operators. Nil: not found.
	History history.Store
	// TrackRecord returns what became of the actions in one of Repos, "owner/name", for operators. Nil: not
	// found.
	TrackRecord func(ctx context.Context, repo string) (trackrecord.Report, error)
	Repos       []string
	// Reload reads the configuration again, for operators, and returns the keys whose new values need
	// a restart. Nil: not found.
	Reload func(ctx context.Context) (unchanged []string, err error)
	// Drainer stops the server after its work, for operators. Nil: not found.
	Drainer *drain.Drainer
	// Metrics answers /metrics for operators; nil: not found.
	Metrics http.Handler
	// Dashboard answers every path that does not belong to the API, and checks access itself; nil:
	// 404. The context of its requests ends when the server stops.
	Dashboard http.Handler
	// Middleware wraps the handlers of all answers, for example for metrics. The Pattern of a request is
	// the matched one, [response.NoPattern] if there is none, or empty if the dashboard answers. Nil: none.
	Middleware func(http.Handler) http.Handler

	Observe observe.Func     // gets OperatorChanged; nil discards
	Now     func() time.Time // for ages; nil: time.Now
	Log     *slog.Logger     // nil discards
}

// A Server answers HTTP requests. It is an http.Handler, and safe for concurrent use.
type Server struct {
	mux        *http.ServeMux
	authorize  authorizeFunc
	proxies    access.Proxies
	bodies     request.Deadlines
	errors     errorWriter
	stopAgents func()                          // nil: the server has no handler of agents' paths besides its routes
	dashboard  http.Handler                    // nil: none
	middleware func(http.Handler) http.Handler // nil: none
	log        *slog.Logger

	stopOnce sync.Once
	stopping chan struct{} // closed by Stop

	drainOnce sync.Once
	draining  chan struct{} // closed by Drain; nil: the server has no agents' paths
}

// New returns a Server, which does not listen yet. The error names the invalid option.
func New(o Options) (*Server, error) {
	if o.Queue == nil {
		return nil, errors.New("api: Queue is not set")
	}
	webhook, err := intake.NewWebhook(intake.WebhookOptions{Take: o.Take, Label: o.Label, Secrets: o.WebhookSecrets, SpoolDir: o.SpoolDir, Now: o.Now})
	if err != nil {
		return nil, fmt.Errorf("api: %w", err)
	}
	o.Now = wait.Clock(o.Now)
	if o.Attempts == nil {
		o.Attempts = access.NewAttempts(o.Now)
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Agents == nil {
		agents, err := NewAgents(AgentOptions{Queue: o.Queue, Lease: o.Lease, Wake: o.Wake, Authorize: authorized, Now: o.Now, Log: o.Log})
		if err != nil {
			return nil, err
		}
		o.Agents, o.StopAgents = agents, agents.Stop
	}
	warnings, stopping := loglimit.New(o.Now), make(chan struct{})
	s := &Server{
		mux:        http.NewServeMux(),
		authorize:  access.NewAuthorizer(o.Credentials, o.Attempts).Authorize,
		proxies:    o.Proxies,
		errors:     errorWriter{o.Log, warnings},
		stopAgents: o.StopAgents,
		middleware: o.Middleware,
		log:        o.Log,
		stopping:   stopping,
	}
	s.handle(handlers{
		agents:    o.Agents,
		operators: &operatorHandler{filter.Parser{GitHub: o.GitHub, Now: o.Now}, o.Queue, o.Pauses, o.Drainer, o.Budget, o.Reload, o.Observe, o.Now, o.Log},
		pauses:    &pauseHandler{o.Pauses, o.Configured, o.Observe, o.Log},
		drain:     &drainHandler{o.Drainer, o.Observe, o.Log},
		history:   &historyHandler{filter.Parser{GitHub: o.GitHub, Now: o.Now}, o.Queue, o.History, stopping, o.Log},
		record:    &recordHandler{o.TrackRecord, o.Repos},
		health:    &healthHandler{check: o.Health, drainer: o.Drainer, note: o.Note, now: o.Now, warnings: warnings, log: o.Log},
		webhook:   webhook,
		metrics:   o.Metrics,
	}.routes())
	if o.Dashboard != nil {
		s.dashboard = s.wrap(cancelOn(stopping, o.Dashboard))
	}
	return s, nil
}

// Stop ends all long requests, so that the server can stop. Current and later long polls get the
// answer that there is no task, streams of the dashboard end, and bodies must arrive within two
// seconds. Serve calls Stop.
func (s *Server) Stop() {
	s.stopOnce.Do(func() {
		s.Drain()
		close(s.stopping)
		s.bodies.Stop()
		if s.stopAgents != nil {
			s.stopAgents()
		}
	})
}

// Drain ends the handing out of tasks. Current long polls get the answer that there is no task, later
// ones after a few seconds, and are asked to use another connection, perhaps to another server. All other
// requests are answered as always. Only the Server of NewAgents hands out tasks.
func (s *Server) Drain() {
	s.drainOnce.Do(func() {
		if s.draining != nil {
			close(s.draining)
		}
	})
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r = s.proxies.With(r)
	defer s.recovered(r)
	defer s.bodies.Track(w, r)()
	s.dispatch(w, r)
}

// wrap returns h inside the middleware.
func (s *Server) wrap(h http.Handler) http.Handler {
	if s.middleware == nil {
		return h
	}
	return s.middleware(h)
}

// recovered logs a panic with its request, and closes the connection. net/http would not log the
// request, and would log the panic only at debug level.
func (s *Server) recovered(r *http.Request) {
	v := recover()
	if v == nil {
		return
	}
	if err, ok := v.(error); !ok || !errors.Is(err, http.ErrAbortHandler) {
		s.log.LogAttrs(r.Context(), slog.LevelError, "panic while handling a request", slog.String("method", logText(r.Method)),
			slog.String("path", logText(r.URL.Path)), slog.Any("error", v), slog.String("stack", string(debug.Stack())))
	}
	panic(http.ErrAbortHandler)
}

// cancelOn returns a handler whose requests' contexts also end when stopping is closed.
func cancelOn(stopping <-chan struct{}, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		go func() {
			select {
			case <-stopping:
				cancel()
			case <-ctx.Done():
			}
		}()
		h.ServeHTTP(w, r.WithContext(ctx))
	})
}
