package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/address"
	"github.com/org/foreman-action/internal/roundtrip"
)

// The defaults of RemoteOptions.
const (
	defaultTimeout  = 60 * time.Second
	DefaultMaxBytes = 1 << 20
)

// maxHeaderBytes is the most bytes of an answer's headers with the default transport.
const maxHeaderBytes = 64 << 10

// RemoteOptions configure a Remote.
type RemoteOptions struct {
	// URL is the agent's base address, http or https. "/task" is appended unless the path already
	// ends in it. A query is kept. Userinfo is sent as Basic auth.
	URL string
	// Authorize is called before each call and returns the value of the Authorization header. It
	// must return when ctx is done. If it is nil or returns "", the URL's userinfo is used.
	Authorize func(ctx context.Context) (string, error)
	// Timeout limits one call, from Authorize and connecting to the last byte of the answer; 0
	// means 60 seconds.
	Timeout time.Duration
	// MaxBytes limits the decompressed body of an answer; 0 means DefaultMaxBytes.
	MaxBytes int64
	// Transport sends the request; nil means a clone of http.DefaultTransport that takes its
	// proxy from the environment and opens one connection per call.
	Transport http.RoundTripper
	// UserAgent is the User-Agent header; empty means "foreman".
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

// NewRemote checks the options and returns a Remote. It sends nothing. A secret (an Authorize, or
// userinfo in the URL) over plain http is an error, unless the host is this machine, a private or
// link-local IP address, or a name without a dot. No error contains any part of the URL.
func NewRemote(o RemoteOptions) (*Remote, error) {
	u, user, err := parseAddress(o.URL)
	switch {
	case err != nil:
		return nil, err
	case u.Scheme == "http" && (o.Authorize != nil || user != nil) && !address.Nearby(u.Hostname()):
		return nil, errors.New("agent address: a secret would go over plain http; want https://, or a host on this machine or in a private network")
	case o.Timeout < 0:
		return nil, fmt.Errorf("agent timeout: want more than 0, got %v", o.Timeout)
	case o.MaxBytes < 0:
		return nil, fmt.Errorf("agent answer limit: want more than 0 bytes, got %d", o.MaxBytes)
	case !validHeader(o.UserAgent):
		return nil, errors.New("agent user agent: it contains a control character")
	}
	r := &Remote{
		url:       u,
		user:      user,
		authorize: o.Authorize,
		timeout:   cmp.Or(o.Timeout, defaultTimeout),
		maxBytes:  cmp.Or(o.MaxBytes, DefaultMaxBytes),
		transport: o.Transport,
		userAgent: cmp.Or(o.UserAgent, "foreman"),
	}
	if r.transport == nil {
		r.transport = newTransport()
	}
	return r, nil
}

// newTransport returns the default transport of a Remote.
func newTransport() *http.Transport {
	t := roundtrip.New()
	t.Proxy = http.ProxyFromEnvironment
	t.MaxResponseHeaderBytes = maxHeaderBytes
	// If a kept connection is dead, the transport repeats the request by itself. A decision must
	// be requested only once, so connections are not kept.
	t.DisableKeepAlives = true
	return t
}

// validHeader reports whether v is a valid value of a header.
func validHeader(v string) bool {
	return !strings.ContainsFunc(v, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
}

// Host returns the host of the agent's address, without a port.
func (r *Remote) Host() string { return r.url.Hostname() }

// Address returns the address to which tasks are posted, without userinfo and query, for messages
// and audit.
func (r *Remote) Address() string {
	u := *r.url
	u.RawQuery, u.ForceQuery = "", false
	return u.String()
}
