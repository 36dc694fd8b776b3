package agent

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/address"
	"github.com/org/foreman-action/internal/wait"
	"github.com/org/foreman-action/protocol"
)

// The defaults of ClientOptions.
const (
	defaultCallTimeout  = 10 * time.Second
	defaultMaxTaskBytes = 32 << 20
)

// ClientOptions configure a Client.
type ClientOptions struct {
	// URL is the harness's base address, http or https. By convention the environment variable
	// FOREMAN_HARNESS_URL contains it. Userinfo is sent as Basic auth. A path is kept.
	URL string
	// AgentURL is the address by which the harness knows the agent. By convention the environment
	// variable AGENT_URL contains it. Userinfo in it is not sent.
	AgentURL string
	// Token is sent as a bearer token and replaces the URL's userinfo; empty: none.
	Token string
	// Wait is how long the harness should wait for a task before it answers (long polling); 0:
	// not at all. A harness without long polling answers at once.
	Wait time.Duration
	// Timeout limits one call, from connecting to the last byte, in addition to Wait; 0 means
	// 10 seconds.
	Timeout time.Duration
	// MaxBytes limits the decompressed size of a task; 0 means 32 MiB.
	MaxBytes int64
	// Transport sends the requests; nil means a clone of http.DefaultTransport that takes its
	// proxy from the environment.
	Transport http.RoundTripper
	// UserAgent is the User-Agent header; empty means "foreman-agent".
	UserAgent string
	// Version is the version of the agent, as in protocol.AgentVersionHeader; empty: unknown. The harness
	// keeps a track record of each version.
	Version string
	// Now is the clock with which dates in Retry-After are compared; nil means [time.Now].
	Now func() time.Time
}

// A Client is the agent's side of a harness's queue. It is safe for concurrent use. Its errors
// are of type *ClientError. It neither retries a call nor follows redirects.
type Client struct {
	base      *url.URL // without userinfo
	agentURL  string
	header    string // Authorization header; empty: none
	secrets   secrets
	wait      time.Duration
	timeout   time.Duration
	maxBytes  int64
	transport http.RoundTripper
	userAgent string
	version   string
	now       func() time.Time
}

// NewClient checks the options and returns a Client. It sends nothing. As in NewRemote, a secret
// over plain http is an error. No error contains any part of the addresses.
func NewClient(o ClientOptions) (*Client, error) {
	const empty = " is empty; agents read it from the variable "
	switch {
	case strings.TrimSpace(o.URL) == "":
		return nil, errors.New("harness address: ClientOptions.URL" + empty + "FOREMAN_HARNESS_URL")
	case strings.TrimSpace(o.AgentURL) == "":
		return nil, errors.New("agent address: ClientOptions.AgentURL" + empty + "AGENT_URL")
	}
	u, user, err := parseBase("harness address", o.URL)
	if err != nil {
		return nil, err
	}
	self, err := ownAddress(o.AgentURL)
	switch {
	case err != nil:
		return nil, err
	case u.RawQuery != "" || u.ForceQuery:
		return nil, errors.New("harness address: it has a query")
	case u.Scheme == "http" && (o.Token != "" || user != nil) && !address.Nearby(u.Hostname()):
		return nil, errors.New("harness address: a secret would go over plain http; want https://, or a host on this machine or in a private network")
	case o.Wait < 0 || o.Timeout < 0:
		return nil, fmt.Errorf("harness client: wait and timeout must not be negative, got wait %v, timeout %v", o.Wait, o.Timeout)
	case o.MaxBytes < 0:
		return nil, fmt.Errorf("harness client: want more than 0 bytes for a task, got %d", o.MaxBytes)
	case o.Version != "" && protocol.ParseAgentVersion(o.Version) != o.Version:
		return nil, errors.New("harness client: want up to 64 letters, digits, '.', '_' and '-' for the agent's version")
	case !validHeader(o.UserAgent) || !validHeader(o.Token):
		return nil, errors.New("harness client: the user agent or the token contains a control character")
	}
	c := &Client{
		base: u, agentURL: self, wait: o.Wait,
		timeout:   cmp.Or(o.Timeout, defaultCallTimeout),
		maxBytes:  cmp.Or(o.MaxBytes, defaultMaxTaskBytes),
		transport: o.Transport,
		userAgent: cmp.Or(o.UserAgent, "foreman-agent"),
		version:   o.Version,
		now:       wait.Clock(o.Now),
	}
	switch {
	case o.Token != "":
		c.header = "Bearer " + o.Token
	case user != nil:
		c.header = "Basic " + basic(user)
	}
	c.secrets = secretsOf(c.header, user, "")
	if c.transport == nil {
		t := newTransport()
		t.DisableKeepAlives = false // heartbeats and claims are frequent, and may be repeated
		c.transport = t
	}
	return c, nil
}

// ownAddress returns an agent's own address as it is sent: without userinfo, but otherwise
// unchanged, because a harness may compare it byte for byte.
func ownAddress(raw string) (string, error) {
	_, user, err := parseBase("agent address", raw)
	if err != nil || user == nil {
		return strings.TrimSpace(raw), err
	}
	u, err := url.Parse(raw)
	if err != nil {
		return "", errors.New("agent address: it cannot be read as an address")
	}
	u.User = nil
	return u.String(), nil
}

// Address returns the harness's base address without userinfo, for messages.
func (c *Client) Address() string { return c.base.String() }

// NextTask claims the next task. It returns nil without an error if there is none. The lease of
// the claim is in task.Claim, if the harness sent it, and each Heartbeat renews it.
func (c *Client) NextTask(ctx context.Context) (*protocol.TaskMessage, error) {
	return c.next(ctx, c.wait)
}

// next claims a task. wait is how long the harness should wait for one.
func (c *Client) next(ctx context.Context, wait time.Duration) (*protocol.TaskMessage, error) {
	path, timeout := "/queue/next", c.timeout
	if wait > 0 {
		path += "?wait=" + url.QueryEscape(wait.String())
		timeout += wait
	}
	x := c.exchange("claim a task", path, timeout)
	status, data, err := x.post(ctx, map[string]any{"agent_url": c.agentURL})
	if err != nil || status == http.StatusNoContent {
		return nil, err
	}
	data = bytes.TrimSpace(data)
	if len(data) == 0 {
		return nil, x.fail(ReasonNotJSON, status, errors.New("the answer is empty, but its status is not 204"))
	}
	task, err := protocol.ParseTask(data)
	if err != nil {
		return nil, x.fail(ReasonInvalid, status, x.invalid(err))
	}
	if task.TaskID == "" {
		return nil, x.fail(ReasonInvalid, status, errors.New("the task has no task_id, so no decision could name it"))
	}
	return &task, nil
}

// CompleteTask sends the decision on a task. If the decision has no task id, the task's id is
// filled in. If it has another id, CompleteTask sends nothing and returns ReasonWrongTask.
// ErrLost means that another agent has the claim now; only a harness that counts claims reports
// this. Sending a decision twice is not an error, so a call with an unknown outcome may be
// repeated.
func (c *Client) CompleteTask(ctx context.Context, task *protocol.TaskMessage, d protocol.DecisionMessage) error {
	x := c.exchange("complete task", "/queue/complete", c.timeout)
	d, err := onTask(d, task.TaskID)
	if err != nil {
		return x.fail(ReasonWrongTask, 0, err)
	}
	body := map[string]any{"task_id": d.TaskID, "decision": d.Decision, "rationale": d.Rationale, "actions": orEmpty(d.Actions)}
	addAttempt(body, task)
	if err := x.notify(ctx, body); err != nil {
		return err
	}
	// The harness has stored the decision. This call only notifies harnesses that do not notice
	// the decision themselves, so it may fail.
	_ = c.exchange("report the result", "/harness/result", c.timeout).notify(ctx, map[string]any{"task_id": d.TaskID})
	return nil
}

func orEmpty(list []protocol.ActionItem) []protocol.ActionItem {
	if list == nil {
		return []protocol.ActionItem{}
	}
	return list
}

// Heartbeat renews the lease of the claim, for the duration in task.Claim. ErrLost means the same
// as in CompleteTask.
func (c *Client) Heartbeat(ctx context.Context, task *protocol.TaskMessage) error {
	body := map[string]any{"task_id": task.TaskID}
	addAttempt(body, task)
	return c.exchange("send a heartbeat", "/queue/heartbeat", c.timeout).notify(ctx, body)
}

// addAttempt adds the attempt of the claim, if the harness sent one.
func addAttempt(body map[string]any, task *protocol.TaskMessage) {
	if task.Claim != nil && task.Claim.Attempt > 0 {
		body["attempt"] = task.Claim.Attempt
	}
}
