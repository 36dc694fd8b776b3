// Package brokenqueue wraps a queue for tests, so that its calls can be made to fail.
package brokenqueue

import (
	"context"
	"sync"
	"time"

	"github.com/org/foreman-action/queue"
)

// A Queue is a queue whose calls fail while it is broken. It is safe for concurrent use.
type Queue struct {
	queue.Queue

	mu  sync.Mutex
	err error
}

// New returns a queue that is not broken.
func New(q queue.Queue) *Queue { return &Queue{Queue: q} }

// Break makes every method that can fail return err, without a call of the wrapped queue. Break(nil)
// ends that.
func (q *Queue) Break(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.err = err
}

// call calls f, unless the queue is broken.
func call[T any](q *Queue, f func() (T, error)) (T, error) {
	q.mu.Lock()
	err := q.err
	q.mu.Unlock()
	if err != nil {
		var zero T
		return zero, err
	}
	return f()
}

// do calls f, unless the queue is broken.
func do(q *Queue, f func() error) error {
	_, err := call(q, func() (struct{}, error) { return struct{}{}, f() })
	return err
}

// Healthy returns the error of Break.
func (q *Queue) Healthy(context.Context) error { return do(q, func() error { return nil }) }

// Enqueue implements [queue.Queue].
func (q *Queue) Enqueue(ctx context.Context, t queue.Task) (queue.Enqueued, error) {
	return call(q, func() (queue.Enqueued, error) { return q.Queue.Enqueue(ctx, t) })
}

// Duplicate implements [queue.Queue].
func (q *Queue) Duplicate(ctx context.Context, dedup string) (queue.Enqueued, error) {
	return call(q, func() (queue.Enqueued, error) { return q.Queue.Duplicate(ctx, dedup) })
}

// ClaimNext implements [queue.Queue].
func (q *Queue) ClaimNext(ctx context.Context, agent string, o queue.ClaimOptions) (queue.Claim, error) {
	return call(q, func() (queue.Claim, error) { return q.Queue.ClaimNext(ctx, agent, o) })
}

// Heartbeat implements [queue.Queue].
func (q *Queue) Heartbeat(ctx context.Context, ref queue.Ref, lease time.Duration) error {
	return do(q, func() error { return q.Queue.Heartbeat(ctx, ref, lease) })
}

// ReleaseClaim implements [queue.Queue].
func (q *Queue) ReleaseClaim(ctx context.Context, ref queue.Ref, wait time.Duration) error {
	return do(q, func() error { return q.Queue.ReleaseClaim(ctx, ref, wait) })
}

// FailClaim implements [queue.Queue].
func (q *Queue) FailClaim(ctx context.Context, ref queue.Ref, reason string) error {
	return do(q, func() error { return q.Queue.FailClaim(ctx, ref, reason) })
}

// Complete implements [queue.Queue].
func (q *Queue) Complete(ctx context.Context, ref queue.Ref, decision []byte) (queue.Receipt, error) {
	return call(q, func() (queue.Receipt, error) { return q.Queue.Complete(ctx, ref, decision) })
}

// LeaseDecisions implements [queue.Queue].
func (q *Queue) LeaseDecisions(ctx context.Context, o queue.DrainOptions) ([]queue.Decision, error) {
	return call(q, func() ([]queue.Decision, error) { return q.Queue.LeaseDecisions(ctx, o) })
}

// Renew implements [queue.Queue].
func (q *Queue) Renew(ctx context.Context, l queue.Lease, d time.Duration) (time.Time, error) {
	return call(q, func() (time.Time, error) { return q.Queue.Renew(ctx, l, d) })
}

// MarkDone implements [queue.Queue].
func (q *Queue) MarkDone(ctx context.Context, l queue.Lease, report []byte) error {
	return do(q, func() error { return q.Queue.MarkDone(ctx, l, report) })
}

// Fail implements [queue.Queue].
func (q *Queue) Fail(ctx context.Context, l queue.Lease, reason string, report []byte) error {
	return do(q, func() error { return q.Queue.Fail(ctx, l, reason, report) })
}

// ReleaseLease implements [queue.Queue].
func (q *Queue) ReleaseLease(ctx context.Context, l queue.Lease, p queue.Postponement) error {
	return do(q, func() error { return q.Queue.ReleaseLease(ctx, l, p) })
}

// RequeueStale implements [queue.Queue].
func (q *Queue) RequeueStale(ctx context.Context, l queue.Limits) ([]queue.Requeued, error) {
	return call(q, func() ([]queue.Requeued, error) { return q.Queue.RequeueStale(ctx, l) })
}

// RequeueLeases implements [queue.Queue].
func (q *Queue) RequeueLeases(ctx context.Context, drains int) (queue.LeaseCheck, error) {
	return call(q, func() (queue.LeaseCheck, error) { return q.Queue.RequeueLeases(ctx, drains) })
}

// ExtendClaims implements [queue.Queue].
func (q *Queue) ExtendClaims(ctx context.Context, d time.Duration) (int, error) {
	return call(q, func() (int, error) { return q.Queue.ExtendClaims(ctx, d) })
}

// Stats implements [queue.Queue].
func (q *Queue) Stats(ctx context.Context) (queue.Stats, error) {
	return call(q, func() (queue.Stats, error) { return q.Queue.Stats(ctx) })
}

// Backlog implements [queue.Queue].
func (q *Queue) Backlog(ctx context.Context, n int) ([]queue.Backlog, error) {
	return call(q, func() ([]queue.Backlog, error) { return q.Queue.Backlog(ctx, n) })
}

// Search implements [queue.Queue].
func (q *Queue) Search(ctx context.Context, f queue.Filter) (queue.Page, error) {
	return call(q, func() (queue.Page, error) { return q.Queue.Search(ctx, f) })
}

// Count implements [queue.Queue].
func (q *Queue) Count(ctx context.Context, f queue.Filter) (queue.Tally, error) {
	return call(q, func() (queue.Tally, error) { return q.Queue.Count(ctx, f) })
}

// Inspect implements [queue.Queue].
func (q *Queue) Inspect(ctx context.Context, id string) (queue.Details, error) {
	return call(q, func() (queue.Details, error) { return q.Queue.Inspect(ctx, id) })
}

// Retry implements [queue.Queue].
func (q *Queue) Retry(ctx context.Context, t queue.Seen, by string) (queue.State, error) {
	return call(q, func() (queue.State, error) { return q.Queue.Retry(ctx, t, by) })
}

// AskAgain implements [queue.Queue].
func (q *Queue) AskAgain(ctx context.Context, t queue.Seen, by, reason string) (queue.State, error) {
	return call(q, func() (queue.State, error) { return q.Queue.AskAgain(ctx, t, by, reason) })
}

// Cancel implements [queue.Queue].
func (q *Queue) Cancel(ctx context.Context, t queue.Seen, by string) error {
	return do(q, func() error { return q.Queue.Cancel(ctx, t, by) })
}

// Purge implements [queue.Queue].
func (q *Queue) Purge(ctx context.Context, before time.Time, limit int) (int, error) {
	return call(q, func() (int, error) { return q.Queue.Purge(ctx, before, limit) })
}
