package telemetry

import (
	"context"
	"encoding/base64"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
)

// Handler measures what the HTTP API answers, and begins the trace of a webhook. Streams
// of the dashboard are not measured.
func (t *Telemetry) Handler(next http.Handler) http.Handler {
	if t == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v := verb(r)
		if v == "events" {
			next.ServeHTTP(w, r)
			return
		}
		begin := t.o.Now()
		ctx := t.joined(r)
		var end span
		if v == "webhook" && t.provider != nil {
			ctx, end = t.span(ctx, "webhook", "")
		}
		s := &statusWriter{ResponseWriter: w}
		next.ServeHTTP(s, r.WithContext(ctx))
		code := s.code()
		if end.s != nil {
			end.finish(nil, attribute.Int("http.response.status_code", code))
		}
		t.m.httpTime.WithLabelValues(v, strconv.Itoa(code)).Observe(t.o.Now().Sub(begin).Seconds())
	})
}

// joined returns the request's context, with the trace that an agent says it is in. Our
// steps link to it.
func (t *Telemetry) joined(r *http.Request) context.Context {
	ctx := r.Context()
	if t.provider == nil || verb(r) == "webhook" {
		return ctx
	}
	if p := parse(r.Header.Get("Traceparent")); p.IsValid() {
		ctx = trace.ContextWithRemoteSpanContext(ctx, p)
	}
	return ctx
}

// verb names a request, by a few words of ours.
func verb(r *http.Request) string {
	path := strings.TrimSuffix(r.URL.Path, "/")
	switch path {
	case "/queue/next":
		if r.URL.Query().Has("wait") {
			return "next_wait"
		}
		return "next"
	case "/queue/complete", "/queue/heartbeat", "/queue/status":
		return strings.TrimPrefix(path, "/queue/")
	case "/harness/result":
		return "result"
	case "/github/webhook":
		return "webhook"
	case "/metrics", "/events":
		return path[1:]
	case "/healthcheck", "/healthcheck/ready":
		return "health"
	}
	if strings.HasPrefix(path, "/queue/") {
		return "operator"
	}
	return "page"
}

// statusWriter remembers the status of an answer.
type statusWriter struct {
	http.ResponseWriter

	status int
}

// WriteHeader implements http.ResponseWriter.
func (s *statusWriter) WriteHeader(code int) {
	if s.status == 0 && code >= 200 {
		s.status = code
	}
	s.ResponseWriter.WriteHeader(code)
}

// Unwrap lets http.ResponseController reach the connection.
func (s *statusWriter) Unwrap() http.ResponseWriter { return s.ResponseWriter }

func (s *statusWriter) code() int {
	if s.status == 0 {
		return http.StatusOK
	}
	return s.status
}

// Transport measures requests to GitHub that base sends; nil: http.DefaultTransport. It
// fits github.Options.
func (t *Telemetry) Transport(base http.RoundTripper) http.RoundTripper {
	if base == nil {
		base = http.DefaultTransport
	}
	if t == nil {
		return base
	}
	return &transport{t, base}
}

type transport struct {
	t    *Telemetry
	base http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (g *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	begin := g.t.o.Now()
	method := g.t.names.of("method", r.Method)
	ctx := r.Context()
	end := span{trace.SpanFromContext(context.Background())}
	// Only as a part of a task: what polls asks all day long.
	if trace.SpanContextFromContext(ctx).IsValid() {
		// No path: it names labels.
		_, end = g.t.span(ctx, "GitHub "+method, "", attribute.String("http.request.method", method), attribute.String("server.address", r.URL.Hostname()))
	}
	res, err := g.base.RoundTrip(r)
	code := 0
	if err == nil {
		code = res.StatusCode
		g.note(res)
	}
	end.finish(err, attribute.Int("http.response.status_code", code))
	g.t.m.githubTime.WithLabelValues(method, strconv.Itoa(code)).Observe(g.t.o.Now().Sub(begin).Seconds())
	return res, err
}

// note keeps what GitHub says of its limits.
func (g *transport) note(res *http.Response) {
	h := res.Header
	left, err := strconv.Atoi(h.Get("X-Ratelimit-Remaining"))
	if err == nil && left >= 0 {
		resource := "other"
		switch name := h.Get("X-Ratelimit-Resource"); name {
		case "core", "search", "graphql":
			resource = name
		case "":
			resource = "core"
		}
		g.t.m.githubLeft.WithLabelValues(resource).Set(float64(left))
	}
	refused := res.StatusCode == http.StatusForbidden || res.StatusCode == http.StatusTooManyRequests
	if refused && (h.Get("Retry-After") != "" || err == nil && left == 0) {
		g.t.m.githubLimits.Inc()
	}
}

// basic is the header for a name and a password in an address.
func basic(u *url.Userinfo) string {
	pass, _ := u.Password()
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(u.Username()+":"+pass))
}
