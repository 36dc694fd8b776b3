package agent

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/org/foreman-action/protocol"
)

// The defaults of RemoteOptions.
const (
	DefaultTimeout  = 60 * time.Second
	DefaultMaxBytes = 1 << 20
)

// maxHeaderBytes bounds the headers of an answer, with the transport of our own.
const maxHeaderBytes = 64 << 10

// RemoteOptions say where an agent is and how it is asked.
type RemoteOptions struct {
	// URL is the agent's base address, http or https. "/task" is appended unless the
	// path already ends in it; a query is kept. Userinfo becomes Basic auth.
	URL string
	// Authorize returns the value of the Authorization header and is asked before
	// each call. It must return when ctx is done. An empty value, or a nil Authorize,
	// leaves the header to the URL's userinfo.
	Authorize func(ctx context.Context) (string, error)
	// Timeout bounds one call, from Authorize and connecting to the last byte of the
	// answer; 0 means DefaultTimeout.
	Timeout time.Duration
	// MaxBytes bounds the answer's body, decompressed; 0 means DefaultMaxBytes.
	MaxBytes int64
	// Transport carries the request. nil means a clone of http.DefaultTransport that
	// takes its proxy from the environment and opens one connection per call.
	Transport http.RoundTripper
	// UserAgent is the header of that name; empty means "foreman".
	UserAgent string
}

// A Remote asks one agent for decisions. It is safe for concurrent use.
type Remote struct {
	url       *url.URL // without userinfo
	user      *url.Userinfo
	authorize func(ctx context.Context) (string, error)
	timeout   time.Duration
	maxBytes  int64
	transport http.RoundTripper
	userAgent string
}

// NewRemote checks the options and returns a Remote; nothing is sent. A secret (an
// Authorize, or userinfo in the URL) is refused over plain http, unless the host is
// this machine, a private or link-local IP address, or a name without a dot. An
// error repeats nothing of the URL.
func NewRemote(o RemoteOptions) (*Remote, error) {
	u, user, err := parseAddress(o.URL)
	switch {
	case err != nil:
		return nil, err
	case u.Scheme == "http" && (o.Authorize != nil || user != nil) && !nearby(u.Hostname()):
		return nil, errors.New("agent address: a secret would go over plain http; want https://, or a host on this machine or in a private network")
	case o.Timeout < 0:
		return nil, fmt.Errorf("agent timeout: want more than 0, got %v", o.Timeout)
	case o.MaxBytes < 0:
		return nil, fmt.Errorf("agent answer limit: want more than 0 bytes, got %d", o.MaxBytes)
	case !validHeader(o.UserAgent):
		return nil, errors.New("agent user agent: it holds a control character")
	}
	r := &Remote{
		url:       u,
		user:      user,
		authorize: o.Authorize,
		timeout:   cmp.Or(o.Timeout, DefaultTimeout),
		maxBytes:  cmp.Or(o.MaxBytes, DefaultMaxBytes),
		transport: o.Transport,
		userAgent: cmp.Or(o.UserAgent, "foreman"),
	}
	if r.transport == nil {
		r.transport = newTransport()
	}
	return r, nil
}

// newTransport returns the transport of a Remote that was given none.
func newTransport() *http.Transport {
	t := &http.Transport{ForceAttemptHTTP2: true}
	if base, ok := http.DefaultTransport.(*http.Transport); ok {
		t = base.Clone()
	}
	t.Proxy = http.ProxyFromEnvironment
	t.MaxResponseHeaderBytes = maxHeaderBytes
	// A kept connection may turn out to be dead, and then the transport repeats the
	// request by itself: a decision is asked for once.
	t.DisableKeepAlives = true
	return t
}

// validHeader reports whether a header may have the value.
func validHeader(v string) bool {
	return !strings.ContainsFunc(v, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
}

// Address returns the address that tasks are posted to, for humans and audit:
// without userinfo and query.
func (r *Remote) Address() string {
	u := *r.url
	u.RawQuery, u.ForceQuery = "", false
	return u.String()
}

// Decide sends the task and returns the agent's decision on it. There is one
// request: nothing is repeated, and no redirect is followed. Every error is an
// *Error.
func (r *Remote) Decide(ctx context.Context, task protocol.TaskMessage) (protocol.DecisionMessage, error) {
	body, err := encode(task)
	if err != nil {
		return protocol.DecisionMessage{}, r.fail(ReasonInvalid, 0, fmt.Errorf("encode the task: %w", err))
	}
	ctx, cancel := context.WithTimeoutCause(ctx, r.timeout, errTimeout)
	defer cancel()
	c := &call{remote: r, ctx: ctx}
	resp, err := c.send(body)
	if err != nil {
		return protocol.DecisionMessage{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := c.read(resp)
	if err != nil {
		return protocol.DecisionMessage{}, err
	}
	return c.decode(resp, data, task.TaskID)
}

func (r *Remote) fail(reason Reason, status int, err error) *Error {
	return &Error{Address: r.Address(), Reason: reason, Status: status, Err: err}
}

// encode returns the task as compact JSON. Text stays as it is: agents may look for
// "<" in an issue, not for its escape.
func encode(task protocol.TaskMessage) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(task); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// errTimeout is the cause of a context that the Remote's own timeout ended.
var errTimeout = errors.New("agent timeout")

// A call is one question to an agent.
type call struct {
	remote  *Remote
	ctx     context.Context // ends with the call
	secrets secrets
}

// send asks for the authorization and sends the request.
func (c *call) send(body []byte) (*http.Response, error) {
	header, err := c.authorization()
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(c.ctx, http.MethodPost, c.remote.url.String(), bytes.NewReader(body))
	if err != nil {
		return nil, c.remote.fail(ReasonUnreachable, 0, c.hide("make the request", err))
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", c.remote.userAgent)
	if header != "" {
		req.Header.Set("Authorization", header)
	}
	// Not through http.Client: it follows redirects, and its errors hold addresses.
	resp, err := c.remote.transport.RoundTrip(req)
	if err != nil {
		return nil, c.broken(0, "no answer", err)
	}
	return resp, nil
}

// authorization returns the value of the Authorization header; empty for none.
func (c *call) authorization() (string, error) {
	r := c.remote
	c.secrets = secretsOf("", r.user)
	var header string
	if r.authorize != nil {
		var err error
		header, err = r.authorize(c.ctx)
		c.secrets = secretsOf(header, r.user)
		switch {
		case c.ctx.Err() != nil:
			return "", c.broken(0, "no authorization", c.ctx.Err())
		case err != nil:
			return "", r.fail(ReasonAuth, 0, c.hide("get its authorization", err))
		case !validHeader(header):
			return "", r.fail(ReasonAuth, 0, errors.New("get its authorization: it holds a control character"))
		}
	}
	if header == "" && r.user != nil {
		password, _ := r.user.Password()
		header = "Basic " + base64.StdEncoding.EncodeToString([]byte(r.user.Username()+":"+password))
		c.secrets = secretsOf(header, r.user)
	}
	return header, nil
}

// hide wraps a foreign error so that its text is safe and its parts stay hidden.
func (c *call) hide(doing string, err error) error {
	return &opaque{text: doing + ": " + c.secrets.clean(err.Error()), cause: err}
}

// broken says why an exchange ended early: what is the sentence's start.
func (c *call) broken(status int, what string, err error) *Error {
	r := c.remote
	switch ctxErr := c.ctx.Err(); {
	case ctxErr != nil && context.Cause(c.ctx) == errTimeout:
		return r.fail(ReasonTimeout, status, &opaque{fmt.Sprintf("%s within %v", what, r.timeout), ctxErr})
	case errors.Is(ctxErr, context.DeadlineExceeded):
		return r.fail(ReasonTimeout, status, &opaque{what + " before the caller's deadline", ctxErr})
	case ctxErr != nil:
		return r.fail(ReasonCanceled, status, &opaque{what + ": canceled by the caller", errors.Join(ctxErr, context.Cause(c.ctx))})
	}
	reason := ReasonUnreachable
	if n, ok := errors.AsType[net.Error](err); ok && n.Timeout() {
		reason = ReasonTimeout
	}
	return r.fail(reason, status, c.hide(what, err))
}
