// Package rpc sends requests to the results service of GitHub Actions, and to the signed addresses
// that the service issues. It limits the time of a request and the size of a response, and retries.
// Its errors and logs contain no secrets.
package rpc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// A request that fails for a temporary reason is sent maxTries times. The first wait between tries
// is firstWait, and each further wait is twice as long.
const (
	maxTries  = 4
	firstWait = time.Second
	maxAnswer = 1 << 20 // bytes of a response, unless the request has a limit of its own
	userAgent = "foreman-action"
)

// Options configure a [Client]. All but Token are required.
type Options struct {
	URL       string // of the service
	Name      string // the variable that contains URL; for errors
	Token     string // sent to the service, but never to a signed address; empty: none
	Transport http.RoundTripper
	Timeout   time.Duration // of one request, its answer included
	Now       func() time.Time
	Sleep     func(context.Context, time.Duration) error
	Log       *slog.Logger
	Mask      func(secret string) // called with each signature before its address is used
}

// A Client sends requests to one service and to the signed addresses it issues. It
// follows no redirect. It is safe for concurrent use.
type Client struct {
	o         Options
	plainHTTP bool // the service has no TLS, so signed addresses without TLS are accepted
}

// New returns a client. It does no I/O.
func New(o Options) (*Client, error) {
	u, err := url.Parse(o.URL)
	if err != nil || (u.Scheme != "https" && u.Scheme != "http") || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		// The address is not repeated: it may hold a password.
		return nil, fmt.Errorf("%s: want http(s)://host/path", o.Name)
	}
	if strings.ContainsFunc(o.Token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, errors.New("the token contains an invalid character")
	}
	o.URL = strings.TrimRight(o.URL, "/")
	return &Client{o, u.Scheme == "http"}, nil
}

// A Request is one request, either to Path of the service with the token, or to the signed address
// To without the token.
type Request struct {
	What   string // the action, for errors: "reserve the cache entry"
	Method string
	Path   string
	To     SignedURL
	Header map[string]string
	Body   []byte
	JSON   any // the body, instead of Body; nil: none
	Limit  int // of the answer, in bytes; 0: 1 MiB
	// Redirect is the status of a redirect that is the expected response, and no error; 0: none.
	Redirect int
}

// A Response is a response that was read completely.
type Response struct {
	Status int
	Header http.Header
	Body   []byte

	fields Fields // without values until the method Fields parses Body
}

// Do sends a request, and repeats it while it fails for a temporary reason. A status other than
// success is an error: see [IsNotFound] and the functions like it. A response that is larger than
// the limit is [ErrTooLarge]. Do never repeats a request after "too many requests".
func (c *Client) Do(ctx context.Context, r Request) (Response, error) {
	got, err := c.retry(ctx, r)
	if err != nil {
		return Response{}, redact(fmt.Errorf("%s: %w", r.What, err), c.secrets(r))
	}
	got.fields = Fields{what: r.What, secrets: c.secrets(r)}
	return got, nil
}

// Twirp calls a method of the service, such as "CacheService/CreateCacheEntry".
func (c *Client) Twirp(ctx context.Context, what, method string, in any) (Fields, error) {
	got, err := c.Do(ctx, Request{What: what, Method: http.MethodPost, Path: "/twirp/github.actions.results.api.v1." + method, JSON: in})
	if err != nil {
		return Fields{}, err
	}
	return got.Fields()
}

// secrets returns the texts that errors about the request must not contain.
func (c *Client) secrets(r Request) []string { return append(slices.Clip(r.To.secrets), c.o.Token) }

func (c *Client) retry(ctx context.Context, r Request) (Response, error) {
	if r.JSON != nil {
		body, err := marshal(r.JSON)
		if err != nil {
			return Response{}, err
		}
		r.Body = body
	}
	for try, wait := 1, firstWait; ; try, wait = try+1, 2*wait {
		got, err := c.once(ctx, r)
		if err == nil && got.Status >= 300 && got.Status != r.Redirect {
			err = newStatusError(got, c.o.Now(), c.secrets(r))
		}
		if err == nil || try == maxTries || ctx.Err() != nil || !passing(err) {
			return got, err
		}
		c.o.Log.Warn("waiting before the request is repeated", "what", r.What, "wait", wait, "cause", kind(err))
		if err := c.o.Sleep(ctx, wait); err != nil {
			return Response{}, err
		}
	}
}

func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// once sends a request and reads its response, within the time limit.
func (c *Client) once(ctx context.Context, r Request) (Response, error) {
	if err := ctx.Err(); err != nil {
		return Response{}, err
	}
	bounded, cancel := context.WithTimeout(ctx, c.o.Timeout)
	defer cancel()
	start := c.o.Now()
	got, err := c.exchange(bounded, r)
	if err != nil {
		if bounded.Err() != nil && ctx.Err() == nil {
			err = fmt.Errorf("%w: waited %s", errTimeout, c.o.Timeout)
		}
		return Response{}, err
	}
	c.o.Log.Debug("request", "what", r.What, "status", got.Status, "took", c.o.Now().Sub(start))
	return got, nil
}

func (c *Client) exchange(ctx context.Context, r Request) (Response, error) {
	address, signed := r.To.url, r.To.url != ""
	if !signed {
		address = c.o.URL + r.Path
	}
	req, err := http.NewRequestWithContext(ctx, r.Method, address, bytes.NewReader(r.Body))
	if err != nil {
		// The parser's message would repeat the address, which is secret.
		return Response{}, errAddress
	}
	req.Header.Set("User-Agent", userAgent)
	if !signed && c.o.Token != "" {
		req.Header.Set("Authorization", "Bearer "+c.o.Token)
	}
	if r.JSON != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for k, v := range r.Header {
		req.Header.Set(k, v)
	}
	resp, err := c.o.Transport.RoundTrip(req)
	if err != nil {
		return Response{}, err
	}
	defer resp.Body.Close()
	limit := r.Limit
	if limit == 0 {
		limit = maxAnswer
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, int64(limit)+1))
	switch {
	case err != nil:
		return Response{}, fmt.Errorf("read the answer: %w", err)
	case len(body) > limit && resp.StatusCode < 300:
		return Response{}, ErrTooLarge
	}
	// If the status is not success, the status matters and not the size of the body.
	return Response{Status: resp.StatusCode, Header: resp.Header, Body: body[:min(len(body), limit)]}, nil
}
