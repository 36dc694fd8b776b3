// Package telemetry measures the server: metrics for Prometheus, and traces for OpenTelemetry that
// follow a task from its event to the writes on GitHub.
//
// It wraps the measured parts: [Telemetry.Queue] a queue, [Telemetry.Handler] the HTTP API and
// [Telemetry.Transport] the requests to GitHub. The server's loops call [Telemetry.Observe]. Labels
// contain configured names and constants of this program, but never text from a request or an
// issue. Spans contain no text of an issue and no secret. There is no global state, and a failure
// of this package does not affect other parts.
//
// A new metric needs a field and a line in metrics.go, and a call: in Observe for events of package
// observe, in queue.go, http.go and github.go for calls and requests.
package telemetry

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	sdk "go.opentelemetry.io/otel/sdk/trace"

	"github.com/org/foreman-action/harness/observe"
	"github.com/org/foreman-action/internal/server/budget"
	"github.com/org/foreman-action/internal/wait"
	"github.com/org/foreman-action/queue"
)

// Options configure a [Telemetry]. The zero value collects metrics and sends no traces.
type Options struct {
	Version string // of the program; empty: "unknown"
	// Endpoint is the address of an OpenTelemetry collector, such as
	// http://127.0.0.1:4318, for traces by OTLP over HTTP. A path other than "/" is used
	// as it is. Empty: that of OTEL_EXPORTER_OTLP_ENDPOINT; without this, no traces.
	Endpoint string
	// Getenv returns variables of the environment. It must be that of the process, which the
	// OpenTelemetry libraries read. Nil: none turns traces on or off.
	Getenv func(string) string
	Model  Model // that tasks name; zero: none
	// Exporter receives the traces in place of Endpoint. Nil: Endpoint is used.
	Exporter sdk.SpanExporter
	// Polls returns the state of polling, for every scrape. Nil: this server does not poll.
	Polls func() []Poll
	// Limits returns the state of GitHub's limits, for every scrape. Nil: GitHub is never called.
	Limits func() []Limit
	// Budget returns the calls to GitHub, for every scrape. Nil: GitHub is never called.
	Budget func() budget.Report
	// Proposals returns the number of proposals that wait for people, for every scrape. Nil, or an error:
	// the metric is missing.
	Proposals func(ctx context.Context) (int, error)
	// Pauses returns the pauses of the queue, for every scrape. Nil, or an error: the metrics are missing.
	Pauses func(ctx context.Context) ([]queue.Pause, error)
	// StatsFor is how long the counts of the queue are cached; 0: 5 seconds.
	StatsFor time.Duration
	Now      func() time.Time // nil: time.Now
	Log      *slog.Logger     // nil discards
}

// A Model is a model that agents are asked to use.
type Model struct{ Provider, Name string }

// A Telemetry collects metrics and traces. It is safe for concurrent use. The methods of a
// nil one measure nothing.
type Telemetry struct {
	o        Options
	registry *prometheus.Registry
	metrics  *metrics
	tracer   *tracer
}

// New returns a Telemetry. An error means that traces cannot be sent. A collector that does not
// answer is not an error.
func New(ctx context.Context, o Options) (*Telemetry, error) {
	o.Version = cmp.Or(o.Version, "unknown")
	o.StatsFor = cmp.Or(o.StatsFor, 5*time.Second)
	o.Now = wait.Clock(o.Now)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Getenv == nil {
		o.Getenv = func(string) string { return "" }
	}
	if o.Exporter == nil {
		var err error
		if o.Exporter, err = newExporter(ctx, o); err != nil {
			return nil, fmt.Errorf("telemetry: %w", err)
		}
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	if o.Polls != nil {
		registry.MustRegister(newPollCollector(o.Polls))
	}
	if o.Limits != nil {
		registry.MustRegister(newLimitCollector(o.Limits, o.Now))
	}
	if o.Budget != nil {
		registry.MustRegister(newBudgetCollector(o.Budget, o.Now))
	}
	if o.Proposals != nil {
		registry.MustRegister(newProposalCollector(o.Proposals, o.Log))
	}
	if o.Pauses != nil {
		registry.MustRegister(newPauseCollector(o.Pauses, o.Now, o.Log))
	}
	return &Telemetry{
		o: o, registry: registry, metrics: newMetrics(registry, o.Version), tracer: newTracer(ctx, o.Exporter, o.Version, o.Log),
	}, nil
}

// Metrics returns a handler that serves the metrics to Prometheus.
func (t *Telemetry) Metrics() http.Handler {
	if t == nil {
		return http.NotFoundHandler()
	}
	return promhttp.HandlerFor(t.registry, promhttp.HandlerOpts{
		ErrorLog:            errorLog{t.o.Log},
		ErrorHandling:       promhttp.ContinueOnError,
		MaxRequestsInFlight: 4,
	})
}

// errorLog logs errors of the Prometheus handler.
type errorLog struct{ log *slog.Logger }

// Println implements promhttp.Logger.
func (l errorLog) Println(v ...any) { l.log.Warn("serving metrics failed", "error", fmt.Sprint(v...)) }

// Close sends the remaining traces, until ctx is done.
func (t *Telemetry) Close(ctx context.Context) error {
	if t == nil {
		return nil
	}
	if err := t.tracer.close(ctx); err != nil {
		return fmt.Errorf("telemetry: send the last traces: %w", err)
	}
	return nil
}

// A Store is a queue that reports why it cannot be written now; nil when it can.
type Store interface {
	queue.Queue
	Healthy(ctx context.Context) error
}

// Queue returns a queue that counts and traces the calls of q. Call it only once, because it adds
// the state of q to the metrics. A second call returns an error.
func (t *Telemetry) Queue(q Store) (queue.Queue, error) {
	if t == nil {
		return q, nil
	}
	if err := t.registry.Register(newStatsCollector(q, t.o, t.metrics.labels)); err != nil {
		return nil, fmt.Errorf("telemetry: Queue was called before: %w", err)
	}
	return newMeasuredQueue(q, t.metrics, t.tracer, t.o), nil
}

// Handler measures the responses of the HTTP API, and begins the trace of a webhook. Streams
// of the dashboard are not measured.
func (t *Telemetry) Handler(next http.Handler) http.Handler {
	if t == nil {
		return next
	}
	return &handler{next: next, metrics: t.metrics, tracer: t.tracer, now: t.o.Now}
}

// Transport measures the requests to GitHub that base sends; nil: http.DefaultTransport. It
// fits github.Options.
func (t *Telemetry) Transport(base http.RoundTripper) http.RoundTripper {
	if base == nil {
		base = http.DefaultTransport
	}
	if t == nil {
		return base
	}
	return &transport{base: base, metrics: t.metrics, tracer: t.tracer, now: t.o.Now}
}

// Trace returns the W3C traceparent to store with a task that is created in ctx. It belongs to the
// current trace, or to a new one. Empty: traces are off. Use it for intake.Options.
func (t *Telemetry) Trace(ctx context.Context) string {
	if t == nil {
		return ""
	}
	return t.tracer.traceparent(ctx)
}

// Span begins the span for executing a decision, in the trace of parent, which is a W3C traceparent
// or empty. end ends the span. Use it for executor.Options.
func (t *Telemetry) Span(ctx context.Context, parent, task string) (_ context.Context, end func(error)) {
	if t == nil || !t.tracer.on() {
		return ctx, func(error) {}
	}
	ctx, s := t.tracer.start(ctx, applied(task), parent)
	return ctx, func(err error) { finish(s, err) }
}

// Observe counts an event.
func (t *Telemetry) Observe(o observe.Observation) {
	if t == nil {
		return
	}
	m := t.metrics
	status := m.labels.of("status", o.Status)
	switch o.Event {
	case observe.ApplyAttempted:
		m.applyAttempts.WithLabelValues(status).Add(float64(o.N))
		m.applyTime.Observe(o.Took.Seconds())
	case observe.Notified:
		m.nudges.WithLabelValues(m.labels.of("agent", o.Agent), status).Add(float64(o.N))
	case observe.LoopFailed:
		m.loopRestarts.WithLabelValues(status).Add(float64(o.N))
	case observe.BreakerOpened:
		m.breakerOpen.WithLabelValues(m.labels.of("agent", o.Agent)).Set(1)
	case observe.BreakerClosed:
		m.breakerOpen.WithLabelValues(m.labels.of("agent", o.Agent)).Set(0)
	case observe.GitHubFailed:
		m.githubOutage.WithLabelValues(status).Set(1)
	case observe.GitHubRecovered:
		m.githubOutage.WithLabelValues(status).Set(0)
	case observe.LeaseEnded:
		m.leaseEnded(o)
	case observe.Requeued:
		if o.Status == string(queue.Failed) {
			m.exhausted.Add(float64(o.N))
		} else {
			m.requeued.WithLabelValues(status).Add(float64(o.N))
		}
	case observe.Purged:
		m.purged.Add(float64(o.N))
	case observe.ProposalChanged:
		m.proposals.WithLabelValues(m.labels.of("carrier", o.Carrier), status).Add(float64(o.N))
	case observe.ActionsJudged:
		m.judged.WithLabelValues(status).Add(float64(o.N))
	case observe.JudgingWaits:
		m.judgingWaits.WithLabelValues(m.labels.of("repo", o.Repo)).Set(float64(o.N))
	case observe.PermissionChanged:
		m.permissions.WithLabelValues(status).Add(float64(o.N))
	case observe.OperatorChanged:
		m.operatorChanges.WithLabelValues(status, outcome(o.Err)).Add(float64(o.N))
	}
}
