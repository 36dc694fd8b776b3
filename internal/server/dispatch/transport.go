package dispatch

import (
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"

	"github.com/org/foreman-action/internal/roundtrip"
)

// keepAlive is how long an unused connection to an agent is kept. Common servers keep theirs for 2 to
// 5 s, so the agent rarely closes a connection at the moment when a request is sent.
const keepAlive = time.Second

// A transport sends requests to agents over connections that are used again. It is safe for
// concurrent use.
type transport struct {
	kept  http.RoundTripper
	fresh http.RoundTripper // opens a connection for each request
}

// newTransport returns a transport that keeps a connection for each task that an agent has at a
// time.
func newTransport() *transport {
	kept := roundtrip.New()
	kept.MaxResponseHeaderBytes = 64 << 10
	kept.MaxIdleConns, kept.MaxIdleConnsPerHost, kept.IdleConnTimeout = 0, maxCap, keepAlive
	fresh := kept.Clone()
	fresh.DisableKeepAlives = true
	return &transport{kept, fresh}
}

// RoundTrip implements http.RoundTripper. If an agent closes a used connection without an answer, the
// request is sent once more over a new one: the agent may have restarted, or closed a connection that
// it did not use. Its circuit breaker would open otherwise.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	var reused, answered atomic.Bool // the connection may report an answer after RoundTrip has returned
	ctx := httptrace.WithClientTrace(req.Context(), &httptrace.ClientTrace{
		GotConn:              func(c httptrace.GotConnInfo) { reused.Store(c.Reused) },
		GotFirstResponseByte: func() { answered.Store(true) },
	})
	resp, err := t.kept.RoundTrip(req.WithContext(ctx))
	if err == nil || !reused.Load() || answered.Load() || req.Context().Err() != nil || req.GetBody == nil {
		return resp, err
	}
	body, bodyErr := req.GetBody()
	if bodyErr != nil {
		return nil, err
	}
	again := req.Clone(req.Context())
	again.Body = body
	return t.fresh.RoundTrip(again)
}
