package telemetry_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/org/foreman-action/internal/server/telemetry"
	"github.com/org/foreman-action/queue"
)

// traced returns a rig and the exporter that keeps its spans.
func traced(t *testing.T) (*rig, *tracetest.InMemoryExporter) {
	t.Helper()
	kept := &keeper{InMemoryExporter: tracetest.NewInMemoryExporter()}
	return newRig(t, telemetry.Options{Exporter: kept}), kept.InMemoryExporter
}

// keeper is an exporter that keeps spans after its shutdown.
type keeper struct{ *tracetest.InMemoryExporter }

// Shutdown does nothing, because that of InMemoryExporter deletes all spans.
func (keeper) Shutdown(context.Context) error { return nil }

// webhook sends an event through the handler, enqueues a task as package intake does, and returns
// the trace of the task.
func (r *rig) webhook(n int, header http.Header) string {
	r.t.Helper()
	var trace string
	h := r.Handler(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		trace = r.Trace(q.Context())
		origin, err := json.Marshal(map[string]string{"source": "webhook", "trace": trace})
		if err != nil {
			r.t.Error(err)
		}
		if _, err := r.q.Enqueue(q.Context(), task(n, string(origin))); err != nil {
			r.t.Error(err)
		}
		w.WriteHeader(http.StatusAccepted)
	}))
	req := httptest.NewRequestWithContext(r.t.Context(), http.MethodPost, "/github/webhook", http.NoBody)
	req.Pattern = "POST /github/webhook"
	for k, v := range header {
		req.Header[k] = v
	}
	h.ServeHTTP(httptest.NewRecorder(), req)
	return trace
}

// TestTrace checks that one task has one trace from the webhook to its end, independent of the
// callers' traces.
func TestTrace(t *testing.T) {
	t.Parallel()
	r, spans := traced(t)
	trace := r.webhook(1, http.Header{"Traceparent": {"00-11111111111111111111111111111111-2222222222222222-01"}})
	c := r.claim()
	// The agent's request has its own trace.
	agentOf := r.Handler(http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) {
		if _, err := r.q.Complete(q.Context(), queue.Ref{ID: c.ID}, []byte(`{"decision":"skip"}`)); err != nil {
			t.Error(err)
		}
	}))
	req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/queue/complete", http.NoBody)
	req.Pattern = "POST /queue/complete"
	req.Header.Set("Traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	agentOf.ServeHTTP(httptest.NewRecorder(), req)

	r.drain()
	ctx, end := r.Span(t.Context(), trace, c.ID)
	gh := r.Transport(roundTrip(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusCreated, Body: http.NoBody}, nil
	}))
	res, err := gh.RoundTrip(httptest.NewRequestWithContext(ctx, http.MethodPost, "https://api.github.com/repos/o/r/issues/1/labels?secret=s3cret", http.NoBody))
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	end(nil)
	if err := r.Close(t.Context()); err != nil {
		t.Fatal(err)
	}

	names := map[string]string{}
	ids := map[string]string{}
	links := map[string]string{}
	for _, s := range spans.GetSpans() {
		ids[s.SpanContext.SpanID().String()] = s.Name
		if got := s.SpanContext.TraceID().String(); !strings.Contains(trace, got) {
			t.Errorf("%s is in the trace %s, and the task in %s", s.Name, got, trace)
		}
		for _, l := range s.Links {
			links[s.Name] = l.SpanContext.TraceID().String()
		}
	}
	for _, s := range spans.GetSpans() {
		names[s.Name] = ids[s.Parent.SpanID().String()]
	}
	const webhook = "POST /github/webhook"
	want := map[string]string{
		webhook: "", "enqueue tasks": webhook, "claim tasks": webhook, "complete tasks": webhook, "invoke_agent " + agent: webhook,
		"apply decisions": webhook, "POST": "apply decisions",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("steps and what they are part of (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{"complete tasks": "0af7651916cd43dd8448eb211c80319c", "invoke_agent " + agent: "0af7651916cd43dd8448eb211c80319c"}, links); diff != "" {
		t.Errorf("links (-want +got):\n%s", diff)
	}
	all, err := json.Marshal(spans.GetSpans())
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"s3cret", "what an issue says", "/labels"} {
		if bytes.Contains(all, []byte(secret)) {
			t.Errorf("%q is in a span", secret)
		}
	}
}

// TestTraceBegins checks the trace of an event that no request delivered.
func TestTraceBegins(t *testing.T) {
	t.Parallel()
	r, spans := traced(t)
	parent := r.Trace(t.Context())
	r.enqueue(1, `{"trace":"`+parent+`"}`)
	r.claim()
	_, end := r.Span(t.Context(), parent, id(1))
	end(errors.New("a text that may be anything"))
	_, end = r.Span(t.Context(), "no trace", id(1)) // from a row without a trace
	end(nil)
	if err := r.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range spans.GetSpans() {
		in := "its own trace"
		if strings.Contains(parent, s.SpanContext.TraceID().String()) {
			in = "the event's"
		}
		got = append(got, s.Name+" "+in+" "+s.Status.Description)
	}
	want := []string{"create tasks the event's ", "enqueue tasks the event's ", "claim tasks the event's ", "apply decisions the event's error", "apply decisions its own trace "}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestTraceOff checks that no trace is made without an endpoint.
func TestTraceOff(t *testing.T) {
	t.Parallel()
	r := newRig(t, telemetry.Options{})
	if got := r.webhook(1, nil); got != "" {
		t.Errorf("got a trace %q", got)
	}
	ctx, end := r.Span(t.Context(), "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "x")
	end(nil)
	if ctx != t.Context() {
		t.Error("the context changed")
	}
}

// TestOTLP sends traces to a collector on this machine.
func TestOTLP(t *testing.T) {
	t.Parallel()
	type request struct{ path, kind, auth, body string }
	got := make(chan request, 1)
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		got <- request{r.URL.Path, r.Header.Get("Content-Type"), r.Header.Get("Authorization"), string(b)}
	}))
	defer srv.Close()
	r := newRig(t, telemetry.Options{Endpoint: strings.Replace(srv.URL, "http://", "http://me:s3cret@", 1)})
	r.webhook(1, nil)
	if err := r.Close(t.Context()); err != nil { // sends the remaining spans
		t.Fatal(err)
	}
	one := <-got
	if one.path != "/v1/traces" || one.kind != "application/x-protobuf" || one.auth != "Basic bWU6czNjcmV0" {
		t.Errorf("got %s, %s, %s", one.path, one.kind, one.auth)
	}
	for _, want := range []string{"foremand", "v1.2.3", "/github/webhook", "enqueue tasks", "messaging.message.id", id(1)} {
		if !strings.Contains(one.body, want) {
			t.Errorf("%q was not sent", want)
		}
	}
}

// TestOTLPDown checks that if the collector refuses traces, that is logged without secrets, and is
// no other error.
func TestOTLPDown(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadRequest) }))
	defer srv.Close()
	var log bytes.Buffer
	r := newRig(t, telemetry.Options{
		Endpoint: strings.Replace(srv.URL, "http://", "http://me:s3cret@", 1) + "/collect",
		Log:      slog.New(slog.NewTextHandler(&log, nil)),
	})
	r.webhook(1, nil)
	if err := r.Close(t.Context()); err != nil {
		t.Errorf("got %v", err)
	}
	if text := log.String(); !strings.Contains(text, "sending traces failed") || strings.Contains(text, "s3cret") {
		t.Errorf("the log says %q", text)
	}
	for _, endpoint := range []string{"collector:4318", "ftp://me:s3cret@x", "http://", "http://me:s3cret@%zz"} {
		if _, err := telemetry.New(t.Context(), telemetry.Options{Endpoint: endpoint}); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: got %v", endpoint, err)
		}
	}
}

// TestConventions checks the kinds and attributes of spans.
func TestConventions(t *testing.T) {
	t.Parallel()
	kept := &keeper{InMemoryExporter: tracetest.NewInMemoryExporter()}
	r := newRig(t, telemetry.Options{Exporter: kept, Model: telemetry.Model{Provider: "anthropic", Name: "claude"}})
	parent := r.webhook(1, nil)
	c := r.claim()
	r.complete(c.ID)
	ctx, end := r.Span(t.Context(), parent, c.ID)
	gh := r.Transport(roundTrip(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusForbidden, Body: http.NoBody}, nil
	}))
	res, err := gh.RoundTrip(httptest.NewRequestWithContext(ctx, http.MethodPatch, "https://api.github.com/repos/o/r/issues/1", http.NoBody))
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	end(queue.ErrLost)
	if err := r.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range kept.GetSpans() {
		line := fmt.Sprintf("%s (%s)", s.Name, s.SpanKind)
		if s.Status.Code == codes.Error {
			line += " error"
		}
		set := attribute.NewSet(s.Attributes...)
		for _, a := range set.ToSlice() {
			line += " " + string(a.Key) + "=" + a.Value.Emit()
		}
		got = append(got, strings.ReplaceAll(line, id(1), "ID"))
	}
	golden(t, "testdata/spans.txt", strings.Join(got, "\n")+"\n")
}

// TestOTLPVariables checks the variables of OpenTelemetry, which the libraries read from the process.
func TestOTLPVariables(t *testing.T) {
	type request struct{ path, header, body string }
	for _, tt := range []struct {
		name     string
		vars     map[string]string
		endpoint bool   // is configured, too
		path     string // empty: nothing is sent
		want     []string
		log      string
	}{
		{name: "none"},
		{
			name: "an endpoint", path: "/v1/traces",
			vars: map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "URL", "OTEL_SERVICE_NAME": "triage", "OTEL_RESOURCE_ATTRIBUTES": "service.name=other,team=blue", "OTEL_EXPORTER_OTLP_HEADERS": "X-Key=abc"},
			want: []string{"triage", "team", "blue", "abc", "v1.2.3"},
		},
		{name: "an endpoint for traces", path: "/here", vars: map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "URL/here"}, want: []string{"foremand"}},
		{name: "the configuration wins", path: "/configured", endpoint: true, vars: map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_SERVICE_NAME": "triage"}, want: []string{"triage"}},
		{name: "no exporter", vars: map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "URL", "OTEL_TRACES_EXPORTER": "none"}},
		{name: "disabled", endpoint: true, vars: map[string]string{"OTEL_SDK_DISABLED": "TRUE"}},
		{name: "a sampler", vars: map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "URL", "OTEL_TRACES_SAMPLER": "always_off"}},
		{name: "gRPC", path: "/v1/traces", vars: map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "URL", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, log: "traces are sent as http/protobuf"},
		{name: "an endpoint without a scheme", vars: map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "collector:s3cret"}, log: "no traces are sent"},
		{name: "a wrong attribute", path: "/v1/traces", vars: map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "URL", "OTEL_RESOURCE_ATTRIBUTES": "team"}, want: []string{"foremand"}, log: "OTEL_RESOURCE_ATTRIBUTES is ignored"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := make(chan request, 9)
			srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				b, _ := io.ReadAll(r.Body)
				got <- request{r.URL.Path, r.Header.Get("X-Key"), string(b)}
			}))
			defer srv.Close()
			for name, value := range tt.vars {
				t.Setenv(name, strings.Replace(value, "URL", srv.URL, 1))
			}
			var log bytes.Buffer
			o := telemetry.Options{Getenv: os.Getenv, Log: slog.New(slog.NewTextHandler(&log, nil))}
			if tt.endpoint {
				o.Endpoint = srv.URL + "/configured"
			}
			r := newRig(t, o)
			r.webhook(1, nil)
			if err := r.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			close(got)
			one, sent := <-got
			if sent != (tt.path != "") || one.path != tt.path {
				t.Fatalf("sent %t to %q, want %q", sent, one.path, tt.path)
			}
			for _, want := range tt.want {
				if !strings.Contains(one.body+one.header, want) {
					t.Errorf("%q was not sent", want)
				}
			}
			if text := log.String(); !strings.Contains(text, tt.log) || tt.log == "" && text != "" || strings.Contains(text, "s3cret") {
				t.Errorf("the log says %q, want %q", text, tt.log)
			}
		})
	}
}

// TestWebhookPanics checks that the span of a webhook ends, as a failure, if its handler panics.
func TestWebhookPanics(t *testing.T) {
	t.Parallel()
	r, spans := traced(t)
	h := r.Handler(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/github/webhook", http.NoBody)
	req.Pattern = "POST /github/webhook"
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic ended")
			}
		}()
		h.ServeHTTP(httptest.NewRecorder(), req)
	}()
	if err := r.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := spans.GetSpans(); len(got) != 1 || got[0].Status.Code != codes.Error {
		t.Errorf("got %v", got)
	}
}
