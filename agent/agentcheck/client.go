package agentcheck

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/org/foreman-action/agent"
	"github.com/org/foreman-action/protocol"
)

// nudgeTimeout is how long a harness waits for the answer to a nudge.
const nudgeTimeout = 5 * time.Second

// unknownTask is the id of a task that does not exist.
const unknownTask = "00000000-0000-4000-8000-000000000000"

// A client sends requests to the agent, as a harness does.
type client struct {
	url       string // of the agent
	patience  time.Duration
	transport http.RoundTripper
}

// nudge sends the id of a task. Most checks ignore the error and the status, because they look at
// the agent's requests to the harness.
func (c *client) nudge(ctx context.Context, id string) (status int, err error) {
	return c.post(ctx, []byte(`{"task_id":"`+id+`"}`))
}

// decide sends a whole task, and returns the decision of the answer.
func (c *client) decide(ctx context.Context, task protocol.TaskMessage) (protocol.DecisionMessage, error) {
	r, err := agent.NewRemote(agent.RemoteOptions{URL: c.url, Timeout: c.patience, Transport: c.transport})
	if err != nil {
		return protocol.DecisionMessage{}, err
	}
	return r.Decide(ctx, task)
}

// post sends a body as a nudge or a task, and returns the status of the answer.
func (c *client) post(ctx context.Context, body []byte) (status int, err error) {
	return c.request(ctx, http.MethodPost, "/task", body)
}

func (c *client) request(ctx context.Context, method, path string, body []byte) (status int, err error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout())
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, c.url+path, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := c.transport.RoundTrip(req)
	if err != nil {
		return 0, err
	}
	defer func() { _ = resp.Body.Close() }()
	_, err = io.Copy(io.Discard, io.LimitReader(resp.Body, maxBody))
	return resp.StatusCode, err
}

// health returns why the agent is unhealthy, or "" if it is healthy.
func (c *client) health(ctx context.Context) string {
	status, err := c.request(ctx, http.MethodGet, "/health", nil)
	if err != nil {
		return "GET /health: " + c.reason(err)
	}
	if status != http.StatusOK {
		return fmt.Sprintf("GET /health: status %d", status)
	}
	return ""
}

func (c *client) timeout() time.Duration { return min(nudgeTimeout, c.patience) }

// reason returns the short text of an error of the transport.
func (c *client) reason(err error) string {
	return short(strings.ReplaceAll(err.Error(), context.DeadlineExceeded.Error(), fmt.Sprintf("no answer within %v", c.timeout())))
}
