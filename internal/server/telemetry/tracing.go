package telemetry

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"log/slog"
	"net/url"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.40.0"
	"go.opentelemetry.io/otel/trace"
)

// A tracer starts spans, if traces are on. Names, kinds and attributes of spans are those of OpenTelemetry's
// conventions for messaging, HTTP and agents.
type tracer struct {
	provider *sdk.TracerProvider // nil: traces are off
	tracer   trace.Tracer
}

// newTracer returns a tracer that sends its spans to exporter; nil turns traces off. The variables of
// OpenTelemetry, such as OTEL_SERVICE_NAME, add to the server's attributes, and choose the sampler.
func newTracer(ctx context.Context, exporter sdk.SpanExporter, version string, log *slog.Logger) *tracer {
	if exporter == nil {
		return &tracer{}
	}
	res, err := resource.New(ctx,
		resource.WithSchemaURL(semconv.SchemaURL),
		resource.WithAttributes(semconv.ServiceName("foremand"), semconv.ServiceVersion(version)),
		resource.WithFromEnv(),
	)
	if err != nil { // what could be read is used
		log.Warn("an attribute of OTEL_RESOURCE_ATTRIBUTES is ignored; want key=value, with commas between them", "error", err)
	}
	provider := sdk.NewTracerProvider(sdk.WithBatcher(&loggingExporter{exporter, log}), sdk.WithResource(res))
	return &tracer{provider, provider.Tracer("github.com/org/foreman-action/internal/server/telemetry", trace.WithSchemaURL(semconv.SchemaURL))}
}

// newExporter returns an exporter to the configured collector, or else to that of OpenTelemetry's variables. It
// sends nothing yet. Nil: there is none. The library reads the other variables of the exporter, such as
// OTEL_EXPORTER_OTLP_HEADERS.
func newExporter(ctx context.Context, o Options) (sdk.SpanExporter, error) {
	if strings.EqualFold(o.Getenv("OTEL_SDK_DISABLED"), "true") {
		return nil, nil
	}
	if o.Endpoint != "" {
		u, err := collector("telemetry.endpoint", o.Endpoint)
		if err != nil {
			return nil, err
		}
		var options []otlptracehttp.Option
		if u.User != nil {
			password, _ := u.User.Password()
			credentials := base64.StdEncoding.EncodeToString([]byte(u.User.Username() + ":" + password))
			options = append(options, otlptracehttp.WithHeaders(map[string]string{"Authorization": "Basic " + credentials}))
			u.User = nil
		}
		if u.Path == "" || u.Path == "/" {
			u.Path = "/v1/traces"
		}
		return otlptracehttp.New(ctx, append(options, otlptracehttp.WithEndpointURL(u.String()))...)
	}
	name := "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
	if o.Getenv(name) == "" {
		name = "OTEL_EXPORTER_OTLP_ENDPOINT"
	}
	if o.Getenv(name) == "" || o.Getenv("OTEL_TRACES_EXPORTER") == "none" {
		return nil, nil
	}
	if _, err := collector(name, o.Getenv(name)); err != nil { // often set for all programs of a machine
		o.Log.Warn("no traces are sent", "error", err)
		return nil, nil
	}
	if p := cmp.Or(o.Getenv("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"), o.Getenv("OTEL_EXPORTER_OTLP_PROTOCOL"), protocol); p != protocol {
		o.Log.Warn("traces are sent as "+protocol+"; name a collector that accepts this, often at port 4318", "protocol", p)
	}
	return otlptracehttp.New(ctx)
}

// protocol is the form of the traces, as OTEL_EXPORTER_OTLP_PROTOCOL names it.
const protocol = "http/protobuf"

// collector parses the address of a collector. Its error does not contain the address, which may contain a
// password.
func collector(name, endpoint string) (*url.URL, error) {
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("the endpoint of traces, %s: want an address such as http://127.0.0.1:4318", name)
	}
	return u, nil
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

// The destinations of messages: tasks for agents, and their decisions for the server.
const (
	tasks     = "tasks"
	decisions = "decisions"
)

// A message is one operation on a task in the queue.
type message struct {
	verb        string
	destination string
	operation   attribute.KeyValue // its type in the conventions for messaging
	kind        trace.SpanKind
	id          string // of the task
}

func created() message {
	return message{"create", tasks, semconv.MessagingOperationTypeCreate, trace.SpanKindProducer, ""}
}

func enqueued(id string) message {
	return message{"enqueue", tasks, semconv.MessagingOperationTypeSend, trace.SpanKindProducer, id}
}

func claimed(id string) message {
	return message{"claim", tasks, semconv.MessagingOperationTypeReceive, trace.SpanKindConsumer, id}
}

func completed(id string) message {
	return message{"complete", tasks, semconv.MessagingOperationTypeSettle, trace.SpanKindClient, id}
}

func applied(id string) message {
	return message{"apply", decisions, semconv.MessagingOperationTypeProcess, trace.SpanKindConsumer, id}
}

// name returns the name of the message's span.
func (m message) name() string { return m.verb + " " + m.destination }

// options returns the attributes and the kind of the message's span.
func (m message) options(attrs ...attribute.KeyValue) []trace.SpanStartOption {
	attrs = append(attrs, semconv.MessagingSystemKey.String("foreman"), semconv.MessagingOperationName(m.verb), m.operation, semconv.MessagingDestinationName(m.destination))
	if m.id != "" {
		attrs = append(attrs, semconv.MessagingMessageID(m.id))
	}
	return []trace.SpanStartOption{trace.WithSpanKind(m.kind), trace.WithAttributes(attrs...)}
}

// start begins the span of a message in the trace of parent, which is a W3C traceparent. If parent is empty,
// it uses the trace of ctx.
func (t *tracer) start(ctx context.Context, m message, parent string) (context.Context, trace.Span) {
	return t.begin(ctx, m.name(), parent, m.options()...)
}

// record adds the span of a message that began at a time and ends now.
func (t *tracer) record(ctx context.Context, m message, parent string, begin time.Time, attrs ...attribute.KeyValue) {
	_, s := t.begin(ctx, m.name(), parent, append(m.options(attrs...), trace.WithTimestamp(begin))...)
	s.End()
}

// decided adds the span of an agent that worked on a task, and has decided now.
func (t *tracer) decided(ctx context.Context, claim started, m Model, id string) {
	attrs := []attribute.KeyValue{
		semconv.GenAIOperationNameInvokeAgent, semconv.GenAIAgentName(claim.agent), semconv.MessagingMessageID(id),
	}
	if m.Provider != "" {
		attrs = append(attrs, semconv.GenAIProviderNameKey.String(m.Provider), semconv.GenAIRequestModel(m.Name))
	}
	_, s := t.begin(ctx, "invoke_agent "+claim.agent, claim.trace,
		trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(attrs...), trace.WithTimestamp(claim.at))
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
		s.SetAttributes(semconv.ErrorTypeKey.String(outcome(err)))
		s.SetStatus(codes.Error, outcome(err))
	}
	s.End()
}

// finishHTTP ends the span of a request. Statuses from failed on count as errors; 0 is no answer.
func finishHTTP(s trace.Span, code, failed int) {
	if code > 0 {
		s.SetAttributes(semconv.HTTPResponseStatusCode(code))
	}
	if code == 0 || code >= failed {
		kind := mediumError
		if code > 0 {
			kind = strconv.Itoa(code)
		}
		s.SetAttributes(semconv.ErrorTypeKey.String(kind))
		s.SetStatus(codes.Error, "")
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
		ctx, s = t.start(ctx, created(), "")
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
