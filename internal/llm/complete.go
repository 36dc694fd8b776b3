package llm

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/roundtrip"
	"github.com/org/foreman-action/internal/summarize"
)

const (
	maxBody  = 1 << 20          // bytes of an answer, decompressed
	maxTries = 3                // requests for one prompt
	maxWait  = 20 * time.Second // total waiting time between the requests
)

// Complete sends the prompt and returns the model's complete text, which is never blank.
//
// If the service is busy (429, 503, 529), the request is repeated up to two times, after the delay
// that the service asks for, or an increasing default. Complete fails if the delays would exceed 20
// s in total. Other failures are not retried, and redirects are not followed. A truncated text, a
// refusal and a tool call are errors.
//
// Errors contain the provider, its host and the cause. Of the request and the response they contain
// only numbers and known error names. errors.Is finds the error of the context, and
// context.DeadlineExceeded for the timeout.
func (c *Client) Complete(ctx context.Context, p summarize.Prompt) (string, error) {
	text, err := c.complete(ctx, p)
	if err != nil {
		return "", fmt.Errorf("ask %s at %s: %w", c.provider, c.url.Host, err)
	}
	return text, nil
}

func (c *Client) complete(ctx context.Context, p summarize.Prompt) (string, error) {
	if strings.TrimSpace(p.Text) == "" || p.MaxTokens < 0 {
		return "", errors.New("the prompt has no text, or MaxTokens is negative")
	}
	q := question{c.model, p.System, p.Text, c.maxTokens}
	if p.MaxTokens > 0 {
		q.maxTokens = min(q.maxTokens, p.MaxTokens)
	}
	body, err := marshal(c.wire.encode(q))
	if err != nil {
		return "", fmt.Errorf("encode the prompt: %w", err)
	}
	timed, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	text, err := c.repeat(timed, body)
	switch {
	case err == nil || timed.Err() == nil:
		return text, err
	case ctx.Err() == nil:
		return "", fmt.Errorf("no answer within %v: %w", c.timeout, timed.Err())
	}
	return "", fmt.Errorf("no answer: %w", ctx.Err())
}

// repeat sends the body until the service is no longer busy or the tries are used up.
func (c *Client) repeat(ctx context.Context, body []byte) (string, error) {
	var waited time.Duration
	for try := 1; ; try++ {
		resp, err := c.send(ctx, body) //nolint:bodyclose // read closes it
		if err != nil {
			return "", err
		}
		text, err := c.read(resp)
		e, ok := errors.AsType[*statusError](err)
		if !ok || !e.busy() || try == maxTries {
			return text, err
		}
		wait, ok := roundtrip.RetryAfter(resp.Header, c.now())
		if !ok {
			wait = time.Duration(try) * time.Second
		}
		if wait > maxWait-waited {
			return "", fmt.Errorf("%w; not retried, because the wait would be %v", err, wait)
		}
		waited += wait
		if err := c.sleep(ctx, wait); err != nil {
			return "", fmt.Errorf("wait to ask again: %w", err)
		}
	}
}

func (c *Client) send(ctx context.Context, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url.String(), bytes.NewReader(body))
	if err != nil {
		return nil, errors.New("make the request: the base URL is unusable")
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", c.userAgent)
	c.wire.authorize(req.Header, c.key())
	// http.Client is not used, because it follows redirects and repeats the headers there.
	resp, err := c.transport.RoundTrip(req)
	if err != nil {
		return nil, fmt.Errorf("no answer: %s", reason(err))
	}
	return resp, nil
}

// read returns the text of a response, and closes its body.
func (c *Client) read(resp *http.Response) (string, error) {
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	switch {
	case resp.StatusCode != http.StatusOK:
		return "", &statusError{resp.StatusCode, words(data)}
	case err != nil:
		return "", fmt.Errorf("the answer was cut off: %s", reason(err))
	case len(data) > maxBody:
		return "", fmt.Errorf("the answer is larger than %d bytes", maxBody)
	}
	return c.wire.decode(data)
}

// reason describes why an exchange failed. It quotes only errors of our side of the connection,
// because other errors may contain the server's text.
func reason(err error) string {
	if e, ok := errors.AsType[*net.OpError](err); ok && slices.Contains([]string{"dial", "read", "write", "remote error"}, e.Op) {
		return e.Error()
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return "its certificate is not trusted"
	}
	return "the connection was closed, or the server does not speak HTTP"
}
