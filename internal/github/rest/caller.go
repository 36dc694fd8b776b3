// Package rest makes calls to one GitHub host with one token. It authorises calls, waits for rate
// limits, and retries idempotent calls. The error of a failed write reports whether the write was
// carried out, was not, or is unknown.
//
// go-github v62 does not handle several cases that matter to a program which must not write twice.
// It detects rate limits only for 403, and then refuses later calls by itself. It retries nothing,
// and follows redirects, which turns a POST into a GET. It does not escape label names, and sends
// labels in a form that GitHub's description does not contain. This package, and the calls of
// package github, handle these cases.
//
// The typed calls of go-github are not used. They return parsed values, but packages triage and
// runner need GitHub's own JSON. They fail completely if one field has another form, send other
// headers, and make the program 64 KiB larger.
package rest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	gh "github.com/google/go-github/v62/github"

	"github.com/org/foreman-action/internal/roundtrip"
	"github.com/org/foreman-action/triage"
)

const (
	// PageSize is the number of entries that a page of a list contains.
	PageSize = 100
	maxPages = 4
)

// A Caller makes calls to one GitHub host with one token. It is safe for concurrent use. It tries a
// read up to three times, waits for rate limits up to [Options.MaxWait], and never repeats a write
// whose outcome is unknown.
type Caller struct {
	// The fields hold two methods of go-github's client instead of the client itself. If reflection
	// could reach the client, the linker would keep every method of every service, some 2 MB.
	newRequest func(method, path string, body any, opts ...gh.RequestOption) (*http.Request, error)
	send       func(ctx context.Context, req *http.Request, out any) (*gh.Response, error)
	left       *atomic.Int64 // see [Caller.Left]
	rate       *rate
	now        func() time.Time
	host       string // of the API, in lower case
	graphQL    string // path of the GraphQL API
	version    string // of the REST API
}

// New returns a caller. It does no I/O; an error means that BaseURL is not usable.
func New(o Options) (*Caller, error) {
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
	return &Caller{
		newRequest: client.NewRequest, send: client.Do, left: &via.left,
		rate: via.rate, now: via.now, host: strings.ToLower(base.Host), graphQL: graphQLPath(base.Path), version: roundtrip.GitHubVersion(base.Path),
	}, nil
}

// A Call is one request, and the destination of its response. Path is relative to the API's root
// and already escaped. In is the body and Out gets the parsed response; each may be nil.
type Call struct {
	Method, Path string
	In, Out      any
	// ETag is the ETag of an earlier answer to the same read; empty: there was none.
	ETag string
	// GraphQL sends In, a [Query], to the GraphQL API; Method and Path are ignored. If the response
	// contains errors, Do returns an [AnswerError]. If GitHub may have executed the query, the
	// error also matches triage.ErrUncertain.
	GraphQL bool
}

// A Reply is the data of a response's header.
type Reply struct {
	Same  bool      // nothing has changed since Call.ETag: there is no body
	ETag  string    // for the next call
	Date  time.Time // GitHub's time of the response; zero when unknown
	More  bool      // there is a page after this one
	Named bool      // the next page has a token instead of a number
	// Cursor is where the next page of a list with cursors begins; empty: it has none.
	Cursor string
	Next   int // number of the next page; 0 if it has none
	Last   int // number of the last page; 0 if this page is the last, or if GitHub does not report it
}

// Do makes one call. Errors name the operation and keep the contract of runner.Issues. With an
// error the Reply contains only the date.
func (c *Caller) Do(ctx context.Context, o Op, call Call) (Reply, error) {
	if err := o.Check(); err != nil {
		return Reply{}, fmt.Errorf("%s: %w", o, err)
	}
	if call.GraphQL {
		call.Method, call.Path = http.MethodPost, c.graphQL
	}
	ex := &exchange{spent: spentOf(ctx), graphQL: call.GraphQL, repo: o.repo()}
	resp, err := c.exchange(context.WithValue(ctx, exchangeKey{}, ex), call)
	var r Reply
	if resp != nil {
		r.Date, _ = http.ParseTime(resp.Header.Get("Date")) // zero when unknown
	}
	switch {
	case call.ETag != "" && ex.answer != nil && ex.answer.Status == http.StatusNotModified:
		r.Same = true
		return r, nil
	case err == nil && ex.answer != nil: // errors of the GraphQL API
		err = ex.answer
	}
	if err != nil {
		return r, fmt.Errorf("%s: %w", o, o.cause(ex, err))
	}
	r.ETag = resp.Header.Get("ETag")
	r.Next, r.Last, r.Named = resp.NextPage, resp.LastPage, resp.NextPageToken != ""
	r.Cursor = resp.Cursor
	r.More = r.Next != 0 || resp.After != "" || resp.Cursor != ""
	return r, nil
}

func (c *Caller) exchange(ctx context.Context, call Call) (*gh.Response, error) {
	req, err := c.newRequest(call.Method, call.Path, call.In, gh.WithVersion(c.version))
	if err != nil {
		return nil, err
	}
	if call.ETag != "" {
		req.Header.Set("If-None-Match", call.ETag)
	}
	resp, err := c.send(ctx, req, call.Out)
	if _, accepted := errors.AsType[*gh.AcceptedError](err); accepted {
		return resp, nil // go-github returns the status 202 as an error
	}
	return resp, err
}

// Left returns how many calls the token may still make in this hour, from GitHub's last report; ok
// is false if GitHub has not reported it yet, or if the hour of its report has ended.
func (c *Caller) Left() (left int, ok bool) {
	n := c.left.Load()
	return int(n) - 1, n > 0 && !c.rate.ended(c.now())
}

// Limit returns how many calls the token may make in an hour, from GitHub's last report; 0: GitHub has not reported it yet.
func (c *Caller) Limit() int { return c.rate.hourly() }

// Spend returns a [BudgetError] if no more calls than the reserve are left.
func (c *Caller) Spend(reserve int) error { return c.rate.spend(reserve, c.now()) }

// Now returns the time.
func (c *Caller) Now() time.Time { return c.now() }

// Host returns the host of the API, in lower case, with its port if it has one.
func (c *Caller) Host() string { return c.host }

// Pages reads a list page by page; path ends in "?" or has a query. All pages together wait at most
// [Options.MaxWait]. The last error is triage.ErrTruncated when there are more pages than
// [Op.Pages] allows.
func Pages[T any](ctx context.Context, c *Caller, o Op, path string) iter.Seq2[[]T, error] {
	return func(yield func([]T, error) bool) {
		ctx := ShareWait(ctx)
		most := max(maxPages, o.Pages)
		for n := 1; n <= most; n++ {
			var page []T
			r, err := c.Do(ctx, o, Call{Method: http.MethodGet, Path: fmt.Sprintf("%s&per_page=%d&page=%d", path, PageSize, n), Out: &page})
			if !yield(page, err) || err != nil || r.Next == 0 {
				return
			}
		}
		yield(nil, fmt.Errorf("%s: %w: it has more than %d entries", o, triage.ErrTruncated, most*PageSize))
	}
}
