package telemetry

import (
	"context"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"github.com/org/foreman-action/queue"
)

// A measuredQueue counts and traces the verbs of a queue that senders of events, agents and the
// executor wait for. All else is counted by the events of package observe.
type measuredQueue struct {
	queue.Queue

	metrics *metrics
	tracer  *tracer
	now     func() time.Time
	model   Model
	open    inFlight
}

func newMeasuredQueue(q queue.Queue, m *metrics, t *tracer, o Options) *measuredQueue {
	return &measuredQueue{Queue: q, metrics: m, tracer: t, now: o.Now, model: o.Model, open: inFlight{list: map[string]started{}}}
}

// maxInFlight limits the claims that are remembered.
const maxInFlight = 20_000

// inFlight remembers when claims began. It is safe for concurrent use.
type inFlight struct {
	mu   sync.Mutex
	list map[string]started // by task
}

// started is the beginning of a claim.
type started struct {
	at    time.Time
	trace string // traceparent of the event
	agent string // as a label
}

func (f *inFlight) begin(task string, s started) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.list) >= maxInFlight {
		clear(f.list) // other processes have probably ended most of them
	}
	f.list[task] = s
}

func (f *inFlight) end(task string) (started, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s, ok := f.list[task]
	delete(f.list, task)
	return s, ok
}

func (f *inFlight) get(task string) started {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.list[task]
}

// originOf returns the origin of a task. Rows of other programs have none, or another format.
func originOf(data []byte) queue.Origin {
	o, _ := queue.ParseOrigin(data)
	return o
}

// source returns the source of an origin as a label, which has few values.
func source(o queue.Origin) string {
	switch o.Source {
	case queue.SourceWebhook, queue.SourcePoll:
		return o.Source
	}
	return "other"
}

// countError counts an error of the medium. Errors of the queue's contract are not failures.
func (q *measuredQueue) countError(verb string, err error) {
	if err != nil && outcome(err) == mediumError {
		q.metrics.queueErrors.WithLabelValues(verb).Inc()
	}
}

// Enqueue implements queue.Queue.
func (q *measuredQueue) Enqueue(ctx context.Context, task queue.Task) (queue.Enqueued, error) {
	o := originOf(task.Origin)
	ctx, span := q.tracer.start(ctx, enqueued(task.ID), o.Trace)
	got, err := q.Queue.Enqueue(ctx, task)
	finish(span, err, attribute.String("foreman.how", string(got.Outcome)))
	q.countError("enqueue", err)
	if err == nil {
		q.metrics.enqueued.WithLabelValues(source(o), string(got.Outcome)).Inc()
	}
	return got, err
}

// ClaimNext implements queue.Queue.
func (q *measuredQueue) ClaimNext(ctx context.Context, agent string, o queue.ClaimOptions) (queue.Claim, error) {
	begin := q.now()
	got, err := q.Queue.ClaimNext(ctx, agent, o)
	q.countError("claim", err)
	if err != nil {
		return got, err
	}
	now := q.now()
	label := q.metrics.labels.of("agent", agent)
	q.metrics.claims.WithLabelValues(label).Inc()
	if got.Attempt == 1 {
		q.metrics.pendingTime.Observe(max(now.Sub(got.Enqueued).Seconds(), 0))
	}
	parent := originOf(got.Origin).Trace
	q.open.begin(got.ID, started{at: now, trace: parent, agent: label})
	q.tracer.record(ctx, claimed(got.ID), parent, begin, attribute.Int("foreman.attempt", got.Attempt))
	return got, nil
}

// Heartbeat implements queue.Queue.
func (q *measuredQueue) Heartbeat(ctx context.Context, ref queue.Ref, lease time.Duration) error {
	err := q.Queue.Heartbeat(ctx, ref, lease)
	q.countError("heartbeat", err)
	q.metrics.heartbeats.WithLabelValues(outcome(err)).Inc()
	return err
}

// Complete implements queue.Queue.
func (q *measuredQueue) Complete(ctx context.Context, ref queue.Ref, decision []byte) (queue.Receipt, error) {
	parent := q.open.get(ref.ID).trace
	within, span := q.tracer.start(ctx, completed(ref.ID), parent)
	got, err := q.Queue.Complete(within, ref, decision)
	finish(span, err, attribute.Bool("foreman.accepted", got.Accepted))
	q.countError("complete", err)
	what := outcome(err)
	switch {
	case err == nil && got.Accepted:
		what = "accepted"
		if s, ok := q.open.end(ref.ID); ok {
			q.metrics.agentTime.Observe(max(q.now().Sub(s.at).Seconds(), 0))
			q.tracer.decided(ctx, s, q.model, ref.ID)
		}
	case err == nil:
		what = "ignored" // late, a duplicate, or of an unknown task
	}
	q.metrics.completions.WithLabelValues(what).Inc()
	return got, err
}

// LeaseDecisions implements queue.Queue.
func (q *measuredQueue) LeaseDecisions(ctx context.Context, o queue.DrainOptions) ([]queue.Decision, error) {
	list, err := q.Queue.LeaseDecisions(ctx, o)
	q.countError("drain", err)
	return list, err
}
