package telemetry

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	semconv "go.opentelemetry.io/otel/semconv/v1.40.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/org/foreman-action/internal/server/response"
)

// A handler measures the responses of another handler.
type handler struct {
	next    http.Handler
	metrics *metrics
	tracer  *tracer
	now     func() time.Time
}

// ServeHTTP implements http.Handler.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	begin := h.now()
	v, ctx := verb(r), r.Context()
	var webhook trace.Span
	switch {
	case !h.tracer.on():
	case v == "webhook":
		ctx, webhook = h.tracer.begin(ctx, r.Method+" "+webhookPath, "", trace.WithSpanKind(trace.SpanKindServer),
			trace.WithAttributes(semconv.HTTPRequestMethodKey.String(r.Method), semconv.HTTPRoute(webhookPath), semconv.URLPath(webhookPath)))
	default:
		// Our spans link to the caller's trace.
		if caller := parseTraceparent(r.Header.Get("Traceparent")); caller.IsValid() {
			ctx = trace.ContextWithRemoteSpanContext(ctx, caller)
		}
	}
	s, code := &statusWriter{ResponseWriter: w}, 0 // no answer, if the handler panics
	if webhook != nil {
		defer func() { finishHTTP(webhook, code, http.StatusInternalServerError) }()
	}
	h.next.ServeHTTP(s, r.WithContext(ctx))
	code = s.code()
	if w.Header().Get("Content-Type") == "text/event-stream" {
		return // it lasts as long as the page is open
	}
	h.metrics.httpTime.WithLabelValues(v, strconv.Itoa(code)).Observe(h.now().Sub(begin).Seconds())
}

const webhookPath = "/github/webhook"

// verb returns the label value for a request, by the pattern that it matches.
func verb(r *http.Request) string {
	if r.Pattern == response.NoPattern {
		return "unmatched"
	}
	_, path, _ := strings.Cut(r.Pattern, " ")
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
	case webhookPath:
		return "webhook"
	case "/metrics":
		return "metrics"
	case "/healthcheck", "/healthcheck/ready", "/healthz", "/livez", "/readyz":
		return "health"
	case "/queue/tasks/{id}/retry", "/queue/tasks/{id}/ask-again", "/queue/tasks/{id}/cancel":
		return "operator"
	}
	return "page"
}

// statusWriter records the status of a response.
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
