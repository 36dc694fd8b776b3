package results

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/roundtrip"
	"github.com/org/foreman-action/internal/wait"
	"github.com/org/foreman-action/memory"
)

// A request that fails for a passing reason is sent maxTries times, with firstWait
// and then twice the last wait between.
const (
	maxTries  = 4
	firstWait = time.Second
	maxAnswer = 1 << 20 // bytes of an answer that holds no record
)

// A client sends requests to one service and to the signed addresses it gives. It
// follows no redirect: it has a RoundTripper and no http.Client.
type client struct {
	base    string // the service, without a trailing slash
	token   string
	plain   bool // the service is spoken to without TLS, so its signed addresses may be
	via     http.RoundTripper
	timeout time.Duration
	now     func() time.Time
	sleep   func(context.Context, time.Duration) error
	log     *slog.Logger
	mask    func(string)
}

func newClient(o Options, base, name string) (*client, error) {
	switch {
	case base == "":
		return nil, fmt.Errorf("%w: %s is not set", ErrUnavailable, name)
	case o.RuntimeToken == "":
		return nil, fmt.Errorf("%w: ACTIONS_RUNTIME_TOKEN is not set", ErrUnavailable)
	}
	if _, err := memory.Key(o.Repo, 1); err != nil {
		return nil, err
	}
	return connect(o, base, name, o.RuntimeToken)
}

// connect makes a client, with a default for what the options leave open.
func connect(o Options, base, name, token string) (*client, error) {
	u, err := url.Parse(base)
	if err != nil || (u.Scheme != "https" && u.Scheme != "http") || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		// The address is not repeated: it may hold a password.
		return nil, fmt.Errorf("%s: want http(s)://host/path", name)
	}
	if strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, errors.New("the token holds a character that no token has")
	}
	c := &client{
		base: strings.TrimRight(base, "/"), token: token, plain: u.Scheme == "http",
		via: o.Transport, timeout: o.RequestTimeout, now: o.Now, sleep: o.Sleep, log: o.Log, mask: o.Mask,
	}
	if c.via == nil {
		c.via = roundtrip.New()
	}
	if c.timeout <= 0 {
		c.timeout = defaultTimeout
	}
	if c.now == nil {
		c.now = time.Now
	}
	if c.sleep == nil {
		c.sleep = wait.For
	}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	if c.mask == nil {
		c.mask = func(string) {}
	}
	return c, nil
}

// A call is one request.
type call struct {
	what    string // for errors: "reserve a cache entry"
	method  string
	url     string
	header  map[string]string
	body    []byte
	limit   int      // of the answer, in bytes; 0: maxAnswer
	secrets []string // what no error may show besides the token
	// redirects says that an answer with status 302 is the one that is wanted.
	redirects bool
}

// A reply is an answer that was read whole.
type reply struct {
	status int
	header http.Header
	body   []byte
}

// do sends a request until it has an answer that is worth having, or the tries are
// used up. An answer other than success is a [*statusError]. Nothing that says "too
// many requests" is repeated: it would make things worse.
func (c *client) do(ctx context.Context, r call) (reply, error) {
	for try, wait := 1, firstWait; ; try, wait = try+1, 2*wait {
		got, err := c.once(ctx, r)
		if found := r.redirects && got.status == http.StatusFound; err == nil && got.status >= 300 && !found {
			err = c.refusal(got, r)
		}
		if err == nil || try == maxTries || ctx.Err() != nil || !passing(err) {
			return got, c.wrap(err, r)
		}
		c.log.Warn("waiting before the request is repeated", "what", r.what, "wait", wait, "cause", kind(err))
		if err := c.sleep(ctx, wait); err != nil {
			return reply{}, c.wrap(err, r)
		}
	}
}

// wrap says what was being done, and takes every secret out.
func (c *client) wrap(err error, r call) error {
	if err == nil {
		return nil
	}
	return redact(fmt.Errorf("%s: %w", r.what, err), append(slices.Clip(r.secrets), c.token))
}

// once sends a request and reads its answer, within the time-out.
func (c *client) once(ctx context.Context, r call) (reply, error) {
	if err := ctx.Err(); err != nil {
		return reply{}, err
	}
	bounded, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	start := c.now()
	got, err := c.exchange(bounded, r)
	if err != nil {
		if bounded.Err() != nil && ctx.Err() == nil {
			err = fmt.Errorf("%w: waited %s", errTimeout, c.timeout)
		}
		return reply{}, err
	}
	c.log.Debug("request", "what", r.what, "status", got.status, "took", c.now().Sub(start))
	return got, nil
}

func (c *client) exchange(ctx context.Context, r call) (reply, error) {
	req, err := http.NewRequestWithContext(ctx, r.method, r.url, bytes.NewReader(r.body))
	if err != nil {
		// The parser's message repeats the address.
		return reply{}, errAddress
	}
	req.Header.Set("User-Agent", userAgent)
	for k, v := range r.header {
		req.Header.Set(k, v)
	}
	resp, err := c.via.RoundTrip(req)
	if err != nil {
		return reply{}, err
	}
	defer resp.Body.Close()
	limit := r.limit
	if limit == 0 {
		limit = maxAnswer
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, int64(limit)+1))
	switch {
	case err != nil:
		return reply{}, fmt.Errorf("read the answer: %w", err)
	case len(body) > limit && resp.StatusCode < 300:
		return reply{}, errTooLarge
	}
	// Of an answer other than success its status counts, however much goes with it.
	return reply{resp.StatusCode, resp.Header, body[:min(len(body), limit)]}, nil
}

// authorised returns the headers of a request to the service itself.
func (c *client) authorised() map[string]string {
	h := map[string]string{}
	if c.token != "" {
		h["Authorization"] = "Bearer " + c.token
	}
	return h
}
