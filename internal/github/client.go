// Package github is the one way to GitHub's REST API: it satisfies [runner.Issues]
// over go-github and reads configuration files from a repository.
//
// go-github v62 leaves several things open that matter to a program which must not
// write twice: it knows rate limits only for 403 and answers later calls from
// memory, retries nothing, follows redirects (which turns a POST into a GET), does
// not escape label names and sends labels in a form that GitHub's description does
// not know. They are settled here, in the transport and in the calls.
package github

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	gh "github.com/google/go-github/v62/github"

	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/triage"
)

const (
	defaultBaseURL        = "https://api.github.com"
	defaultUserAgent      = "foreman-action"
	defaultRequestTimeout = 30 * time.Second
	defaultMaxWait        = 90 * time.Second
)

// Options configures a [Client]. The zero value reads public data from
// api.github.com without a token.
type Options struct {
	// BaseURL is the API's root, such as "https://api.github.com" or, for an
	// Enterprise Server, "https://github.example.com/api/v3", with or without a
	// trailing slash. Empty means api.github.com.
	BaseURL string
	// Token is sent as a bearer token; empty sends none. It appears in no error.
	Token string
	// Tokens gives tokens that run out, in the place of Token; nil: there are none.
	Tokens TokenSource
	// UserAgent names the program to GitHub; empty means "foreman-action".
	UserAgent string
	// Transport carries the requests; nil means a copy of [http.DefaultTransport],
	// which honours the proxy variables of the environment.
	Transport http.RoundTripper
	// Now tells the time; nil means [time.Now].
	Now func() time.Time
	// Sleep waits for a duration or until the context ends, whose error it then
	// returns; nil waits in real time.
	Sleep func(context.Context, time.Duration) error
	// RequestTimeout bounds one request, from connecting to the last byte of its
	// answer; 0 means 30 seconds.
	RequestTimeout time.Duration
	// MaxWait bounds how long one call may wait, in total, for rate limits and
	// between tries; 0 means 90 seconds.
	MaxWait time.Duration
	// Log gets a debug record for each request and a warning for each wait; nil
	// discards.
	Log *slog.Logger
}

// A TokenSource gives tokens that run out, such as those of a GitHub App.
// Implementations are safe for concurrent use.
type TokenSource interface {
	// Token returns a token for the next request. refused is one that GitHub does not take
	// any more, and which is not to be returned again; empty: none. The error shows no
	// secret.
	Token(ctx context.Context, refused string) (string, error)
}

// A Client talks to one GitHub host with one token. It is safe for concurrent use.
// Its methods keep the contract of [runner.Issues]: reads are tried up to three
// times, rate limits are waited for within a bound, and a write whose outcome is
// unknown is not repeated.
type Client struct {
	// The library's two methods, and not its client: one that reflection can reach
	// would keep every method of every service in the program, some 2 MB.
	newRequest func(method, path string, body any, opts ...gh.RequestOption) (*http.Request, error)
	send       func(ctx context.Context, req *http.Request, out any) (*gh.Response, error)
	left       *atomic.Int64 // see Budget
	rate       *rate
	now        func() time.Time
	host       string // of the API, in lower case
}

var (
	_ runner.Issues     = (*Client)(nil)
	_ runner.Repository = (*Client)(nil)
	_ runner.Search     = (*Client)(nil)
)

// New returns a client. It does no I/O; an error says that BaseURL is not usable.
func New(o Options) (*Client, error) {
	base, err := baseURL(o.BaseURL)
	if err != nil {
		return nil, err
	}
	via := newTransport(o)
	client := gh.NewClient(&http.Client{
		Transport:     via,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	})
	client.BaseURL = base
	client.UserAgent = o.UserAgent
	if client.UserAgent == "" {
		client.UserAgent = defaultUserAgent
	}
	return &Client{
		newRequest: client.NewRequest, send: client.Do, left: &via.left,
		rate: via.rate, now: via.now, host: strings.ToLower(base.Host),
	}, nil
}

func baseURL(s string) (*url.URL, error) {
	if s == "" {
		s = defaultBaseURL
	}
	u, err := url.Parse(s)
	if err != nil {
		// The parser's message repeats its input, which may hold a password.
		return nil, errors.New("github base URL: not a URL")
	}
	switch {
	case u.Scheme != "https" && u.Scheme != "http", u.Host == "":
		return nil, errors.New("github base URL: want http(s)://host/path")
	case u.User != nil, u.RawQuery != "", u.Fragment != "":
		return nil, errors.New("github base URL: user, query and fragment are not allowed")
	}
	u.Path = strings.TrimRight(u.Path, "/") + "/"
	u.RawPath = ""
	return u, nil
}

// do makes one call: it checks the reference, hands attempt a context through which
// the transport tells what happened, and turns a failure into an error that says
// what was being done.
func (c *Client) do(ctx context.Context, o op, attempt func(context.Context) error) error {
	if err := checkRef(o.ref, o.wide); err != nil {
		return fmt.Errorf("%s: %w", o, err)
	}
	ex := &exchange{spent: budgetOf(ctx)}
	err := attempt(context.WithValue(ctx, exchangeKey{}, ex))
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", o, o.cause(ex, err))
}

// A call is one request and where its answer goes. path is relative to the API's
// root and already escaped; in and out may be nil.
type call struct {
	method, path string
	in, out      any
}

// request is [Client.do] for one request.
func (c *Client) request(ctx context.Context, o op, r call) error {
	return c.do(ctx, o, func(ctx context.Context) error {
		_, err := c.exchange(ctx, r)
		return err
	})
}

func (c *Client) exchange(ctx context.Context, r call) (*gh.Response, error) {
	req, err := c.newRequest(r.method, r.path, r.in)
	if err != nil {
		return nil, err
	}
	return c.send(ctx, req, r.out)
}

// pages reads a list page by page: each page into what page returns, until use says
// enough or the last page was read. ErrTruncated when there are more than maxPages.
func (c *Client) pages(ctx context.Context, o op, path string, page func() any, use func() (enough bool)) error {
	for n := 1; n <= max(maxPages, o.pages); n++ {
		last := false
		err := c.do(ctx, o, func(ctx context.Context) error {
			resp, err := c.exchange(ctx, call{http.MethodGet, fmt.Sprintf("%s&per_page=%d&page=%d", path, pageSize, n), nil, page()})
			if err == nil {
				last = resp.NextPage == 0
			}
			return err
		})
		if err != nil || use() || last {
			return err
		}
	}
	return fmt.Errorf("%s: %w: it has more than %d entries", o, triage.ErrTruncated, max(maxPages, o.pages)*pageSize)
}
