package dispatch

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/org/foreman-action/harness/observe"
	"github.com/org/foreman-action/internal/server/health"
	"github.com/org/foreman-action/queue"
)

const (
	interval   = 4 * time.Second         // between backlog checks: nudges are repeated within 5 s
	gap        = 50 * time.Millisecond   // between checks after wake-ups
	renotify   = 3700 * time.Millisecond // between two notifications of a task, or to a failing agent
	defaultCap = 8
	maxCap     = health.MaxConcurrency
)

// Queue has the calls of queue.Queue that a Dispatcher makes.
type Queue interface {
	Backlog(ctx context.Context, n int) ([]queue.Backlog, error)
	ClaimNext(ctx context.Context, agent string, o queue.ClaimOptions) (queue.Claim, error)
	Heartbeat(ctx context.Context, ref queue.Ref, lease time.Duration) error
	Complete(ctx context.Context, ref queue.Ref, decision []byte) (queue.Receipt, error)
	ReleaseClaim(ctx context.Context, ref queue.Ref, wait time.Duration) error
	FailClaim(ctx context.Context, ref queue.Ref, reason string) error
}

// An Agent is an agent as it is configured.
type Agent struct {
	URL  string // base address as configured; its userinfo is sent as Basic authentication
	Sync bool   // it receives the whole task, and answers with the decision
	// Cap is the maximum number of tasks that the agent receives at a time; 0: 8. It may claim more.
	Cap     int
	Timeout time.Duration // for the answer of a Sync agent; 0: a minute
}

// Options configure a Dispatcher.
type Options struct {
	Queue Queue  // must be set
	Owner string // claims tasks for synchronous agents, in the queue's log
	// Agents returns the agent of a canonical address; must be set.
	Agents func(address string) (a Agent, ok bool)
	// Cursors store since when an agent has failed; nil: a restart forgets it.
	Cursors      health.Cursors
	ClaimTimeout time.Duration // of claims for synchronous agents; must be set
	MaxClaims    int           // maximum attempts of a synchronous agent at one task; must be set
	// Requeue is called after a claim that counts as an attempt has expired; must be set.
	Requeue   func()
	Transport http.RoundTripper // to agents; nil: a copy of http.DefaultTransport that keeps its connections for a second
	Now       func() time.Time  // nil: time.Now
	Observe   observe.Func
	Log       *slog.Logger // nil discards
}

// validate returns an error that names a field that is wrong.
func (o Options) validate() error {
	switch {
	case o.Queue == nil || o.Agents == nil || o.Requeue == nil:
		return errors.New("dispatch: Queue, Agents or Requeue is not set")
	case o.ClaimTimeout <= 0:
		return errors.New("dispatch: ClaimTimeout: want more than 0")
	case o.MaxClaims <= 0:
		return errors.New("dispatch: MaxClaims: want more than 0")
	}
	return nil
}
