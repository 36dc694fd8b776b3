package sqlqueue

import (
	"context"
	"time"

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store/internal/sqlstore"
)

// A Queue keeps tasks by way of an engine. It is safe for concurrent use. Its methods check
// what they get, have the verb do the work, and tell of what became ready.
type Queue struct {
	engine   sqlstore.Engine
	verbs    verbs
	idle     *idle
	watchers *watchers
}

var _ queue.Queue = (*Queue)(nil)

// New returns the queue of a database that sqlstore.Migrate was run on.
func New(e sqlstore.Engine, d sqlstore.Dialect) *Queue {
	return &Queue{e, newVerbs(d), &idle{agents: map[string]bool{}}, &watchers{chans: map[chan queue.Change]bool{}}}
}

// Watch implements queue.Queue.
func (q *Queue) Watch() (changes <-chan queue.Change, stop func()) { return q.watchers.add() }

// Changed tells those who watch of changes that another process made.
func (q *Queue) Changed(changes ...queue.Change) { q.watchers.tell(changes...) }

// tell tells everybody of changes that this process made, each kind once.
func (q *Queue) tell(agents ...string) {
	if len(agents) == 0 {
		return
	}
	told := map[string]bool{}
	for _, agent := range agents {
		if !told[agent] {
			told[agent] = true
			q.watchers.tell(queue.Change{Agent: agent})
			q.engine.Announce(queue.Change{Agent: agent})
		}
	}
}

// after does what is left to be done after a transaction.
func (q *Queue) after(ctx context.Context, o over) {
	q.tell(o.agents...)
	q.tell(q.verbs.lanes.follows(ctx, q.engine, o.lanes)...)
}

// settle makes those tasks ready whose time came, in transactions of its own.
func (q *Queue) settle(ctx context.Context) error {
	o, err := q.verbs.due.settle(ctx, q.engine)
	q.after(ctx, o)
	return err
}

// Enqueue implements queue.Queue.
func (q *Queue) Enqueue(ctx context.Context, t queue.Task) (queue.Enqueued, error) {
	if err := t.Check(); err != nil {
		return queue.Enqueued{}, sqlstore.Doing("enqueue a task", err)
	}
	out, err := q.verbs.enqueue.enqueue(ctx, q.engine, t)
	switch {
	case err != nil:
		return out, sqlstore.Doing("enqueue task "+t.ID, err)
	case out.How == queue.Duplicate:
	case out.Behind != "":
		q.tell(t.Agent, "") // where others look past what is locked, they have missed those ahead
	case out.Ready.IsZero():
		q.tell(t.Agent)
	}
	return out, nil
}

// ClaimNext implements queue.Queue.
func (q *Queue) ClaimNext(ctx context.Context, agent string, o queue.ClaimOptions) (queue.Claim, error) {
	if err := o.Check(); err != nil {
		return queue.Claim{}, sqlstore.Doing("claim a task", err)
	}
	if !queue.IsText(agent) {
		return queue.Claim{}, sqlstore.Doing("claim a task", queue.ErrEmpty)
	}
	for {
		w := &sqlstore.Wish{Agent: agent, By: queue.CleanText(o.By), Lease: sqlstore.Millis(o.Lease)}
		switch err := q.claim(ctx, w); {
		case err != nil:
			return queue.Claim{}, sqlstore.Doing("claim a task", err)
		case queue.Decodable(w.Claim.Message):
			return w.Claim, nil
		}
		ended, err := q.verbs.claim.quarantine(ctx, q.engine, w.Claim)
		if err != nil {
			return queue.Claim{}, sqlstore.Doing("set an unreadable task aside", err)
		}
		q.after(ctx, ended)
	}
}

// claim hands out the next task, whatever is in it. Error: queue.ErrEmpty.
func (q *Queue) claim(ctx context.Context, w *sqlstore.Wish) error {
	if q.verbs.claim.probes && q.idle.has(w.Agent) {
		if nothing, err := q.verbs.claim.nothing(ctx, q.engine, w.Agent); err != nil {
			return err
		} else if nothing {
			return queue.ErrEmpty
		}
	}
	if err := q.verbs.claim.fulfil(ctx, q.engine, w); err != nil {
		return err
	}
	q.tell(w.Promoted...)
	if q.verbs.claim.probes {
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
		return sqlstore.Doing("extend a claim", err)
	}
	if !queue.IsText(ref.ID) {
		return sqlstore.Doing("extend a claim", queue.ErrNotFound)
	}
	return sqlstore.Doing("extend the claim of task "+ref.ID, q.verbs.held.extend(ctx, q.engine, ref, lease))
}

// GiveUp implements queue.Queue.
func (q *Queue) GiveUp(ctx context.Context, ref queue.Ref, reason string) error {
	if !queue.IsText(ref.ID) {
		return sqlstore.Doing("give up a task", queue.ErrNotFound)
	}
	o, err := q.verbs.held.end(ctx, q.engine, ref, reason)
	if err == nil {
		q.after(ctx, o)
	}
	return sqlstore.Doing("give up task "+ref.ID, err)
}

// GiveBack implements queue.Queue.
func (q *Queue) GiveBack(ctx context.Context, ref queue.Ref, wait time.Duration) error {
	if !queue.IsText(ref.ID) {
		return sqlstore.Doing("give back a claim", queue.ErrNotFound)
	}
	o, err := q.verbs.held.free(ctx, q.engine, ref, wait)
	if err == nil {
		q.after(ctx, o)
	}
	return sqlstore.Doing("give back the claim of task "+ref.ID, err)
}

// Complete implements queue.Queue.
func (q *Queue) Complete(ctx context.Context, ref queue.Ref, decision []byte) (queue.Receipt, error) {
	if err := queue.CheckDecision(decision); err != nil {
		return queue.Receipt{}, sqlstore.Doing("complete a task", err)
	}
	receipt, err := q.verbs.complete.decide(ctx, q.engine, ref, decision)
	if receipt.Accepted {
		q.tell("")
	}
	return receipt, sqlstore.Doing("complete task "+ref.ID, err)
}

// DrainCompleted implements queue.Queue.
func (q *Queue) DrainCompleted(ctx context.Context, o queue.DrainOptions) ([]queue.Decision, error) {
	if err := o.Check(); err != nil {
		return nil, sqlstore.Doing("lease decisions", err)
	}
	if !q.verbs.drain.crowded {
		list, ready, err := q.verbs.drain.all(ctx, q.engine, o)
		q.after(ctx, ready)
		return list, sqlstore.Doing("lease decisions", err)
	}
	if err := q.settle(ctx); err != nil {
		return nil, sqlstore.Doing("lease decisions", err)
	}
	list, err := q.verbs.drain.each(ctx, q.engine, o)
	return list, sqlstore.Doing("lease decisions", err)
}

// Renew implements queue.Queue.
func (q *Queue) Renew(ctx context.Context, h queue.Hold, d time.Duration) (time.Time, error) {
	if err := (queue.ClaimOptions{Lease: d}).Check(); err != nil {
		return time.Time{}, sqlstore.Doing("renew a lease", err)
	}
	if !queue.IsText(h.ID) {
		return time.Time{}, sqlstore.Doing("renew a lease", queue.ErrLost)
	}
	until, err := q.verbs.finish.extend(ctx, q.engine, h, d)
	return until, sqlstore.Doing("renew the lease of task "+h.ID, err)
}

// MarkDone implements queue.Queue.
func (q *Queue) MarkDone(ctx context.Context, h queue.Hold, report []byte) error {
	return sqlstore.Doing("finish task "+h.ID, q.end(ctx, h, ending{stateDone, "", report}))
}

// Fail implements queue.Queue.
func (q *Queue) Fail(ctx context.Context, h queue.Hold, reason string, report []byte) error {
	return sqlstore.Doing("fail task "+h.ID, q.end(ctx, h, ending{stateFailed, reason, report}))
}

func (q *Queue) end(ctx context.Context, h queue.Hold, how ending) error {
	o, err := q.verbs.finish.end(ctx, q.engine, h, how)
	if err == nil {
		q.after(ctx, o)
	}
	return err
}

// Release implements queue.Queue.
func (q *Queue) Release(ctx context.Context, h queue.Hold, p queue.Postponement) error {
	if !queue.IsText(h.ID) {
		return sqlstore.Doing("give back a task", queue.ErrLost)
	}
	err := q.verbs.finish.postpone(ctx, q.engine, h, p)
	if err == nil {
		q.tell("")
	}
	return sqlstore.Doing("give back task "+h.ID, err)
}

// RequeueStale implements queue.Queue. Many tasks are several transactions.
func (q *Queue) RequeueStale(ctx context.Context, l queue.Limits) ([]queue.Swept, error) {
	err := q.settle(ctx)
	var all []queue.Swept
	for more := true; err == nil && more; {
		var w sweeping
		if w, err = q.verbs.sweep.some(ctx, q.engine, l); err == nil {
			q.after(ctx, w.over)
		}
		all, more = append(all, w.swept...), w.more
	}
	return all, sqlstore.Doing("requeue stale tasks", err)
}

// Grace implements queue.Queue.
func (q *Queue) Grace(ctx context.Context, d time.Duration) (int, error) {
	n, err := q.verbs.sweep.extend(ctx, q.engine, d)
	return n, sqlstore.Doing("extend all claims", err)
}

// Stats implements queue.Queue.
func (q *Queue) Stats(ctx context.Context) (queue.Stats, error) {
	if err := q.settle(ctx); err != nil {
		return queue.Stats{}, sqlstore.Doing("count tasks", err)
	}
	out, err := q.verbs.count.count(ctx, q.engine)
	return out, sqlstore.Doing("count tasks", err)
}

// Backlog implements queue.Queue.
func (q *Queue) Backlog(ctx context.Context, n int) ([]queue.Backlog, error) {
	if err := q.settle(ctx); err != nil {
		return nil, sqlstore.Doing("look for waiting tasks", err)
	}
	list, err := q.verbs.count.waiting(ctx, q.engine, n)
	return list, sqlstore.Doing("look for waiting tasks", err)
}

// List implements queue.Queue.
func (q *Queue) List(ctx context.Context, f queue.Filter) ([]queue.Info, error) {
	if !queue.IsText(f.Agent) || !queue.IsText(f.Repo) {
		return nil, ctx.Err()
	}
	list, err := q.verbs.read.list(ctx, q.engine, f)
	return list, sqlstore.Doing("list tasks", err)
}

// Inspect implements queue.Queue.
func (q *Queue) Inspect(ctx context.Context, id string) (queue.Details, error) {
	if !queue.IsText(id) {
		return queue.Details{}, sqlstore.Doing("look at a task", queue.ErrNotFound)
	}
	out, err := q.verbs.read.whole(ctx, q.engine, id)
	if err != nil {
		return queue.Details{}, sqlstore.Doing("look at task "+id, err)
	}
	return out, nil
}

// Retry implements queue.Queue.
func (q *Queue) Retry(ctx context.Context, id, by string) (queue.State, error) {
	if err := q.settle(ctx); err != nil { // one whose time has come is not held back
		return "", sqlstore.Doing("retry task "+id, err)
	}
	state, agent, err := q.verbs.hand.takeUp(ctx, q.engine, id, by)
	if err != nil {
		return "", sqlstore.Doing("retry task "+id, err)
	}
	q.tell(agent)
	return stateOf(state), nil
}

// Cancel implements queue.Queue.
func (q *Queue) Cancel(ctx context.Context, id, by string) error {
	o, err := q.verbs.hand.cancel(ctx, q.engine, id, by)
	if err == nil {
		q.after(ctx, o)
	}
	return sqlstore.Doing("cancel task "+id, err)
}

// Purge implements queue.Queue.
func (q *Queue) Purge(ctx context.Context, before time.Time, limit int) (int, error) {
	if limit <= 0 {
		return 0, ctx.Err()
	}
	n, err := q.verbs.purge.some(ctx, q.engine, before, limit)
	return n, sqlstore.Doing("purge tasks", err)
}
