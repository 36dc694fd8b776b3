package telemetry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"github.com/org/foreman-action/queue"
)

// Queue returns a queue that does what q does, counted and traced. Call it once: its
// depth is among the metrics from then on. The error says that it was called before.
func (t *Telemetry) Queue(q queue.Queue) (queue.Queue, error) {
	if t == nil {
		return q, nil
	}
	if err := t.registry.Register(newDepth(t, q)); err != nil {
		return nil, fmt.Errorf("telemetry: a queue is measured already: %w", err)
	}
	return &watched{Queue: q, t: t, open: &open{list: map[string]started{}}}, nil
}

// watched looks on at a queue.
type watched struct {
	queue.Queue

	t    *Telemetry
	open *open
}

// A started thing is one whose end is to come: a claim, or a lease.
type started struct {
	at    time.Time
	trace string // of the event
}

// maxOpen bounds what is remembered; the rest is not measured.
const maxOpen = 20_000

// open remembers claims and leases.
type open struct {
	mu   sync.Mutex
	list map[string]started
}

func (o *open) begin(key string, s started) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.list) >= maxOpen {
		clear(o.list) // most were lost to other processes
	}
	o.list[key] = s
}

func (o *open) end(key string) (started, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	s, ok := o.list[key]
	delete(o.list, key)
	return s, ok
}

func (o *open) get(key string) started {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.list[key]
}

func claimKey(id string) string             { return "claim " + id }
func leaseKey(h queue.Hold) string          { return fmt.Sprintf("lease %s %d", h.ID, h.Epoch) }
func taskAttr(id string) attribute.KeyValue { return attribute.String("foreman.task_id", id) }

// An origin is what is read of a task's origin.
type origin struct {
	Source string `json:"source"`
	Trace  string `json:"trace"`
}

func readOrigin(data []byte) origin {
	var o origin
	// Rows of another program have none, or something else.
	_ = json.Unmarshal(data, &o)
	switch o.Source {
	case "webhook", "poll":
	default:
		o.Source = "other"
	}
	return o
}

// unusual counts an error that tells of the medium, and no answer of the contract.
func (w *watched) unusual(verb string, err error) {
	if err != nil && outcome(err) == "error" {
		w.t.m.queueErrors.WithLabelValues(verb).Inc()
	}
}

// Enqueue implements queue.Queue.
func (w *watched) Enqueue(ctx context.Context, task queue.Task) (queue.Enqueued, error) {
	o := readOrigin(task.Origin)
	ctx, span := w.t.span(ctx, "enqueue", o.Trace, taskAttr(task.ID))
	got, err := w.Queue.Enqueue(ctx, task)
	span.finish(err, attribute.String("foreman.how", string(got.How)))
	w.unusual("enqueue", err)
	if err == nil {
		w.t.m.enqueued.WithLabelValues(o.Source, string(got.How)).Inc()
	}
	return got, err
}

// ClaimNext implements queue.Queue.
func (w *watched) ClaimNext(ctx context.Context, agent string, o queue.ClaimOptions) (queue.Claim, error) {
	begin := w.t.o.Now()
	got, err := w.Queue.ClaimNext(ctx, agent, o)
	w.unusual("claim", err)
	if err != nil {
		return got, err
	}
	now := w.t.o.Now()
	w.t.m.claims.WithLabelValues(w.t.names.of("agent", agent)).Inc()
	if got.Attempt == 1 {
		w.t.m.pendingTime.Observe(max(now.Sub(got.Enqueued).Seconds(), 0))
	}
	parent := readOrigin(got.Origin).Trace
	w.open.begin(claimKey(got.ID), started{at: now, trace: parent})
	w.t.spanSince(ctx, "claim", parent, begin, taskAttr(got.ID), attribute.Int("foreman.attempt", got.Attempt))
	return got, nil
}

// Heartbeat implements queue.Queue.
func (w *watched) Heartbeat(ctx context.Context, ref queue.Ref, lease time.Duration) error {
	err := w.Queue.Heartbeat(ctx, ref, lease)
	w.unusual("heartbeat", err)
	w.t.m.heartbeats.WithLabelValues(outcome(err)).Inc()
	return err
}

// GiveBack implements queue.Queue.
func (w *watched) GiveBack(ctx context.Context, ref queue.Ref, wait time.Duration) error {
	err := w.Queue.GiveBack(ctx, ref, wait)
	w.unusual("give_back", err)
	if err == nil {
		w.open.end(claimKey(ref.ID))
	}
	return err
}

// GiveUp implements queue.Queue.
func (w *watched) GiveUp(ctx context.Context, ref queue.Ref, reason string) error {
	err := w.Queue.GiveUp(ctx, ref, reason)
	w.unusual("give_up", err)
	if err == nil {
		w.open.end(claimKey(ref.ID))
		w.t.m.exhausted.Inc()
	}
	return err
}

// Complete implements queue.Queue.
func (w *watched) Complete(ctx context.Context, ref queue.Ref, decision []byte) (queue.Receipt, error) {
	parent := w.open.get(claimKey(ref.ID)).trace
	ctx, span := w.t.span(ctx, "complete", parent, taskAttr(ref.ID))
	got, err := w.Queue.Complete(ctx, ref, decision)
	span.finish(err, attribute.Bool("foreman.accepted", got.Accepted))
	w.unusual("complete", err)
	what := outcome(err)
	switch {
	case err == nil && got.Accepted:
		what = "accepted"
		if s, ok := w.open.end(claimKey(ref.ID)); ok {
			w.t.m.agentTime.Observe(max(w.t.o.Now().Sub(s.at).Seconds(), 0))
		}
	case err == nil:
		what = "ignored" // late, a duplicate, or of an unknown task
	}
	w.t.m.completions.WithLabelValues(what).Inc()
	return got, err
}

// DrainCompleted implements queue.Queue.
func (w *watched) DrainCompleted(ctx context.Context, o queue.DrainOptions) ([]queue.Decision, error) {
	list, err := w.Queue.DrainCompleted(ctx, o)
	w.unusual("drain", err)
	for _, d := range list {
		w.open.begin(leaseKey(d.Hold), started{at: d.Completed, trace: readOrigin(d.Origin).Trace})
	}
	return list, err
}

// Renew implements queue.Queue.
func (w *watched) Renew(ctx context.Context, h queue.Hold, d time.Duration) (time.Time, error) {
	until, err := w.Queue.Renew(ctx, h, d)
	w.unusual("renew", err)
	return until, err
}

// MarkDone implements queue.Queue.
func (w *watched) MarkDone(ctx context.Context, h queue.Hold, report []byte) error {
	err := w.Queue.MarkDone(ctx, h, report)
	w.finished(ctx, "done", h, err)
	return err
}

// Fail implements queue.Queue.
func (w *watched) Fail(ctx context.Context, h queue.Hold, reason string, report []byte) error {
	err := w.Queue.Fail(ctx, h, reason, report)
	w.finished(ctx, "failed", h, err)
	return err
}

// finished counts the end of a lease that was to end a task.
func (w *watched) finished(ctx context.Context, what string, h queue.Hold, err error) {
	w.unusual(what, err)
	if err != nil && !errors.Is(err, queue.ErrLost) {
		return // it may be tried again
	}
	s, ok := w.open.end(leaseKey(h))
	if err != nil {
		what = "lost"
	} else if ok {
		w.t.m.finishTime.Observe(max(w.t.o.Now().Sub(s.at).Seconds(), 0))
		w.t.spanSince(ctx, what, s.trace, w.t.o.Now(), taskAttr(h.ID))
	}
	w.t.m.ended.WithLabelValues(what).Inc()
}

// Release implements queue.Queue.
func (w *watched) Release(ctx context.Context, h queue.Hold, p queue.Postponement) error {
	err := w.Queue.Release(ctx, h, p)
	w.unusual("release", err)
	switch {
	case err == nil:
		w.open.end(leaseKey(h))
		w.t.m.ended.WithLabelValues("released").Inc()
		cause := "error"
		if p.Free {
			cause = "free"
		}
		w.t.m.releases.WithLabelValues(cause).Inc()
	case errors.Is(err, queue.ErrLost):
		w.open.end(leaseKey(h))
		w.t.m.ended.WithLabelValues("lost").Inc()
	}
	return err
}

// RequeueStale implements queue.Queue.
func (w *watched) RequeueStale(ctx context.Context, l queue.Limits) ([]queue.Swept, error) {
	list, err := w.Queue.RequeueStale(ctx, l)
	w.unusual("requeue", err)
	for _, s := range list {
		if s.State == queue.Failed {
			w.t.m.exhausted.Inc()
		} else {
			w.t.m.requeued.WithLabelValues(string(s.State)).Inc()
		}
	}
	return list, err
}

// Retry implements queue.Queue.
func (w *watched) Retry(ctx context.Context, id, by string) (queue.State, error) {
	state, err := w.Queue.Retry(ctx, id, by)
	w.unusual("retry", err)
	w.t.m.operator.WithLabelValues("retry", outcome(err)).Inc()
	return state, err
}

// Cancel implements queue.Queue.
func (w *watched) Cancel(ctx context.Context, id, by string) error {
	err := w.Queue.Cancel(ctx, id, by)
	w.unusual("cancel", err)
	w.t.m.operator.WithLabelValues("cancel", outcome(err)).Inc()
	return err
}

// Purge implements queue.Queue.
func (w *watched) Purge(ctx context.Context, before time.Time, limit int) (int, error) {
	n, err := w.Queue.Purge(ctx, before, limit)
	w.unusual("purge", err)
	w.t.m.purged.Add(float64(n))
	return n, err
}
