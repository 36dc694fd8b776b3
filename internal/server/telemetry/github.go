package telemetry

import (
	"net/http"
	"net/url"
	"strconv"
	"time"

	semconv "go.opentelemetry.io/otel/semconv/v1.40.0"
	"go.opentelemetry.io/otel/trace"
)

// A transport measures requests to GitHub.
type transport struct {
	base    http.RoundTripper
	metrics *metrics
	tracer  *tracer
	now     func() time.Time
}

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	begin := t.now()
	method := t.metrics.labels.of("method", r.Method)
	// Trace only requests that belong to a task, because polling sends requests all day.
	var s trace.Span
	if ctx := r.Context(); trace.SpanContextFromContext(ctx).IsValid() {
		// The span omits the path, which contains names of labels.
		_, s = t.tracer.begin(ctx, method, "", trace.WithSpanKind(trace.SpanKindClient),
			trace.WithAttributes(semconv.HTTPRequestMethodKey.String(method), semconv.ServerAddress(r.URL.Hostname()), semconv.ServerPort(port(r.URL))))
	}
	res, err := t.base.RoundTrip(r)
	code := 0
	if err == nil {
		code = res.StatusCode
		t.recordLimits(res)
	}
	if s != nil {
		finishHTTP(s, code, http.StatusBadRequest)
	}
	t.metrics.githubTime.WithLabelValues(method, strconv.Itoa(code)).Observe(t.now().Sub(begin).Seconds())
	return res, err
}

// port returns the port of an address.
func port(u *url.URL) int {
	if n, err := strconv.Atoi(u.Port()); err == nil {
		return n
	}
	if u.Scheme == "http" {
		return 80
	}
	return 443
}

// recordLimits records the state of GitHub's rate limits.
func (t *transport) recordLimits(res *http.Response) {
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
		t.metrics.githubBudget.WithLabelValues(resource).Set(float64(left))
	}
	refused := res.StatusCode == http.StatusForbidden || res.StatusCode == http.StatusTooManyRequests
	if refused && (h.Get("Retry-After") != "" || err == nil && left == 0) {
		t.metrics.githubLimited.Inc()
	}
}
