package telemetry

import (
	"context"
	"fmt"
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
	"go.opentelemetry.io/otel/trace/noop"
)

// startTraces makes the tracer: one that does nothing unless traces are wanted.
func (t *Telemetry) startTraces(ctx context.Context) error {
	t.tracer = noop.NewTracerProvider().Tracer("")
	exporter := t.o.Exporter
	if exporter == nil {
		if t.o.Endpoint == "" {
			return nil
		}
		var err error
		if exporter, err = sendTo(ctx, t.o.Endpoint); err != nil {
			return err
		}
	}
	t.provider = sdk.NewTracerProvider(
		sdk.WithBatcher(&quiet{exporter, t.o.Log}),
		sdk.WithResource(resource.NewSchemaless(
			attribute.String("service.name", "foremand"), attribute.String("service.version", t.o.Version),
		)),
		sdk.WithSampler(sdk.ParentBased(sdk.AlwaysSample())),
	)
	t.tracer = t.provider.Tracer("github.com/org/foreman-action/internal/server/telemetry")
	return nil
}

// sendTo returns an exporter to a collector. It sends nothing yet.
func sendTo(ctx context.Context, endpoint string) (sdk.SpanExporter, error) {
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		// The address may hold a password.
		return nil, fmt.Errorf("the endpoint of traces: want an address such as http://127.0.0.1:4318")
	}
	o := []otlptracehttp.Option{otlptracehttp.WithTimeout(10 * time.Second)}
	if u.User != nil {
		o = append(o, otlptracehttp.WithHeaders(map[string]string{"Authorization": basic(u.User)}))
		u.User = nil
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = "/v1/traces"
	}
	return otlptracehttp.New(ctx, append(o, otlptracehttp.WithEndpointURL(u.String()))...)
}

// quiet keeps errors of sending from the library's global handler, which would write
// to the process's own stream.
type quiet struct {
	sdk.SpanExporter

	log *slog.Logger
}

// ExportSpans implements sdk.SpanExporter.
func (q *quiet) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	if err := q.SpanExporter.ExportSpans(ctx, spans); err != nil {
		q.log.Warn("traces cannot be sent, and are dropped", "error", err, "spans", len(spans))
	}
	return nil
}

// A span is one step of a trace.
type span struct{ s trace.Span }

// finish ends the step. Of an error only that there was one is told: its text may hold
// anything.
func (s span) finish(err error, attrs ...attribute.KeyValue) {
	s.s.SetAttributes(attrs...)
	if err != nil {
		s.s.SetStatus(codes.Error, outcome(err))
	}
	s.s.End()
}

// span begins a step of the trace that parent belongs to, or else of ctx's own. A step
// in another's trace that a request asked for is linked with the request.
func (t *Telemetry) span(ctx context.Context, name, parent string, attrs ...attribute.KeyValue) (context.Context, span) {
	ctx, s := t.begin(ctx, name, parent, trace.WithAttributes(attrs...))
	return ctx, span{s}
}

// spanSince is a step that has ended already.
func (t *Telemetry) spanSince(ctx context.Context, name, parent string, begin time.Time, attrs ...attribute.KeyValue) {
	_, s := t.begin(ctx, name, parent, trace.WithAttributes(attrs...), trace.WithTimestamp(begin))
	s.End()
}

func (t *Telemetry) begin(ctx context.Context, name, parent string, o ...trace.SpanStartOption) (context.Context, trace.Span) {
	if t.provider == nil {
		return ctx, trace.SpanFromContext(ctx)
	}
	if p := parse(parent); p.IsValid() {
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

// Trace returns the W3C traceparent that is to be kept with a task which is made in ctx:
// its trace, or a new one that begins with it. Empty: there are no traces. It fits
// intake.Options.
func (t *Telemetry) Trace(ctx context.Context) string {
	if t == nil || t.provider == nil {
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

// Span begins the step that carries a decision out, in the trace of parent, a W3C
// traceparent or empty; end finishes it. It fits drain.Options.
func (t *Telemetry) Span(ctx context.Context, parent, task string) (_ context.Context, end func(error)) {
	if t == nil || t.provider == nil {
		return ctx, func(error) {}
	}
	ctx, s := t.span(ctx, "apply", parent, taskAttr(task))
	return ctx, func(err error) { s.finish(err) }
}

// parse reads a W3C traceparent; what is none is not valid.
func parse(parent string) trace.SpanContext {
	if parent == "" {
		return trace.SpanContext{}
	}
	ctx := propagation.TraceContext{}.Extract(context.Background(), propagation.MapCarrier{"traceparent": parent})
	return trace.SpanContextFromContext(ctx)
}
