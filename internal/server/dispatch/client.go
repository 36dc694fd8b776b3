package dispatch

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"syscall"
	"time"

	"github.com/org/foreman-action/agent"
	"github.com/org/foreman-action/internal/address"
	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/internal/server/decision"
	"github.com/org/foreman-action/internal/server/health"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/queue"
)

const (
	notifyTimeout = 5 * time.Second // for the answer to a notification, and to a health check
	userAgent     = "foremand"
)

// statusOK is the status of a request that succeeded. Any other one is a short description
// of the failure, without secrets.
const statusOK = "ok"

// notConfigured is the status of a task whose agent the configuration does not name.
const notConfigured = "it is not configured"

// errUnusableAddress means that no request can be made to the agent's address.
var errUnusableAddress = errors.New("its address cannot be used")

// A client sends requests to agents.
type client struct{ transport http.RoundTripper }

// notify notifies an agent of a task. It returns the status code of the response, or 0 without a
// response, and the status.
func (c client) notify(ctx context.Context, a Agent, task string) (code int, status string) {
	body, err := json.Marshal(struct {
		TaskID string `json:"task_id"`
	}{task})
	if err != nil {
		return 0, err.Error()
	}
	return c.send(ctx, a, http.MethodPost, "/task", body)
}

// health checks whether a synchronous agent is available. An agent without the path /health is also
// healthy.
func (c client) health(ctx context.Context, a Agent) (status string, healthy bool) {
	code, status := c.send(ctx, a, http.MethodGet, "/health", nil)
	return status, code != 0 && !unavailable(code)
}

// decide sends an agent a task and returns its decision as JSON. The error holds no secret.
func (c client) decide(ctx context.Context, a Agent, claim queue.Claim) ([]byte, error) {
	remote, err := agent.NewRemote(agent.RemoteOptions{URL: a.URL, Timeout: a.Timeout, Transport: c.transport, UserAgent: userAgent})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errUnusableAddress, err)
	}
	task, err := protocol.ParseTask(claim.Message)
	if err != nil {
		return nil, err
	}
	m, err := remote.Decide(ctx, task)
	if err != nil {
		return nil, err
	}
	return decision.Encode(m)
}

// send sends a request. It returns the status code of the response, or 0 without a response, and
// the status.
func (c client) send(ctx context.Context, a Agent, method, path string, body []byte) (code int, status string) {
	ctx, cancel := context.WithTimeout(ctx, notifyTimeout)
	defer cancel()
	req, err := request(ctx, a, method, path, body)
	if err != nil {
		return 0, "its address cannot be used: " + err.Error()
	}
	// http.Client is not used, because it follows redirects and its errors contain addresses.
	resp, err := c.transport.RoundTrip(req)
	if err != nil {
		return 0, unreachable(ctx, err)
	}
	defer func() { _ = resp.Body.Close() }()
	_, _ = io.CopyN(io.Discard, resp.Body, 64<<10) // so that the connection can be reused
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return resp.StatusCode, fmt.Sprintf("status %d", resp.StatusCode)
	}
	return resp.StatusCode, statusOK
}

// request makes a request to an agent. Its error does not contain the address.
func request(ctx context.Context, a Agent, method, path string, body []byte) (*http.Request, error) {
	base, err := address.Canonical(a.URL)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, method, base+path, bytes.NewReader(body))
	if err != nil {
		return nil, errors.New("no HTTP request can be made for it")
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", userAgent)
	u, err := url.Parse(a.URL)
	if err != nil || u.User == nil {
		return req, nil //nolint:nilerr // Canonical has read it
	}
	if u.Scheme == "http" && !address.Nearby(u.Hostname()) {
		return nil, errors.New("a secret would go over plain http; want https://, or a host on this machine or in a private network")
	}
	password, _ := u.User.Password()
	req.Header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(u.User.Username()+":"+password)))
	return req, nil
}

// unreachable returns the status of a request without a response.
func unreachable(ctx context.Context, err error) string {
	if n, ok := errors.AsType[net.Error](err); ctx.Err() != nil || ok && n.Timeout() {
		return fmt.Sprintf("no answer within %s", notifyTimeout)
	}
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		return "its host is not known"
	}
	if errors.Is(err, syscall.ECONNREFUSED) {
		return "connection refused"
	}
	return "not reachable"
}

// statusOf returns the status for an error of decide.
func statusOf(err error) string {
	e, ok := errors.AsType[*agent.Error](err)
	switch {
	case !ok:
		return errUnusableAddress.Error()
	case e.Reason == agent.ReasonStatus:
		return fmt.Sprintf("status %d", e.Status)
	}
	return string(e.Reason)
}

// maxLastError is how many characters of an agent's last answer are in the reason of a failed task.
const maxLastError = 400

// lastError returns the status for an error of decide, with the details of a wrong answer.
func lastError(err error) string {
	e, ok := errors.AsType[*agent.Error](err)
	if !ok || e.Err == nil {
		return statusOf(err)
	}
	details := text.Shorten(sanitize.Line(e.Err.Error()), maxLastError)
	if e.Reason == agent.ReasonStatus { // the details begin with the status
		return details
	}
	return string(e.Reason) + ": " + details
}

// causeOf returns the cause, for the circuit breaker, of an error of decide.
func causeOf(err error) health.Cause {
	e, ok := errors.AsType[*agent.Error](err)
	if !ok {
		if errors.Is(err, errUnusableAddress) {
			return health.Unavailable
		}
		return health.Unusable
	}
	switch e.Reason {
	case agent.ReasonLost, agent.ReasonInvalid:
		return health.Unusable
	case agent.ReasonNotJSON, agent.ReasonNotDecision, agent.ReasonTooLarge, agent.ReasonWrongTask:
		// The answer is probably not the agent's, but a maintenance page or a cached one.
		return health.Unavailable
	case agent.ReasonStatus:
		if refused(e.Status) {
			return health.Unusable
		}
	case agent.ReasonAuth, agent.ReasonUnreachable, agent.ReasonTimeout, agent.ReasonCanceled:
	}
	switch e.Status {
	case http.StatusTooManyRequests:
		return health.Overloaded
	case http.StatusInternalServerError, http.StatusNotImplemented:
		return health.Crashed
	}
	return health.Unavailable
}

// refused reports whether a status code is a reaction to the particular task. Other codes below
// 500, such as 401 and 404, would be the response to any task.
func refused(code int) bool {
	switch code {
	case http.StatusBadRequest, http.StatusConflict, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		return true
	}
	return false
}

// unavailable reports whether a status code means that the agent, or a proxy before it,
// fails or has too much to do.
func unavailable(code int) bool {
	return code >= http.StatusInternalServerError || code == http.StatusTooManyRequests
}
