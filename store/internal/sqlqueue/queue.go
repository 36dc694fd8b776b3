package sqlqueue

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store/internal/batch"
	"github.com/org/foreman-action/store/internal/sqlstore"
)

// A Queue implements queue.Queue with an engine. It is safe for concurrent use. Each method
// checks its arguments, runs the operation, and announces the tasks that became ready.
type Queue struct {
	engine   batch.Engine
	holders  Holders
	verbs    verbs
	idle     *idle
	pauses   *atomic.Bool // there may be pauses that skip tasks one by one; if out of date, only costs change
	watchers *watchers
}

var (
	_ queue.Queue  = (*Queue)(nil)
	_ queue.Pauses = (*Queue)(nil)
)

// New returns the queue of a database that sqlstore.Migrate has prepared. h identifies the
// processes that use the database.
func New(e batch.Engine, d sqlstore.Dialect, h Holders) *Queue {
	return &Queue{e, h, newVerbs(d), &idle{agents: map[string]bool{}}, &atomic.Bool{}, &watchers{chans: map[chan queue.Change]bool{}}}
}

// Watch implements queue.Queue.
func (q *Queue) Watch() (changes <-chan queue.Change, stop func()) { return q.watchers.add() }

// Changed reports changes by other processes to the watchers of this one.
func (q *Queue) Changed(changes ...queue.Change) { q.watchers.notify(changes...) }

// notify announces changes by this process to all watchers, once for each agent.
func (q *Queue) notify(agents ...string) {
	if len(agents) == 0 {
		return
	}
	seen := map[string]bool{}
	for _, agent := range agents {
		if !seen[agent] {
			seen[agent] = true
			q.watchers.notify(queue.Change{Agent: agent})
			q.engine.Announce(queue.Change{Agent: agent})
		}
	}
}

// after does the work that follows a transaction.
func (q *Queue) after(ctx context.Context, o followUp) {
	q.notify(o.agents...)
	q.notify(q.verbs.lanes.releaseAll(ctx, q.engine, o.lanes)...)
}

// promote makes due tasks ready in separate transactions, and reports whether any task was due.
func (q *Queue) promote(ctx context.Context) (due bool, err error) {
	due, paused, err := q.verbs.delayed.look(ctx, q.engine)
	if err != nil {
		return false, err
	}
	q.pauses.Store(paused)
	if !due {
		return false, nil
	}
	o, err := q.verbs.delayed.promoteAll(ctx, q.engine)
	q.after(ctx, o)
	return true, err
}

// Enqueue implements queue.Queue.
func (q *Queue) Enqueue(ctx context.Context, t queue.Task) (queue.Enqueued, error) {
	if err := t.Check(); err != nil {
		return queue.Enqueued{}, sqlstore.Wrap("enqueue a task", err)
	}
	out, err := q.verbs.enqueue.enqueue(ctx, q.engine, t)
	switch {
	case err != nil:
		return out, sqlstore.Wrap("enqueue task "+t.ID, err)
	case out.Outcome == queue.Duplicate:
	case out.Behind != "":
		q.notify(t.Agent, "") // a claim that skips locked rows may have missed older tasks
	case out.Ready.IsZero():
		q.notify(t.Agent)
	}
	return out, nil
}

// Duplicate implements queue.Queue.
func (q *Queue) Duplicate(ctx context.Context, dedup string) (queue.Enqueued, error) {
	if !queue.IsText(dedup) {
		return queue.Enqueued{}, sqlstore.Wrap("look up a key", queue.ErrNotFound)
	}
	out, err := sqlstore.Value(ctx, q.engine.ReadOne, func(tx sqlstore.Tx) (queue.Enqueued, error) {
		return q.verbs.enqueue.coalescing.duplicates.find(tx, queue.Duplicate, queue.Task{Dedup: dedup})
	})
	if err == nil && out.Outcome == "" {
		err = queue.ErrNotFound
	}
	return out, sqlstore.Wrap("look up a key", err)
}

// ClaimNext implements queue.Queue.
func (q *Queue) ClaimNext(ctx context.Context, agent string, o queue.ClaimOptions) (queue.Claim, error) {
	if err := o.Check(); err != nil {
		return queue.Claim{}, sqlstore.Wrap("claim a task", err)
	}
	if !queue.IsText(agent) || !queue.IsText(o.Task) {
		return queue.Claim{}, sqlstore.Wrap("claim a task", queue.ErrEmpty)
	}
	for {
		w := &sqlstore.ClaimRequest{Agent: agent, By: queue.CleanText(o.By), Lease: sqlstore.Millis(o.Lease), Task: o.Task}
		switch err := q.claim(ctx, w); {
		case err != nil:
			return queue.Claim{}, sqlstore.Wrap("claim a task", err)
		case queue.Decodable(w.Claim.Message):
			return w.Claim, nil
		}
		ended, err := q.verbs.claim.quarantine(ctx, q.engine, w.Claim)
		if err != nil {
			return queue.Claim{}, sqlstore.Wrap("quarantine a task with an invalid message", err)
		}
		q.after(ctx, ended)
	}
}

// claim hands out the next task, or the only task that was asked for. It does not check the task's
// message. Error: queue.ErrEmpty.
func (q *Queue) claim(ctx context.Context, w *sqlstore.ClaimRequest) error {
	if q.pauses.Load() && w.Task == "" {
		if _, err := q.verbs.pause.parkPending(ctx, q.engine, w.Agent); err != nil {
			return err
		}
	}
	probes := q.verbs.claim.probes && w.Task == "" // the absence of one task says nothing about the others
	if probes && q.idle.has(w.Agent) {
		if nothing, err := q.verbs.claim.nothing(ctx, q.engine, w.Agent); err != nil {
			return err
		} else if nothing {
			return queue.ErrEmpty
		}
	}
	if err := q.verbs.claim.next(ctx, q.engine, w); err != nil {
		return err
	}
	q.notify(w.Promoted...)
	if probes {
		q.idle.set(w.Agent, !w.Found)
	}
	if !w.Found {
		return queue.ErrEmpty
	}
	return nil
}

// Heartbeat implements queue.Queue.
func (q *Queue) Heartbeat(ctx context.Context, ref queue.Ref, lease time.Duration) error {
	if err := (queue.ClaimOptions{Lease: lease}).Check(); err != nil {
		return sqlstore.Wrap("extend a claim", err)
	}
	if !queue.IsText(ref.ID) {
		return sqlstore.Wrap("extend a claim", queue.ErrNotFound)
	}
	return sqlstore.Wrap("extend the claim of task "+ref.ID, q.verbs.heartbeat.extend(ctx, q.engine, ref, lease))
}

// FailClaim implements queue.Queue.
func (q *Queue) FailClaim(ctx context.Context, ref queue.Ref, reason string) error {
	if !queue.IsText(ref.ID) {
		return sqlstore.Wrap("fail a task", queue.ErrNotFound)
	}
	o, err := q.verbs.heartbeat.end(ctx, q.engine, ref, reason)
	if err == nil {
		q.after(ctx, o)
	}
	return sqlstore.Wrap("fail task "+ref.ID, err)
}

// ReleaseClaim implements queue.Queue.
func (q *Queue) ReleaseClaim(ctx context.Context, ref queue.Ref, wait time.Duration) error {
	if !queue.IsText(ref.ID) {
		return sqlstore.Wrap("release a claim", queue.ErrNotFound)
	}
	o, err := q.verbs.heartbeat.free(ctx, q.engine, ref, wait)
	if err == nil {
		q.after(ctx, o)
	}
	return sqlstore.Wrap("release the claim of task "+ref.ID, err)
}

// Complete implements queue.Queue.
func (q *Queue) Complete(ctx context.Context, ref queue.Ref, decision []byte) (queue.Receipt, error) {
	if err := queue.CheckDecision(decision); err != nil {
		return queue.Receipt{}, sqlstore.Wrap("complete a task", err)
	}
	receipt, err := q.verbs.complete.decide(ctx, q.engine, ref, decision)
	if receipt.Accepted {
		q.notify("")
	}
	return receipt, sqlstore.Wrap("complete task "+ref.ID, err)
}

// LeaseDecisions implements queue.Queue.
func (q *Queue) LeaseDecisions(ctx context.Context, o queue.DrainOptions) ([]queue.Decision, error) {
	if err := o.Check(); err != nil {
		return nil, sqlstore.Wrap("lease decisions", err)
	}
	if q.pauses.Load() {
		if _, err := q.verbs.pause.parkCompleted(ctx, q.engine); err != nil {
			return nil, sqlstore.Wrap("lease decisions", err)
		}
	}
	lo := leaseOptions{DrainOptions: o, holder: holderOf(q.holders)}
	if q.verbs.drain.calls == nil {
		list, ready, err := q.verbs.drain.all(ctx, q.engine, lo)
		q.after(ctx, ready)
		return list, sqlstore.Wrap("lease decisions", err)
	}
	list, err := q.verbs.drain.add(ctx, q.engine, lo, q.promote)
	return list, sqlstore.Wrap("lease decisions", err)
}

// Renew implements queue.Queue.
func (q *Queue) Renew(ctx context.Context, l queue.Lease, d time.Duration) (time.Time, error) {
	if err := (queue.ClaimOptions{Lease: d}).Check(); err != nil {
		return time.Time{}, sqlstore.Wrap("renew a lease", err)
	}
	if !queue.IsText(l.ID) {
		return time.Time{}, sqlstore.Wrap("renew a lease", queue.ErrLost)
	}
	until, err := q.verbs.lease.extend(ctx, q.engine, l, d)
	return until, sqlstore.Wrap("renew the lease of task "+l.ID, err)
}

// RenewIn renews a lease in the transaction of the caller. It returns queue.ErrLost if the lease is lost.
func (q *Queue) RenewIn(tx sqlstore.Tx, l queue.Lease, d time.Duration) error {
	return q.verbs.lease.extendIn(tx, l, d)
}

// MarkDone implements queue.Queue.
func (q *Queue) MarkDone(ctx context.Context, l queue.Lease, report []byte) error {
	return sqlstore.Wrap("finish task "+l.ID, endLease(ctx, q, l, ending{stateDone, "", report}))
}

// Fail implements queue.Queue.
func (q *Queue) Fail(ctx context.Context, l queue.Lease, reason string, report []byte) error {
	return sqlstore.Wrap("fail task "+l.ID, endLease(ctx, q, l, ending{stateFailed, reason, report}))
}

// endLease ends a lease and its task.
func endLease(ctx context.Context, q *Queue, l queue.Lease, how ending) error {
	o, err := q.verbs.lease.end(ctx, q.engine, l, how)
	if err == nil {
		q.after(ctx, o)
	}
	return err
}

// ReleaseLease implements queue.Queue.
func (q *Queue) ReleaseLease(ctx context.Context, l queue.Lease, p queue.Postponement) error {
	if !queue.IsText(l.ID) {
		return sqlstore.Wrap("release a task", queue.ErrLost)
	}
	err := q.verbs.lease.postpone(ctx, q.engine, l, p)
	if err == nil {
		q.notify("")
	}
	return sqlstore.Wrap("release task "+l.ID, err)
}

// RequeueStale implements queue.Queue. It needs several transactions for many tasks.
func (q *Queue) RequeueStale(ctx context.Context, l queue.Limits) ([]queue.Requeued, error) {
	_, err := q.promote(ctx)
	if err == nil {
		err = q.release(ctx)
	}
	var all []queue.Requeued
	for more := true; err == nil && more; {
		var r requeued
		if r, err = q.verbs.requeue.some(ctx, q.engine, l); err == nil {
			q.after(ctx, r.followUp)
		}
		all, more = append(all, r.tasks...), r.more
	}
	return all, sqlstore.Wrap("requeue stale tasks", err)
}

// RequeueLeases implements queue.Queue.
func (q *Queue) RequeueLeases(ctx context.Context, drains int) (out queue.LeaseCheck, err error) {
	state, err := q.verbs.holdings.look(ctx, q.engine, q.holders)
	out.Others = state.others
	for more := state.expired || len(state.ended) > 0; more; {
		r, failed := q.verbs.holdings.some(ctx, q.engine, state.ended, drains)
		if failed != nil {
			err = errors.Join(err, failed)
			break
		}
		q.after(ctx, r.followUp)
		out.Requeued, more = append(out.Requeued, r.tasks...), r.more
	}
	return out, sqlstore.Wrap("requeue leased decisions", err)
}

// ExtendClaims implements queue.Queue.
func (q *Queue) ExtendClaims(ctx context.Context, d time.Duration) (int, error) {
	n, err := q.verbs.requeue.extend(ctx, q.engine, d)
	return n, sqlstore.Wrap("extend all claims", err)
}

// Stats implements queue.Queue.
func (q *Queue) Stats(ctx context.Context) (queue.Stats, error) {
	if _, err := q.promote(ctx); err != nil {
		return queue.Stats{}, sqlstore.Wrap("count tasks", err)
	}
	out, err := q.verbs.count.count(ctx, q.engine)
	return out, sqlstore.Wrap("count tasks", err)
}

// Backlog implements queue.Queue.
func (q *Queue) Backlog(ctx context.Context, n int) ([]queue.Backlog, error) {
	if _, err := q.promote(ctx); err != nil {
		return nil, sqlstore.Wrap("list waiting tasks", err)
	}
	if q.pauses.Load() {
		if err := q.parkWaiting(ctx); err != nil {
			return nil, sqlstore.Wrap("list waiting tasks", err)
		}
	}
	list, err := q.verbs.count.waiting(ctx, q.engine, n)
	return list, sqlstore.Wrap("list waiting tasks", err)
}

// Search implements queue.Queue.
func (q *Queue) Search(ctx context.Context, f queue.Filter) (queue.Page, error) {
	if !f.Texts() {
		return queue.Page{}, ctx.Err()
	}
	page, err := q.verbs.read.search(ctx, q.engine, f)
	return page, sqlstore.Wrap("list tasks", err)
}

// Count implements queue.Queue.
func (q *Queue) Count(ctx context.Context, f queue.Filter) (queue.Tally, error) {
	if !f.Texts() {
		return queue.Tally{}, ctx.Err()
	}
	tally, err := q.verbs.read.count(ctx, q.engine, f)
	return tally, sqlstore.Wrap("count tasks", err)
}

// Inspect implements queue.Queue.
func (q *Queue) Inspect(ctx context.Context, id string) (queue.Details, error) {
	if !queue.IsText(id) {
		return queue.Details{}, sqlstore.Wrap("inspect a task", queue.ErrNotFound)
	}
	out, err := sqlstore.Value(ctx, q.engine.Read, func(tx sqlstore.Tx) (queue.Details, error) { return q.verbs.read.details(tx, id) })
	if err != nil {
		return queue.Details{}, sqlstore.Wrap("inspect task "+id, err)
	}
	return out, nil
}

// Retry implements queue.Queue.
func (q *Queue) Retry(ctx context.Context, t queue.Seen, by string) (queue.State, error) {
	if _, err := q.promote(ctx); err != nil { // a due task no longer counts as held back
		return "", sqlstore.Wrap("retry task "+t.ID, err)
	}
	return q.restart(ctx, "retry task "+t.ID, restart{seen: t, by: by})
}

// AskAgain implements queue.Queue.
func (q *Queue) AskAgain(ctx context.Context, t queue.Seen, by, reason string) (queue.State, error) {
	return q.restart(ctx, "ask again about task "+t.ID, restart{seen: t, by: by, asks: true, reason: reason})
}

func (q *Queue) restart(ctx context.Context, what string, c restart) (queue.State, error) {
	state, agent, err := q.verbs.retry.restart(ctx, q.engine, c)
	if err != nil {
		return "", sqlstore.Wrap(what, err)
	}
	q.notify(agent)
	return stateOf(state), nil
}

// Cancel implements queue.Queue.
func (q *Queue) Cancel(ctx context.Context, t queue.Seen, by string) error {
	o, err := q.verbs.retry.cancel(ctx, q.engine, t, by)
	if err == nil {
		q.after(ctx, o)
	}
	return sqlstore.Wrap("cancel task "+t.ID, err)
}

// Purge implements queue.Queue.
func (q *Queue) Purge(ctx context.Context, before time.Time, limit int) (int, error) {
	if limit <= 0 {
		return 0, ctx.Err()
	}
	n, err := q.verbs.purge.some(ctx, q.engine, before, limit)
	return n, sqlstore.Wrap("purge tasks", err)
}

// Pause implements queue.Pauses.
func (q *Queue) Pause(ctx context.Context, s queue.Scope, by, reason string) (p queue.Pause, already bool, err error) {
	if err := s.Check(); err != nil {
		return queue.Pause{}, false, sqlstore.Wrap("pause", err)
	}
	p, already, err = q.verbs.pause.begin(ctx, q.engine, s, by, reason)
	if err == nil && s.Kind != queue.ScopeEverything {
		q.pauses.Store(true)
	}
	return p, already, sqlstore.Wrap("pause "+s.String(), err)
}

// Resume implements queue.Pauses.
func (q *Queue) Resume(ctx context.Context, s queue.Scope) (p queue.Pause, found bool, err error) {
	if err := s.Check(); err != nil {
		return queue.Pause{}, false, sqlstore.Wrap("resume", err)
	}
	p, found, err = q.verbs.pause.end(ctx, q.engine, s)
	if err != nil || !found {
		return queue.Pause{}, false, sqlstore.Wrap("resume "+s.String(), err)
	}
	// The pause has ended. If the rest fails, RequeueStale repeats it.
	_ = q.release(context.WithoutCancel(ctx))
	return p, true, nil
}

// release makes the parked tasks of pauses that have ended ready.
func (q *Queue) release(ctx context.Context) error {
	some, err := q.verbs.pause.releaseAll(ctx, q.engine)
	if !some || err != nil {
		return err
	}
	list, err := q.verbs.count.waiting(ctx, q.engine, 0)
	agents := []string{""}
	for _, b := range list {
		agents = append(agents, b.Agent)
	}
	q.notify(agents...)
	return err
}

// parkWaiting parks the paused tasks at the front of each agent's tasks, so that the first tasks
// are not paused.
func (q *Queue) parkWaiting(ctx context.Context) error {
	agents, err := q.verbs.count.agents(ctx, q.engine)
	for _, agent := range agents {
		for n := maxParked; n == maxParked && err == nil; {
			n, err = q.verbs.pause.parkPending(ctx, q.engine, agent)
		}
	}
	return err
}

// ListPauses implements queue.Pauses.
func (q *Queue) ListPauses(ctx context.Context, count bool) ([]queue.Pause, error) {
	list, err := q.verbs.pause.all(ctx, q.engine, count)
	return list, sqlstore.Wrap("list pauses", err)
}
