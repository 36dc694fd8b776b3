package agentcheck

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"
)

// A T is the part of *testing.T that [Test] uses.
type T interface {
	Helper()
	Context() context.Context
	Logf(format string, args ...any)
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// A Start makes an agent, as its program does at the start. harness is the address of the harness with
// a credential, which a program gets as FOREMAN_HARNESS_URL, and self is the agent's own address,
// AGENT_URL. The handler serves self, usually that of agent.NewHandler. run works until its context
// ends, usually Worker.Run; nil: the agent claims no tasks, and only answers whole ones.
type Start func(harness, self string) (handler http.Handler, run func(ctx context.Context) error, err error)

// Test checks an agent in a test of its Go package, by HTTP on free ports of 127.0.0.1, in each form
// of the protocol that it speaks. A rule that the agent breaks is an error of the test, with the rule
// and the agent's behaviour. Advice and rules that could not be checked are logged. Test takes some
// seconds, and longer if the agent needs more than a second for a task. It ends the agent.
func Test(t T, start Start) {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("listen for the agent: %v", err)
		return
	}
	p := &program{listener: l}
	defer func() { _ = p.stop(context.WithoutCancel(t.Context())) }()
	self := "http://" + l.Addr().String()
	report, err := Run(t.Context(), Options{
		Agent: self,
		Start: func(ctx context.Context, harness string) (func(context.Context) error, error) {
			return p.stop, p.start(ctx, harness, self, start)
		},
		detect: func() string { return p.wire },
	})
	if err != nil {
		t.Fatalf("check the agent: %v", err)
		return
	}
	for _, c := range report.Checks {
		line := fmt.Sprintf("%s: want: %s; got: %s", c.ID, c.Want, cmp.Or(c.Got, "that"))
		switch {
		case c.Result == OK:
			t.Logf("ok %s", c.ID)
		case c.Result == Failed && c.Must:
			t.Errorf("%s", line)
		default:
			t.Logf("%s %s", map[bool]string{true: "advice", false: "skipped"}[c.Result == Failed], line)
		}
	}
	t.Logf("checked the forms of the protocol: %v", report.Wires)
}

// A program is an agent that runs in this process.
type program struct {
	listener net.Listener
	wire     string       // Sync; empty: to be detected
	server   *http.Server // nil: not started
	cancel   context.CancelFunc
	ended    chan error // receives the error of run

	once sync.Once
	err  error
}

func (p *program) start(ctx context.Context, harness, self string, start Start) error {
	handler, run, err := start(harness, self)
	switch {
	case err != nil:
		return err
	case handler == nil:
		return errors.New("there is no handler")
	}
	ctx, p.cancel = context.WithCancel(context.WithoutCancel(ctx))
	p.ended = make(chan error, 1)
	p.server = &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	if run == nil {
		p.wire = Sync
		p.ended <- nil
	} else {
		go func() { p.ended <- run(ctx) }()
	}
	go func() { _ = p.server.Serve(p.listener) }()
	return nil
}

// stop ends the agent. Its error means that it did not end properly.
func (p *program) stop(ctx context.Context) error {
	p.once.Do(func() {
		if p.server == nil {
			p.err = p.listener.Close()
			return
		}
		p.cancel()
		select {
		case p.err = <-p.ended:
		case <-ctx.Done():
			p.err = errors.New("run did not return after its context ended")
		}
		p.err = errors.Join(p.err, p.server.Close())
	})
	return p.err
}
