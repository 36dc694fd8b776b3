// Package agentcheck tells what an agent does wrong: it plays the harness, asks the
// agent in every way in which a harness may, and compares what comes back with what the
// wire wants. The agent may be written in any language.
//
// The wire has two forms, and an agent speaks one of them or both: over "queue" the
// agent is nudged and claims its tasks, over "sync" it is sent a whole task and answers
// with the decision.
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
)

// The forms of the wire.
const (
	Queue = "queue"
	Sync  = "sync"
)

// The defaults of Options.
const (
	DefaultPatience = 90 * time.Second
	DefaultLease    = time.Minute
)

// Options say which agent is looked at, and how.
type Options struct {
	Agent string // base address; must be set
	Wire  string // Queue or Sync; empty: what the agent turns out to speak
	// Listen is where the kit's harness listens; empty: a free port of 127.0.0.1.
	Listen string
	// Harness is the address under which the agent reaches that; empty: what it listens on.
	Harness string
	// Start starts the agent, which finds the harness at the given address, userinfo
	// included. stop ends it, and says what was wrong about its end. Nil: the agent is
	// started by somebody else, who is told the address by Listening.
	Start func(ctx context.Context, harness string) (stop func(ctx context.Context) error, err error)
	// Listening is called with the harness's address as soon as it can be reached; nil:
	// nobody wants to know.
	Listening func(harness string)
	// Patience is how long the agent may take to start, and for one task; 0 means
	// DefaultPatience.
	Patience time.Duration
	// Lease is how long a claim lasts without a heartbeat; 0 means DefaultLease.
	Lease time.Duration
	// Done is called after each check; nil: nobody wants to know.
	Done func(Check)
	// Transport carries the requests to the agent; nil: one of its own.
	Transport http.RoundTripper
	// Serve serves the harness, instead of Listen, and returns its address; nil: Listen.
	Serve func(http.Handler) (url string, stop func(), err error)
}

// A Result says what came of a check.
type Result string

// The results.
const (
	OK      Result = "ok"
	Failed  Result = "failed"
	Skipped Result = "skipped" // could not be looked at
)

// A Check is one thing that was looked at.
type Check struct {
	ID   string `json:"id"`   // stable, such as "nudge-answer"
	Wire string `json:"wire"` // Queue or Sync; empty: both
	// Must says that a harness may lose tasks, or time, because of it. Otherwise it is
	// advice.
	Must   bool   `json:"must"`
	Want   string `json:"want"` // what a good agent does
	Result Result `json:"result"`
	Got    string `json:"got"` // what this one did, or why it was skipped; may be empty
}

// A Report is what Run found out.
type Report struct {
	Version int      `json:"version"` // of this form: 1
	Agent   string   `json:"agent"`   // canonical address
	Wires   []string `json:"wires"`   // that were looked at
	Checks  []Check  `json:"checks"`  // in the order in which they were made
}

// OK reports whether nothing failed that must hold.
func (r Report) OK() bool {
	for _, c := range r.Checks {
		if c.Must && c.Result == Failed {
			return false
		}
	}
	return len(r.Checks) > 0
}

// Run looks at an agent. An error says that it could not: a mistake in the options, or
// the end of ctx. What the agent does wrong is in the report.
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
	h := newHarness(o.Lease)
	base, stop, err := serve(ctx, o, h)
	if err != nil {
		return Report{}, err
	}
	defer stop()
	s := &session{o: o, agent: agent, h: h, transport: o.Transport, report: Report{Version: 1, Agent: agent}}
	if s.transport == nil {
		t := &http.Transport{DisableKeepAlives: true}
		defer t.CloseIdleConnections()
		s.transport = t
	}
	if err := s.run(ctx, base); err != nil {
		return Report{}, err
	}
	return s.report, context.Cause(ctx)
}

// serve makes the harness reachable, and returns its address with a credential in it.
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
