// Package telemetry measures the server: metrics for Prometheus, and traces for
// OpenTelemetry that follow a task from the event to what was done about it.
//
// It looks on from outside: [Telemetry.Queue] stands before a queue, [Telemetry.Handler]
// before the HTTP API, [Telemetry.Transport] before GitHub, and [Telemetry.Observe] is told
// by those who carry decisions out. Labels hold names that are configured, words of this
// program, and nothing that a request or an issue says. Spans hold no text of an issue and
// no secret. Nothing here is global, and nothing that fails here stops anything.
package telemetry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/org/foreman-action/queue"
)

// Options say what is measured. The zero value measures, and traces nothing.
type Options struct {
	Version string // of the program; empty: "unknown"
	// Endpoint is the address of an OpenTelemetry collector, such as
	// http://127.0.0.1:4318: traces go there by OTLP over HTTP. A path that is more than
	// "/" is taken as it is. Empty: there are no traces.
	Endpoint string
	// Exporter gets the traces in the place of Endpoint. Nil: Endpoint says.
	Exporter sdk.SpanExporter
	// Polls tells how polling goes, when somebody asks. Nil: nothing is polled.
	Polls func() []Poll
	// StatsFor is how long counts of the queue serve; 0: 5 seconds.
	StatsFor time.Duration
	Now      func() time.Time // nil: time.Now
	Log      *slog.Logger     // nil discards
}

// A Poll tells how polling of a repository goes.
type Poll struct {
	Repo     string    // as configured
	Success  time.Time // of the last one that went well; zero: none did yet
	Failures int       // since then
}

// A Telemetry measures. It is safe for concurrent use. A nil one measures nothing, and
// its methods may be called all the same.
type Telemetry struct {
	o        Options
	registry *prometheus.Registry
	m        *metrics
	names    *names
	provider *sdk.TracerProvider // nil: no traces
	tracer   trace.Tracer
}

// New returns a Telemetry. The error says why traces cannot be sent; that nobody answers at
// the endpoint is none.
func New(ctx context.Context, o Options) (*Telemetry, error) {
	o.Version = cmp.Or(o.Version, "unknown")
	o.StatsFor = cmp.Or(o.StatsFor, 5*time.Second)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	t := &Telemetry{o: o, registry: prometheus.NewRegistry(), m: newMetrics(), names: &names{}}
	if err := t.startTraces(ctx); err != nil {
		return nil, fmt.Errorf("telemetry: %w", err)
	}
	t.m.build.WithLabelValues(o.Version, goVersion()).Set(1)
	t.registry.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	t.registry.MustRegister(t.m.all()...)
	if o.Polls != nil {
		t.registry.MustRegister(&polls{t.m, o.Polls})
	}
	return t, nil
}

// Metrics answers with the metrics, for Prometheus.
func (t *Telemetry) Metrics() http.Handler {
	if t == nil {
		return http.NotFoundHandler()
	}
	return promhttp.HandlerFor(t.registry, promhttp.HandlerOpts{
		ErrorLog:            complaint{t.o.Log},
		ErrorHandling:       promhttp.ContinueOnError,
		MaxRequestsInFlight: 4,
	})
}

// A complaint is where the library says what went wrong.
type complaint struct{ log *slog.Logger }

// Println implements promhttp.Logger.
func (c complaint) Println(v ...any) { c.log.Warn("metrics", "error", fmt.Sprint(v...)) }

// Close sends the traces that were not sent yet, until ctx is done.
func (t *Telemetry) Close(ctx context.Context) error {
	if t == nil || t.provider == nil {
		return nil
	}
	if err := t.provider.Shutdown(ctx); err != nil {
		return fmt.Errorf("telemetry: send the last traces: %w", err)
	}
	return nil
}

// The events of an Observation.
const (
	Settled  = "settled"  // an attempt to carry a decision out ended; Status says how
	Nudged   = "nudged"   // an agent was told of a task, or asked; Status says how that went
	Requeued = "requeued" // not counted: Queue sees it
	Purged   = "purged"   // not counted: Queue sees it
	Stumbled = "stumbled" // a loop failed, and is started again; Status is its name
)

// An Observation is something that happened and that the queue does not see. It has the
// fields of drain.Observation.
type Observation struct {
	Event  string
	Status string
	Agent  string // whom it is about; may be empty
	Repo   string // may be empty
	N      int    // how often
	Took   time.Duration
}

// Observe counts what happened.
func (t *Telemetry) Observe(o Observation) {
	if t == nil {
		return
	}
	status := t.names.of("status", o.Status)
	switch o.Event {
	case Settled:
		t.m.settled.WithLabelValues(status).Add(float64(o.N))
		t.m.applyTime.Observe(o.Took.Seconds())
	case Nudged:
		t.m.nudges.WithLabelValues(t.names.of("agent", o.Agent), status).Add(float64(o.N))
	case Stumbled:
		t.m.restarts.WithLabelValues(status).Add(float64(o.N))
	}
}

// outcome names an error of the queue.
func outcome(err error) string {
	for _, is := range []struct {
		err  error
		name string
	}{
		{nil, "ok"},
		{queue.ErrLost, "lost"}, {queue.ErrNotYours, "not_yours"}, {queue.ErrNotFound, "not_found"},
		{queue.ErrState, "state"}, {queue.ErrEmpty, "empty"}, {context.Canceled, "cancelled"},
	} {
		if errors.Is(err, is.err) {
			return is.name
		}
	}
	return "error"
}
