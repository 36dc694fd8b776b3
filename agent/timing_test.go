package agent_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/org/foreman-action/agent"
	"github.com/org/foreman-action/internal/agenttest"
	"github.com/org/foreman-action/internal/testkit/freeport"
	"github.com/org/foreman-action/protocol"
)

// dripping is a body that returns one byte per second until ctx ends.
type dripping struct{ ctx context.Context }

func (d dripping) Read(p []byte) (int, error) {
	select {
	case <-time.After(time.Second):
		p[0] = ' '
		return 1, nil
	case <-d.ctx.Done():
		return 0, context.Cause(d.ctx)
	}
}

// held is a transport that never answers.
func held(req *http.Request) (*http.Response, error) {
	<-req.Context().Done()
	return nil, context.Cause(req.Context())
}

// TestDeadline runs in a synctest bubble with its own clock, so that a minute takes no time.
func TestDeadline(t *testing.T) {
	t.Parallel()
	drip := func(req *http.Request) (*http.Response, error) {
		return respond(http.StatusOK, dripping{req.Context()}), nil
	}
	dripError := func(req *http.Request) (*http.Response, error) {
		return respond(http.StatusBadGateway, dripping{req.Context()}), nil
	}
	upgrade := func(req *http.Request) (*http.Response, error) {
		return respond(http.StatusSwitchingProtocols, dripping{req.Context()}), nil
	}
	slowHeaders := func(req *http.Request) (*http.Response, error) {
		time.Sleep(2 * time.Second)
		return drip(req)
	}
	slowAuthorize := func(ctx context.Context) (string, error) {
		<-ctx.Done()
		return "", errors.New("gave up")
	}
	briefAuthorize := func(context.Context) (string, error) {
		time.Sleep(2 * time.Second)
		return "Bearer x", nil
	}
	const minute = time.Minute
	tests := []struct {
		name      string
		transport roundTrip
		authorize func(context.Context) (string, error)
		timeout   time.Duration // of the Remote
		caller    time.Duration // timeout of the caller's context; 0: none
		after     time.Duration // when the call ends
		reason    agent.Reason
		want      string
	}{
		{"no headers", held, nil, 0, 0, minute, agent.ReasonTimeout, "no answer within 1m0s"},
		{"headers, then a drip", drip, nil, 4500 * time.Millisecond, 0, 4500 * time.Millisecond, agent.ReasonTimeout, "incomplete answer (4 B received) within 4.5s"},
		{"slow headers, then a drip", slowHeaders, nil, 4500 * time.Millisecond, 0, 4500 * time.Millisecond, agent.ReasonTimeout, "incomplete answer (2 B received) within 4.5s"},
		{"slow everything", slowHeaders, briefAuthorize, 5500 * time.Millisecond, 0, 5500 * time.Millisecond, agent.ReasonTimeout, "incomplete answer (1 B received) within 5.5s"},
		{"an error status, then a drip", dripError, nil, 5 * time.Second, 0, 5 * time.Second, agent.ReasonStatus, "status 502 Bad Gateway"},
		{"a change of protocol, whose bytes end never", upgrade, nil, 5 * time.Second, 0, 0, agent.ReasonStatus, "status 101 Switching Protocols"},
		{"authorization", held, slowAuthorize, 3 * time.Second, 0, 3 * time.Second, agent.ReasonTimeout, "no authorization within 3s"},
		{"caller's deadline", held, nil, 0, 7 * time.Second, 7 * time.Second, agent.ReasonTimeout, "no answer before the caller's deadline"},
		{"caller's deadline, drip", drip, nil, 0, 2500 * time.Millisecond, 2500 * time.Millisecond, agent.ReasonTimeout, "incomplete answer (2 B received) before the caller's deadline"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx := t.Context()
				if tt.caller > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, tt.caller)
					defer cancel()
				}
				r := newRemote(t, agent.RemoteOptions{URL: "http://agent", Transport: tt.transport, Authorize: tt.authorize, Timeout: tt.timeout})
				start := time.Now()
				_, err := r.Decide(ctx, theTask())
				e := wantError(t, err, tt.reason)
				if got := time.Since(start); got != tt.after {
					t.Errorf("the call took %v, want %v", got, tt.after)
				}
				if got := e.Err.Error(); got != tt.want {
					t.Errorf("got %q, want %q", got, tt.want)
				}
				if tt.reason == agent.ReasonTimeout && !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("%v is no context.DeadlineExceeded", err)
				}
			})
		})
	}
}

// TestHeldAgent lets a deadline end calls to a real server that delays its answer.
func TestHeldAgent(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]agenttest.Answer{"headers": agenttest.Held(), "body": agenttest.HeldBody()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := agenttest.New(t, func(protocol.TaskMessage) agenttest.Answer { return answer })
			_, err := newRemote(t, agent.RemoteOptions{URL: srv.URL, Timeout: 20 * time.Millisecond}).Decide(t.Context(), theTask())
			wantError(t, err, agent.ReasonTimeout)
		})
	}
}

// TestCanceled cancels the caller's context while the agent delays its answer.
func TestCanceled(t *testing.T) {
	t.Parallel()
	errStop := errors.New("stop, hunter2")
	ctx, cancel := context.WithCancelCause(t.Context())
	srv := agenttest.New(t, func(protocol.TaskMessage) agenttest.Answer {
		cancel(errStop)
		return agenttest.Held()
	})
	r := newRemote(t, agent.RemoteOptions{URL: srv.URL})
	_, err := r.Decide(ctx, theTask())
	wantError(t, err, agent.ReasonCanceled)
	if !errors.Is(err, context.Canceled) || !errors.Is(err, errStop) {
		t.Errorf("%v hides why it was canceled", err)
	}
	wantNone(t, err.Error(), "hunter2")

	_, err = r.Decide(ctx, theTask())
	wantError(t, err, agent.ReasonCanceled)
	if n := len(srv.Requests()); n != 1 {
		t.Errorf("got %d requests, want none after the context ended", n-1)
	}
}

// TestEndedContext checks that nothing is sent if the context has ended before the call.
func TestEndedContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := newRemote(t, agent.RemoteOptions{URL: "http://agent", Transport: roundTrip(func(*http.Request) (*http.Response, error) {
		t.Error("a request was sent")
		return nil, errors.New("unexpected")
	})})
	_, err := r.Decide(ctx, theTask())
	wantError(t, err, agent.ReasonCanceled)
}

// timeoutError is a network timeout that no context caused.
type timeoutError struct{}

func (timeoutError) Error() string   { return "i/o timeout" }
func (timeoutError) Timeout() bool   { return true }
func (timeoutError) Temporary() bool { return false }

func TestTransportErrors(t *testing.T) {
	t.Parallel()
	at, err := freeport.Find(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	nobody := "http://" + at.String()
	errProxy := errors.New(`invalid proxy address "http://bot:hunter2@proxy.example?k=hunter2": hunter2/xyz` + "\r\n::error::")
	failing := func(err error) roundTrip {
		return func(*http.Request) (*http.Response, error) { return nil, err }
	}
	tests := []struct {
		name   string
		o      agent.RemoteOptions
		reason agent.Reason
		want   string // prefix of the cause's text
	}{
		{"nobody listens", agent.RemoteOptions{URL: nobody}, agent.ReasonUnreachable, "no answer: dial tcp 127.0.0.1:"},
		{"secret of ours", agent.RemoteOptions{URL: "http://bot:hunter2@agent", Transport: failing(errProxy)}, agent.ReasonUnreachable, `no answer: invalid proxy address "http://proxy.example": ***/xyz ::error::`},
		{"network timeout", agent.RemoteOptions{URL: "http://agent", Transport: failing(timeoutError{})}, agent.ReasonTimeout, "no answer: i/o timeout"},
		{"no response", agent.RemoteOptions{URL: "http://agent", Transport: failing(nil)}, agent.ReasonUnreachable, "no answer: the transport returned no response"},
		{"broken body", agent.RemoteOptions{URL: "http://bot:hunter2@agent", Transport: roundTrip(func(*http.Request) (*http.Response, error) {
			return respond(200, io.MultiReader(strings.NewReader("{"), failingReader{errors.New("hunter2 broke")})), nil
		})}, agent.ReasonUnreachable, "incomplete answer (1 B received): *** broke"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := newRemote(t, tt.o).Decide(t.Context(), theTask())
			e := wantError(t, err, tt.reason)
			if got := e.Err.Error(); !strings.HasPrefix(got, tt.want) {
				t.Errorf("got %q, want it to start with %q", got, tt.want)
			}
			wantNone(t, chain(err), "hunter2", "\r")
		})
	}
}

type failingReader struct{ err error }

func (f failingReader) Read([]byte) (int, error) { return 0, f.err }
