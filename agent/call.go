package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/org/foreman-action/protocol"
)

// errTimeout is the cause of a context that the Remote's or Client's own timeout ended.
var errTimeout = errors.New("agent timeout")

// Decide sends the task and returns the agent's decision on it. It sends one request, and neither
// retries nor follows redirects. Every error is an *Error.
func (r *Remote) Decide(ctx context.Context, task protocol.TaskMessage) (protocol.DecisionMessage, error) {
	body, err := encode(task)
	if err != nil {
		return protocol.DecisionMessage{}, r.fail(ReasonInvalid, 0, fmt.Errorf("encode the task: %w", err))
	}
	ctx, cancel := context.WithTimeoutCause(ctx, r.timeout, errTimeout)
	defer cancel()
	c := &call{remote: r}
	resp, err := c.send(ctx, body)
	if err != nil {
		return protocol.DecisionMessage{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := c.read(ctx, resp)
	if err != nil {
		return protocol.DecisionMessage{}, err
	}
	d, err := c.decode(resp, data, task.TaskID)
	if err == nil {
		d.AgentVersion = protocol.ParseAgentVersion(resp.Header.Get(protocol.AgentVersionHeader))
	}
	return d, err
}

func (r *Remote) fail(reason Reason, status int, err error) *Error {
	return &Error{Address: r.Address(), Reason: reason, Status: status, Err: err}
}

// encode returns the task as compact JSON. It does not escape characters such as "<", because
// agents may look for them in the text of an issue.
func encode(task protocol.TaskMessage) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(task); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// A call is one request to an agent.
type call struct {
	remote  *Remote
	secrets secrets // set when authorization was called
}

// send gets the authorization and sends the request.
func (c *call) send(ctx context.Context, body []byte) (*http.Response, error) {
	header, err := c.authorization(ctx)
	if err != nil {
		return nil, err
	}
	r := c.remote
	resp, err := poster{r.transport, header, r.userAgent, ""}.post(ctx, r.url, body)
	if err != nil {
		return nil, c.broken(ctx, 0, "no answer", err)
	}
	return resp, nil
}

// authorization returns the value of the Authorization header; empty for none.
func (c *call) authorization(ctx context.Context) (string, error) {
	r := c.remote
	c.secrets = secretsOf("", r.user, r.url.RawQuery)
	var header string
	if r.authorize != nil {
		var err error
		header, err = r.authorize(ctx)
		c.secrets = secretsOf(header, r.user, r.url.RawQuery)
		switch {
		case ctx.Err() != nil:
			return "", c.broken(ctx, 0, "no authorization", ctx.Err())
		case err != nil:
			return "", r.fail(ReasonAuth, 0, c.hide("get its authorization", err))
		case !validHeader(header):
			return "", r.fail(ReasonAuth, 0, errors.New("get its authorization: it contains a control character"))
		}
	}
	if header == "" && r.user != nil {
		header = "Basic " + basic(r.user)
	}
	return header, nil
}

// hide returns an error with a sanitized text, whose cause cannot be unwrapped.
func (c *call) hide(doing string, err error) error {
	return &opaque{text: doing + ": " + c.secrets.clean(err.Error()), cause: err}
}

// broken returns why an exchange ended early. The text begins with what.
func (c *call) broken(ctx context.Context, status int, what string, err error) *Error {
	reason, err := interrupted(ctx, c.remote.timeout, c.secrets, what, err)
	return c.remote.fail(reason, status, err)
}

// A poster sends JSON. It follows no redirect.
type poster struct {
	transport     http.RoundTripper
	authorization string // empty: none
	userAgent     string
	version       string // of the agent that posts; empty: none
}

func (p poster) post(ctx context.Context, to *url.URL, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", p.userAgent)
	if p.authorization != "" {
		req.Header.Set("Authorization", p.authorization)
	}
	if p.version != "" {
		req.Header.Set(protocol.AgentVersionHeader, p.version)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	// http.Client is not used, because it follows redirects and its errors contain addresses.
	resp, err := p.transport.RoundTrip(req)
	if err == nil && (resp == nil || resp.Body == nil) {
		err = errors.New("the transport returned no response")
	}
	return resp, err
}

// interrupted returns why an exchange with a timeout ended early. The text begins with what and is
// without the secrets.
func interrupted(ctx context.Context, timeout time.Duration, s secrets, what string, err error) (Reason, error) {
	switch ctxErr := ctx.Err(); {
	case ctxErr != nil && errors.Is(context.Cause(ctx), errTimeout):
		return ReasonTimeout, &opaque{fmt.Sprintf("%s within %v", what, timeout), ctxErr}
	case errors.Is(ctxErr, context.DeadlineExceeded):
		return ReasonTimeout, &opaque{what + " before the caller's deadline", ctxErr}
	case ctxErr != nil:
		return ReasonCanceled, &opaque{what + ": canceled by the caller", errors.Join(ctxErr, context.Cause(ctx))}
	}
	reason := ReasonUnreachable
	if n, ok := errors.AsType[net.Error](err); ok && n.Timeout() {
		reason = ReasonTimeout
	}
	return reason, &opaque{what + ": " + s.clean(err.Error()), err}
}
