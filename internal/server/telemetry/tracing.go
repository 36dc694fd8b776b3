package telemetry

import (
	"context"
	"encoding/base64"
	"errors"
	"log/slog"
	"net/url"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// A tracer starts spans, if traces are on.
type tracer struct {
	provider *sdk.TracerProvider // nil: traces are off
	tracer   trace.Tracer
}

// newTracer returns a tracer that sends its spans to exporter; nil turns traces off.
func newTracer(exporter sdk.SpanExporter, version string, log *slog.Logger) *tracer {
	if exporter == nil {
		return &tracer{}
	}
	provider := sdk.NewTracerProvider(
		sdk.WithBatcher(&loggingExporter{exporter, log}),
		sdk.WithResource(resource.NewSchemaless(
			attribute.String("service.name", "foremand"), attribute.String("service.version", version),
		)),
		sdk.WithSampler(sdk.ParentBased(sdk.AlwaysSample())),
	)
	return &tracer{provider, provider.Tracer("github.com/org/foreman-action/internal/server/telemetry")}
}

// newExporter returns an exporter to the collector at endpoint. It sends nothing yet.
func newExporter(ctx context.Context, endpoint string) (sdk.SpanExporter, error) {
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		// The address may contain a password.
		return nil, errors.New("the endpoint of traces: want an address such as http://127.0.0.1:4318")
	}
	o := []otlptracehttp.Option{otlptracehttp.WithTimeout(10 * time.Second)}
	if u.User != nil {
		password, _ := u.User.Password()
		credentials := base64.StdEncoding.EncodeToString([]byte(u.User.Username() + ":" + password))
		o = append(o, otlptracehttp.WithHeaders(map[string]string{"Authorization": "Basic " + credentials}))
		u.User = nil
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = "/v1/traces"
	}
	return otlptracehttp.New(ctx, append(o, otlptracehttp.WithEndpointURL(u.String()))...)
}

// loggingExporter logs errors of sending. The library's default error handler would write to
// standard error.
type loggingExporter struct {
	sdk.SpanExporter

	log *slog.Logger
}

// ExportSpans implements sdk.SpanExporter.
func (e *loggingExporter) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	if err := e.SpanExporter.ExportSpans(ctx, spans); err != nil {
		e.log.Warn("sending traces failed; they are dropped", "error", err, "spans", len(spans))
	}
	return nil
}

func (t *tracer) on() bool { return t.provider != nil }

// close sends the remaining spans.
func (t *tracer) close(ctx context.Context) error {
	if !t.on() {
		return nil
	}
	return t.provider.Shutdown(ctx)
}

// start begins a span in the trace of parent, which is a W3C traceparent. If parent is empty, it
// uses the trace of ctx.
func (t *tracer) start(ctx context.Context, name, parent string, attrs ...attribute.KeyValue) (context.Context, trace.Span) {
	return t.begin(ctx, name, parent, trace.WithAttributes(attrs...))
}

// record adds a span that began at a time and ends now.
func (t *tracer) record(ctx context.Context, name, parent string, begin time.Time, attrs ...attribute.KeyValue) {
	_, s := t.begin(ctx, name, parent, trace.WithAttributes(attrs...), trace.WithTimestamp(begin))
	s.End()
}

// begin starts a span in the trace of parent, with a link to the trace of ctx.
func (t *tracer) begin(ctx context.Context, name, parent string, o ...trace.SpanStartOption) (context.Context, trace.Span) {
	if !t.on() {
		return ctx, trace.SpanFromContext(ctx)
	}
	if p := parseTraceparent(parent); p.IsValid() {
		own := trace.SpanContextFromContext(ctx)
		if own.TraceID() != p.TraceID() {
			if own.IsValid() {
				o = append(o, trace.WithLinks(trace.Link{SpanContext: own}))
			}
			ctx = trace.ContextWithRemoteSpanContext(ctx, p)
		}
	}
	return t.tracer.Start(ctx, name, o...) //nolint:spancheck // each caller ends it
}

// finish ends a span. It records only the outcome of an error, because the text of an error may
// contain secrets or untrusted text.
func finish(s trace.Span, err error, attrs ...attribute.KeyValue) {
	s.SetAttributes(attrs...)
	if err != nil {
		s.SetStatus(codes.Error, outcome(err))
	}
	s.End()
}

// traceparent returns the trace of ctx, or of a new one, as a W3C traceparent. Empty: traces
// are off.
func (t *tracer) traceparent(ctx context.Context) string {
	if !t.on() {
		return ""
	}
	if !trace.SpanContextFromContext(ctx).IsValid() {
		var s trace.Span
		ctx, s = t.tracer.Start(ctx, "event")
		defer s.End()
	}
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	return carrier["traceparent"]
}

// parseTraceparent parses a W3C traceparent. For invalid text, the result is not valid.
func parseTraceparent(parent string) trace.SpanContext {
	if parent == "" {
		return trace.SpanContext{}
	}
	ctx := propagation.TraceContext{}.Extract(context.Background(), propagation.MapCarrier{"traceparent": parent})
	return trace.SpanContextFromContext(ctx)
}

func taskID(id string) attribute.KeyValue { return attribute.String("foreman.task_id", id) }
