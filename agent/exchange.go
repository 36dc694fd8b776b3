package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/roundtrip"
	"github.com/org/foreman-action/protocol"
)

// maxAck is the most bytes of an answer without a task.
const maxAck = 64 << 10

// An exchange is one call to the harness.
type exchange struct {
	client  *Client
	doing   string
	path    string
	timeout time.Duration
}

func (c *Client) exchange(doing, path string, timeout time.Duration) *exchange {
	return &exchange{client: c, doing: doing, path: path, timeout: timeout}
}

func (x *exchange) fail(reason Reason, status int, err error) *ClientError {
	return &ClientError{Doing: x.doing, Address: x.client.Address(), Reason: reason, Status: status, Err: err}
}

// post sends a body, and returns status and body of a successful answer.
func (x *exchange) post(ctx context.Context, body any) (int, []byte, error) {
	data, err := protocol.Encode(body)
	if err != nil {
		return 0, nil, x.fail(ReasonInvalid, 0, fmt.Errorf("encode: %w", err))
	}
	ctx, cancel := context.WithTimeoutCause(ctx, x.timeout, errTimeout)
	defer cancel()
	resp, err := x.send(ctx, data)
	if err != nil {
		return 0, nil, x.broken(ctx, 0, "no answer", err)
	}
	defer func() { _ = resp.Body.Close() }()
	return x.read(ctx, resp)
}

// notify sends a body and ignores the content of the answer.
func (x *exchange) notify(ctx context.Context, body any) error {
	_, _, err := x.post(ctx, body)
	return err
}

func (x *exchange) send(ctx context.Context, body []byte) (*http.Response, error) {
	c := x.client
	path, query, _ := strings.Cut(x.path, "?")
	u := below(c.base, path)
	u.RawQuery = query
	return poster{c.transport, c.header, c.userAgent, c.version}.post(ctx, u, body)
}

// read returns the status and body of a successful answer, and an error for any other answer. It
// reads to the end, so that the connection can be used again.
func (x *exchange) read(ctx context.Context, resp *http.Response) (int, []byte, error) {
	code, limit := resp.StatusCode, int64(maxAck)
	if code == http.StatusOK {
		limit = x.client.maxBytes
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, min(limit, math.MaxInt64-1)+1))
	switch {
	case code/100 != 2:
		return 0, nil, x.refused(code, resp, data)
	case int64(len(data)) > limit:
		return 0, nil, x.fail(ReasonTooLarge, code, fmt.Errorf("the answer is larger than %d bytes", limit))
	case err != nil:
		return 0, nil, x.broken(ctx, code, fmt.Sprintf("incomplete answer (%d B received)", len(data)), err)
	}
	return code, data, nil
}

// refused returns the error for a status that is not a success.
func (x *exchange) refused(code int, resp *http.Response, data []byte) error {
	text := "status " + strings.TrimSpace(strconv.Itoa(code)+" "+http.StatusText(code))
	if code >= 300 && code < 400 {
		text += ": redirects are not followed"
		if to, err := url.Parse(resp.Header.Get("Location")); err == nil && to.Host != "" {
			text += " (to " + strconv.Quote(x.client.secrets.clean(to.Scheme+"://"+to.Host+to.EscapedPath())) + ")"
		}
		return x.fail(ReasonStatus, code, errors.New(text))
	}
	if said := x.client.secrets.clean(string(data)); said != "" {
		text += ": " + strconv.Quote(said)
	}
	if code == http.StatusConflict {
		return x.fail(ReasonLost, code, fmt.Errorf("%w: %s", ErrLost, text))
	}
	e := x.fail(ReasonStatus, code, errors.New(text))
	// A harness that asks for the longest time probably sent a number out of range.
	if d, _ := roundtrip.RetryAfter(resp.Header, x.client.now()); d < roundtrip.MaxRetryAfter {
		e.RetryAfter = d
	}
	return e
}

// invalid returns the error of an invalid task with sanitized messages.
func (x *exchange) invalid(err error) error {
	v, ok := errors.AsType[*protocol.ValidationError](err)
	if !ok {
		return &opaque{text: "decode the task: " + x.client.secrets.clean(err.Error()), cause: err}
	}
	return shorten(x.client.secrets, v)
}

// broken returns why an exchange ended early. The text begins with what.
func (x *exchange) broken(ctx context.Context, status int, what string, err error) *ClientError {
	reason, err := interrupted(ctx, x.timeout, x.client.secrets, what, err)
	return x.fail(reason, status, err)
}
