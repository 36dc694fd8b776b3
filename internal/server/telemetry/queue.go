package telemetry

import (
	"context"
	"errors"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"github.com/org/foreman-action/queue"
)

// A measuredQueue counts and traces the calls of a queue.
type measuredQueue struct {
	queue.Queue

	metrics *metrics
	tracer  *tracer
	now     func() time.Time
	open    inFlight
}

func newMeasuredQueue(q queue.Queue, m *metrics, t *tracer, now func() time.Time) *measuredQueue {
	return &measuredQueue{Queue: q, metrics: m, tracer: t, now: now, open: inFlight{list: map[queue.Lease]started{}}}
}

// maxInFlight limits the claims and leases that are remembered.
const maxInFlight = 20_000

// inFlight remembers when claims and leases began. It is safe for concurrent use.
type inFlight struct {
	mu   sync.Mutex
	list map[queue.Lease]started
}

// started is the beginning of a claim or a lease.
type started struct {
	at    time.Time
	trace string // traceparent of the event
}

func (f *inFlight) begin(l queue.Lease, s started) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.list) >= maxInFlight {
		clear(f.list) // other processes have probably ended most of them
	}
	f.list[l] = s
}

func (f *inFlight) end(l queue.Lease) (started, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s, ok := f.list[l]
	delete(f.list, l)
	return s, ok
}

func (f *inFlight) get(l queue.Lease) started {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.list[l]
}

// claimOf returns the key of a claim. It has no epoch, because those of leases count from 1.
func claimOf(id string) queue.Lease { return queue.Lease{ID: id} }

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

// secondsSince returns the seconds since a time, and 0 for a time in the future.
func (q *measuredQueue) secondsSince(at time.Time) float64 {
	return max(q.now().Sub(at).Seconds(), 0)
}

// Enqueue implements queue.Queue.
func (q *measuredQueue) Enqueue(ctx context.Context, task queue.Task) (queue.Enqueued, error) {
	o := originOf(task.Origin)
	ctx, span := q.tracer.start(ctx, "enqueue", o.Trace, taskID(task.ID))
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
	q.metrics.claims.WithLabelValues(q.metrics.labels.of("agent", agent)).Inc()
	if got.Attempt == 1 {
		q.metrics.pendingTime.Observe(max(now.Sub(got.Enqueued).Seconds(), 0))
	}
	parent := originOf(got.Origin).Trace
	q.open.begin(claimOf(got.ID), started{at: now, trace: parent})
	q.tracer.record(ctx, "claim", parent, begin, taskID(got.ID), attribute.Int("foreman.attempt", got.Attempt))
	return got, nil
}

// Heartbeat implements queue.Queue.
func (q *measuredQueue) Heartbeat(ctx context.Context, ref queue.Ref, lease time.Duration) error {
	err := q.Queue.Heartbeat(ctx, ref, lease)
	q.countError("heartbeat", err)
	q.metrics.heartbeats.WithLabelValues(outcome(err)).Inc()
	return err
}

// ReleaseClaim implements queue.Queue.
func (q *measuredQueue) ReleaseClaim(ctx context.Context, ref queue.Ref, wait time.Duration) error {
	err := q.Queue.ReleaseClaim(ctx, ref, wait)
	q.countError("give_back", err)
	if err == nil {
		q.open.end(claimOf(ref.ID))
	}
	return err
}

// FailClaim implements queue.Queue.
func (q *measuredQueue) FailClaim(ctx context.Context, ref queue.Ref, reason string) error {
	err := q.Queue.FailClaim(ctx, ref, reason)
	q.countError("give_up", err)
	if err == nil {
		q.open.end(claimOf(ref.ID))
		q.metrics.exhausted.Inc()
	}
	return err
}

// Complete implements queue.Queue.
func (q *measuredQueue) Complete(ctx context.Context, ref queue.Ref, decision []byte) (queue.Receipt, error) {
	parent := q.open.get(claimOf(ref.ID)).trace
	ctx, span := q.tracer.start(ctx, "complete", parent, taskID(ref.ID))
	got, err := q.Queue.Complete(ctx, ref, decision)
	finish(span, err, attribute.Bool("foreman.accepted", got.Accepted))
	q.countError("complete", err)
	what := outcome(err)
	switch {
	case err == nil && got.Accepted:
		what = "accepted"
		if s, ok := q.open.end(claimOf(ref.ID)); ok {
			q.metrics.agentTime.Observe(q.secondsSince(s.at))
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
	for _, d := range list {
		q.open.begin(d.Lease, started{at: d.Completed, trace: originOf(d.Origin).Trace})
	}
	return list, err
}

// Renew implements queue.Queue.
func (q *measuredQueue) Renew(ctx context.Context, l queue.Lease, d time.Duration) (time.Time, error) {
	until, err := q.Queue.Renew(ctx, l, d)
	q.countError("renew", err)
	return until, err
}

// MarkDone implements queue.Queue.
func (q *measuredQueue) MarkDone(ctx context.Context, l queue.Lease, report []byte) error {
	err := q.Queue.MarkDone(ctx, l, report)
	q.taskEnded(ctx, "done", l, err)
	return err
}

// Fail implements queue.Queue.
func (q *measuredQueue) Fail(ctx context.Context, l queue.Lease, reason string, report []byte) error {
	err := q.Queue.Fail(ctx, l, reason, report)
	q.taskEnded(ctx, "failed", l, err)
	return err
}

// ReleaseLease implements queue.Queue.
func (q *measuredQueue) ReleaseLease(ctx context.Context, l queue.Lease, p queue.Postponement) error {
	err := q.Queue.ReleaseLease(ctx, l, p)
	q.countError("release", err)
	q.leaseEnded("released", l, err)
	if err == nil {
		cause := "error"
		if p.Free {
			cause = "free"
		}
		q.metrics.releases.WithLabelValues(cause).Inc()
	}
	return err
}

// taskEnded measures a call that ends a lease and its task.
func (q *measuredQueue) taskEnded(ctx context.Context, result string, l queue.Lease, err error) {
	q.countError(result, err)
	if s, ok := q.leaseEnded(result, l, err); ok && err == nil {
		q.metrics.finishTime.Observe(q.secondsSince(s.at))
		q.tracer.record(ctx, result, s.trace, q.now(), taskID(l.ID))
	}
}

// leaseEnded counts the end of a lease, and returns its beginning if that is known. After an error
// other than queue.ErrLost the lease continues, because the caller may try again.
func (q *measuredQueue) leaseEnded(result string, l queue.Lease, err error) (started, bool) {
	switch {
	case errors.Is(err, queue.ErrLost):
		result = "lost"
	case err != nil:
		return started{}, false
	}
	q.metrics.drained.WithLabelValues(result).Inc()
	return q.open.end(l)
}

// RequeueStale implements queue.Queue.
func (q *measuredQueue) RequeueStale(ctx context.Context, l queue.Limits) ([]queue.Requeued, error) {
	list, err := q.Queue.RequeueStale(ctx, l)
	q.countError("requeue", err)
	for _, s := range list {
		if s.State == queue.Failed {
			q.metrics.exhausted.Inc()
		} else {
			q.metrics.requeued.WithLabelValues(string(s.State)).Inc()
		}
	}
	return list, err
}

// Retry implements queue.Queue.
func (q *measuredQueue) Retry(ctx context.Context, id, by string) (queue.State, error) {
	state, err := q.Queue.Retry(ctx, id, by)
	q.countError("retry", err)
	q.metrics.operatorChanges.WithLabelValues("retry", outcome(err)).Inc()
	return state, err
}

// AskAgain implements queue.Queue.
func (q *measuredQueue) AskAgain(ctx context.Context, id, by, reason string) (queue.State, error) {
	state, err := q.Queue.AskAgain(ctx, id, by, reason)
	q.countError("ask-again", err)
	q.metrics.operatorChanges.WithLabelValues("ask-again", outcome(err)).Inc()
	return state, err
}

// Cancel implements queue.Queue.
func (q *measuredQueue) Cancel(ctx context.Context, id, by string) error {
	err := q.Queue.Cancel(ctx, id, by)
	q.countError("cancel", err)
	q.metrics.operatorChanges.WithLabelValues("cancel", outcome(err)).Inc()
	return err
}

// Purge implements queue.Queue.
func (q *measuredQueue) Purge(ctx context.Context, before time.Time, limit int) (int, error) {
	n, err := q.Queue.Purge(ctx, before, limit)
	q.countError("purge", err)
	q.metrics.purged.Add(float64(n))
	return n, err
}
