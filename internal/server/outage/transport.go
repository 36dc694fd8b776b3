package outage

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/github/rest"
)

// Transport returns a transport that observes the requests that base sends. With a repo,
// "owner/name", these are the requests with the tokens that an App gets for this repository. With
// an empty repo, they are all requests with a single token.
func (m *Monitor) Transport(base http.RoundTripper, repo string) http.RoundTripper {
	if m == nil {
		return base
	}
	return &transport{base, m, repo}
}

type transport struct {
	base    http.RoundTripper
	monitor *Monitor
	repo    string
}

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	begin := t.monitor.o.Now()
	res, err := t.base.RoundTrip(r)
	switch {
	case errors.Is(err, context.Canceled): // the server itself cancelled the request
	case err != nil:
		t.monitor.failed(r.Context(), begin, err.Error())
	case res.StatusCode >= http.StatusInternalServerError:
		t.monitor.failed(r.Context(), begin, "status "+res.Status)
	default:
		// Wait for the end of the body, which shows whether the answer is complete and comes from
		// GitHub.
		res.Body = &body{ReadCloser: res.Body, ended: func(size int64, err error) { t.judge(r, res, answer{begin, size, err}) }}
	}
	return res, err
}

// A body reports its end once: its number of bytes, without leading spaces, and the error if it
// ended too early.
type body struct {
	io.ReadCloser

	ended func(size int64, err error) // nil after it was called
	size  int64
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.size > 0 {
		b.size += int64(n)
	} else {
		b.size = int64(len(bytes.TrimSpace(p[:n])))
	}
	if err != nil {
		b.end(err)
	}
	return n, err
}

// Close implements io.Closer. A body that is closed before its end counts as complete, because the
// caller has read enough of it.
func (b *body) Close() error {
	b.size = max(b.size, 1)
	b.end(io.EOF)
	return b.ReadCloser.Close()
}

func (b *body) end(err error) {
	if b.ended == nil {
		return
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	b.ended(b.size, err)
	b.ended = nil
}

// An answer is a request whose response was read to the end.
type answer struct {
	begin time.Time // of the request
	size  int64     // of the body
	err   error     // why the body ended too early; nil if it is complete
}

// judge records an answer.
func (t *transport) judge(r *http.Request, res *http.Response, a answer) {
	ctx := r.Context()
	if errors.Is(a.err, context.Canceled) {
		return
	}
	if err := cmp.Or(a.err, rest.CheckOrigin(res, a.size)); err != nil {
		t.monitor.failed(ctx, a.begin, err.Error())
		return
	}
	t.monitor.answered(ctx)
	t.credentials(r, res, a.begin)
}

// credentials records what an answer shows about the credentials.
func (t *transport) credentials(r *http.Request, res *http.Response, begin time.Time) {
	ctx, why := r.Context(), "status "+res.Status
	switch code := res.StatusCode; {
	case signsIn(r) && code == http.StatusUnauthorized:
		t.monitor.refuse(ctx, everywhere, begin, why) // the App's key is wrong for every repository
	case signsIn(r):
		if t.repo != everywhere {
			t.monitor.accept(ctx, everywhere)
		}
		if lostAccess(res) {
			t.monitor.refuse(ctx, t.repo, begin, why)
		} else {
			t.monitor.seen(ctx, t.repo) // getting a token does not prove access
		}
	case code == http.StatusUnauthorized:
		t.monitor.refuse(ctx, t.repo, begin, why)
	case code == http.StatusForbidden, code == http.StatusTooManyRequests:
		t.monitor.seen(ctx, t.repo) // after many wrong tokens GitHub answers 403, and limits are not an outage
	default:
		t.monitor.accept(ctx, t.repo)
	}
}

// signsIn reports whether a request authenticates as the App itself, to get a token.
func signsIn(r *http.Request) bool {
	path := r.URL.Path
	if strings.Contains(path, "/repos/") {
		return strings.HasSuffix(path, "/installation")
	}
	return strings.HasSuffix(path, "/app") || strings.Contains(path, "/app/installations/")
}

// lostAccess reports whether the App is refused: it was suspended, is no longer installed, or lacks
// access to the repository or a permission.
func lostAccess(res *http.Response) bool {
	switch res.StatusCode {
	case http.StatusNotFound, http.StatusUnprocessableEntity:
		return true
	case http.StatusForbidden:
		limited := res.Header.Get("Retry-After") != "" || res.Header.Get("X-Ratelimit-Remaining") == "0"
		return !limited
	}
	return false
}
