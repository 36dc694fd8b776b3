package telemetry

import (
	"context"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"github.com/org/foreman-action/queue"
)

// A measuredQueue counts and traces the verbs of a queue that senders of events, agents and the
// executor wait for. Of the other verbs that the server's loops call, it counts the errors; the rest
// is counted by the events of package observe.
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
	case queue.SourceWebhook, queue.SourcePoll, queue.SourceProposals:
		return o.Source
	}
	return "other"
}

// countError counts an error of the medium. Errors of the queue's contract are not failures.
func (q *measuredQueue) countError(verb string, err error) { q.metrics.countError(verb, err) }

func (m *metrics) countError(verb string, err error) {
	if err != nil && outcome(err) == mediumError {
		m.queueErrors.WithLabelValues(verb).Inc()
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

// ReleaseClaim implements queue.Queue.
func (q *measuredQueue) ReleaseClaim(ctx context.Context, ref queue.Ref, wait time.Duration) error {
	return q.endClaim("release_claim", ref, q.Queue.ReleaseClaim(ctx, ref, wait))
}

// FailClaim implements queue.Queue.
func (q *measuredQueue) FailClaim(ctx context.Context, ref queue.Ref, reason string) error {
	return q.endClaim("fail_claim", ref, q.Queue.FailClaim(ctx, ref, reason))
}

// endClaim forgets a claim that ended without a decision, unless err is an error.
func (q *measuredQueue) endClaim(verb string, ref queue.Ref, err error) error {
	q.countError(verb, err)
	if err == nil {
		q.open.end(ref.ID)
	}
	return err
}

// RequeueStale implements queue.Queue.
func (q *measuredQueue) RequeueStale(ctx context.Context, l queue.Limits) ([]queue.Requeued, error) {
	list, err := q.Queue.RequeueStale(ctx, l)
	q.countError("requeue", err)
	for _, r := range list {
		q.open.end(r.ID)
	}
	return list, err
}

// RequeueLeases implements queue.Queue.
func (q *measuredQueue) RequeueLeases(ctx context.Context, drains int) (queue.LeaseCheck, error) {
	got, err := q.Queue.RequeueLeases(ctx, drains)
	q.countError("requeue", err)
	return got, err
}

// ExtendClaims implements queue.Queue.
func (q *measuredQueue) ExtendClaims(ctx context.Context, d time.Duration) (int, error) {
	n, err := q.Queue.ExtendClaims(ctx, d)
	q.countError("extend", err)
	return n, err
}

// Purge implements queue.Queue.
func (q *measuredQueue) Purge(ctx context.Context, before time.Time, limit int) (int, error) {
	n, err := q.Queue.Purge(ctx, before, limit)
	q.countError("purge", err)
	return n, err
}

// LeaseDecisions implements queue.Queue.
func (q *measuredQueue) LeaseDecisions(ctx context.Context, o queue.DrainOptions) ([]queue.Decision, error) {
	list, err := q.Queue.LeaseDecisions(ctx, o)
	q.countError("drain", err)
	return list, err
}

// Renew implements queue.Queue.
func (q *measuredQueue) Renew(ctx context.Context, l queue.Lease, d time.Duration) (time.Time, error) {
	end, err := q.Queue.Renew(ctx, l, d)
	q.countError("renew", err)
	return end, err
}

// MarkDone implements queue.Queue.
func (q *measuredQueue) MarkDone(ctx context.Context, l queue.Lease, report []byte) error {
	err := q.Queue.MarkDone(ctx, l, report)
	q.countError("done", err)
	return err
}

// Fail implements queue.Queue.
func (q *measuredQueue) Fail(ctx context.Context, l queue.Lease, reason string, report []byte) error {
	err := q.Queue.Fail(ctx, l, reason, report)
	q.countError("fail", err)
	return err
}

// ReleaseLease implements queue.Queue.
func (q *measuredQueue) ReleaseLease(ctx context.Context, l queue.Lease, p queue.Postponement) error {
	err := q.Queue.ReleaseLease(ctx, l, p)
	q.countError("release", err)
	return err
}
