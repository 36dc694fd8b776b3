// Package agentcheck checks whether an agent follows the protocol. It acts as the harness, sends
// the agent everything that a harness may send, and compares the answers with the protocol. The
// agent may be written in any language.
//
// The protocol has two forms, and an agent speaks one of them or both. With "queue" the agent is
// nudged and claims its tasks. With "sync" it receives a whole task and answers with the
// decision.
//
// [Test] checks an agent that is written in Go, in a test of its package. [Run] checks any agent.
package agentcheck

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/org/foreman-action/internal/address"
	"github.com/org/foreman-action/internal/wait"
)

// The defaults of Options.
const (
	DefaultPatience = 90 * time.Second
	DefaultLease    = time.Minute
)

// Options select the agent and the checks.
type Options struct {
	Agent string // base address; must be set
	Wire  string // Queue or Sync; empty: those that the agent speaks
	// Listen is where the kit's harness listens; empty: a free port of 127.0.0.1.
	Listen string
	// Harness is the address by which the agent reaches the harness; empty: the listening
	// address.
	Harness string
	// Start starts the agent. harness is the harness's address with userinfo. stop ends the
	// agent, and returns an error if the agent does not end properly. Nil: the caller starts the
	// agent, and gets the harness's address from Listening.
	Start func(ctx context.Context, harness string) (stop func(ctx context.Context) error, err error)
	// Listening is called with the harness's address when the harness can be reached; nil: not
	// called.
	Listening func(harness string)
	// Patience is how long the agent may take to start and how long for each task; 0 means
	// DefaultPatience.
	Patience time.Duration
	// Lease is how long a claim lasts without a heartbeat; 0 means DefaultLease.
	Lease time.Duration
	// Done is called after each check; nil: not called.
	Done func(Check)
	// Transport sends the requests to the agent; nil: a new http.Transport.
	Transport http.RoundTripper
	// Serve serves the harness and returns its address; nil: the kit listens on Listen.
	Serve func(http.Handler) (url string, stop func(), err error)
	// Now is the clock; nil: [time.Now].
	Now func() time.Time

	// detect returns the Wire of an agent that Start has started; nil: Wire is it.
	detect func() string
}

// Run checks an agent. It returns an error if the options are invalid, if the harness or the
// agent cannot be started, or if ctx ends. The agent's mistakes are in the report.
func Run(ctx context.Context, o Options) (Report, error) {
	agent, err := address.Canonical(o.Agent)
	switch {
	case err != nil:
		return Report{}, fmt.Errorf("agent address: %w", err)
	case o.Wire != "" && o.Wire != Queue && o.Wire != Sync:
		return Report{}, fmt.Errorf("wire: want queue or sync, got %q", o.Wire)
	case o.Patience < 0 || o.Lease < 0:
		return Report{}, errors.New("patience and lease: want more than 0")
	}
	o.Patience = cmp.Or(o.Patience, DefaultPatience)
	o.Lease = cmp.Or(o.Lease, DefaultLease)
	o.Now = wait.Clock(o.Now)
	h := newHarness(o.Lease, o.Now)
	base, stop, err := serve(ctx, o, h)
	if err != nil {
		return Report{}, err
	}
	defer stop()
	transport := o.Transport
	if transport == nil {
		t := &http.Transport{DisableKeepAlives: true}
		defer t.CloseIdleConnections()
		transport = t
	}
	s := &session{
		agent:   &client{url: agent, patience: o.Patience, transport: transport},
		harness: h, wire: o.Wire, patience: o.Patience, now: o.Now,
	}
	if o.Listening != nil {
		o.Listening(base)
	}
	if err := start(ctx, s, o, base); err != nil {
		return Report{}, err
	}
	if o.detect != nil {
		if s.wire = o.detect(); s.wire == Sync {
			s.waiting = nil // such an agent claims none
		}
	}
	if s.end != nil {
		defer func() { _ = s.end(context.WithoutCancel(ctx)) }()
	}
	r := &runner{session: s, done: o.Done, report: Report{Version: 1, Agent: agent}}
	r.run(ctx)
	return r.report, context.Cause(ctx)
}

// start adds tasks that wait, and starts the agent.
func start(ctx context.Context, s *session, o Options, harness string) error {
	if o.Start == nil {
		return nil
	}
	if o.Wire != Sync {
		for range 2 {
			s.waiting = append(s.waiting, s.enqueue())
		}
	}
	end, err := o.Start(ctx, harness)
	if err != nil {
		return fmt.Errorf("start the agent: %w", err)
	}
	s.end = end
	return nil
}

// serve starts the harness, and returns its address with a credential.
func serve(ctx context.Context, o Options, h *harness) (string, func(), error) {
	serve := o.Serve
	if serve == nil {
		serve = func(handler http.Handler) (string, func(), error) { return listen(ctx, o.Listen, handler) }
	}
	h.password = rand.Text()
	raw, stop, err := serve(h)
	if err != nil {
		return "", nil, err
	}
	u, err := url.Parse(cmp.Or(o.Harness, raw))
	if err != nil || u.Host == "" {
		stop()
		return "", nil, errors.New("harness address: want one that starts with https:// or http://")
	}
	u.User = url.UserPassword("agent", h.password)
	return u.String(), stop, nil
}

func listen(ctx context.Context, addr string, handler http.Handler) (string, func(), error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", cmp.Or(addr, "127.0.0.1:0"))
	if err != nil {
		return "", nil, fmt.Errorf("listen for the agent: %w", err)
	}
	srv := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, WriteTimeout: time.Minute}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = srv.Serve(l)
	}()
	return "http://" + l.Addr().String(), func() {
		_ = srv.Close()
		<-done
	}, nil
}
