package api

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/org/foreman-action/internal/server/access"
	"github.com/org/foreman-action/internal/server/loglimit"
	"github.com/org/foreman-action/internal/server/longpoll"
	"github.com/org/foreman-action/internal/server/request"
	"github.com/org/foreman-action/internal/wait"
	"github.com/org/foreman-action/queue"
)

// agentPatterns are the patterns of the requests that agents send.
var agentPatterns = []string{"POST /queue/next", "POST /queue/complete", "POST /queue/heartbeat", "POST /harness/result"}

// AgentOptions configure the Server of NewAgents.
type AgentOptions struct {
	Queue queue.Queue   // required
	Lease time.Duration // of a claim without a heartbeat; 0: queue.DefaultClaim
	// Authorize returns the sender of a request if it may act as an agent; required. An error of type
	// *response.Error is the answer.
	Authorize func(r *http.Request) (access.Caller, error)
	Wake      func()           // called when an agent reports a decision; nil: no call
	Now       func() time.Time // nil: time.Now
	Log       *slog.Logger     // nil discards
}

// authorized returns the sender that the Server of all paths has checked.
func authorized(r *http.Request) (access.Caller, error) {
	caller, ok := access.CallerOf(r)
	if !ok {
		return access.Caller{}, errors.New("api: a request of an agent has no checked sender")
	}
	return caller, nil
}

// NewAgents returns a Server with only those paths that agents use. The error names the invalid
// option.
func NewAgents(o AgentOptions) (*Server, error) {
	switch {
	case o.Queue == nil || o.Authorize == nil:
		return nil, errors.New("api: Queue or Authorize is not set")
	case o.Lease < 0:
		return nil, fmt.Errorf("api: want a claim duration of 0 or more, got %v", o.Lease)
	}
	o.Lease = cmp.Or(o.Lease, queue.DefaultClaim)
	o.Now = wait.Clock(o.Now)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	stopping, draining := make(chan struct{}), make(chan struct{})
	claims := &claimHandler{o.Queue, o.Lease, longpoll.New(o.Queue.Watch, draining), draining, stopping, o.Log}
	tasks := &taskHandler{o.Queue, o.Lease, request.NewLimiter(0, o.Now), o.Wake, o.Log}
	s := &Server{
		authorize: func(r *http.Request, _ access.Role) (access.Caller, error) { return o.Authorize(r) },
		errors:    errorWriter{o.Log, loglimit.New(o.Now)}, log: o.Log, stopping: stopping, draining: draining, mux: http.NewServeMux(),
	}
	routes := map[string]route{}
	for i, handle := range []handlerFunc{claims.next, tasks.complete, tasks.heartbeat, tasks.result} {
		routes[agentPatterns[i]] = route{access.Agents, handle}
	}
	s.handle(routes)
	return s, nil
}
