package sqlqueue

import (
	"context"
	"fmt"
	"time"

	"github.com/org/foreman-action/queue"
)

// maxSwept is how many tasks one statement takes up at most. Each is noted in its log, one after
// the other: with many, others that write would wait for long, and a database on another machine
// would take longer than a call may, each time anew.
const maxSwept = 200

// RequeueStale implements queue.Queue. Both parts are one transaction: nobody sees a task
// between them. Many tasks are several ones. What it passes over, for somebody is changing it,
// is for the next time.
func (s *Store) RequeueStale(ctx context.Context, l queue.Limits) ([]queue.Swept, error) {
	if err := s.settle(ctx); err != nil {
		return nil, doing("requeue stale tasks", err)
	}
	var all []queue.Swept
	for {
		some, more, err := s.sweepSome(ctx, l)
		all = append(all, some...)
		if err != nil || !more {
			return all, doing("requeue stale tasks", err)
		}
	}
}

// sweepSome takes up what was left, as far as one transaction goes, and reports whether there may
// be more.
func (s *Store) sweepSome(ctx context.Context, l queue.Limits) (list []queue.Swept, more bool, err error) {
	var w sweeping
	err = s.engine.Write(ctx, func(tx Tx) error {
		w = sweeping{}
		if err := s.exhaust(tx, &w, l); err != nil {
			return err
		}
		if err := s.requeue(tx, &w, requeueing{s.sql.requeueClaimed, queue.Pending, l.Claims}); err != nil {
			return err
		}
		return s.requeue(tx, &w, requeueing{s.sql.requeueDraining, queue.Completed, l.Drains})
	})
	if err != nil {
		return nil, false, err
	}
	var agents []string
	for _, t := range w.swept {
		if t.State != queue.Pending {
			t.Agent = "" // the end of one lets the next decision on the issue go
		}
		agents = append(agents, t.Agent)
	}
	s.tell(agents...)
	s.follows(ctx, w.over)
	return w.swept, w.more, nil
}

// A sweeping is what was taken up in a transaction.
type sweeping struct {
	swept []queue.Swept
	over  over
	more  bool // a statement took up as many as it may
}

// exhaust fails the tasks that were handed out as often as the limits allow.
func (s *Store) exhaust(tx Tx, w *sweeping, l queue.Limits) error {
	claims := fmt.Sprintf("given up: handed out %d times, and no decision came", l.Claims)
	drains := fmt.Sprintf("given up: could not be carried out in %d tries: ", l.Drains)
	for _, r := range []exhaustion{
		{s.sql.exhaustPending, claims, l.Claims},
		{s.sql.exhaustClaimed, claims, l.Claims},
		{s.sql.exhaustCompleted, drains, l.Drains},
		{s.sql.exhaustDraining, drains, l.Drains},
	} {
		if r.limit <= 0 {
			continue
		}
		if err := s.sweep(tx, w, r); err != nil {
			return err
		}
	}
	return nil
}

// An exhaustion is a statement that fails tasks, why, and what its limit is.
type exhaustion struct {
	query, reason string
	limit         int
}

// sweep runs a statement that fails tasks, and notes it in their logs.
func (s *Store) sweep(tx Tx, w *sweeping, e exhaustion) error {
	var list []sweptTask
	err := tx.Query(e.query, func(r Row) error {
		t := sweptTask{Swept: queue.Swept{State: queue.Failed}}
		err := r.Scan(&t.seq, &t.ID, &t.Agent, &t.who, &t.text, &t.lane.name, &t.lane.followed)
		t.lane.agent = t.Agent
		list = append(list, t)
		return err
	}, tx.Now(), e.reason, int64(e.limit))
	if err != nil {
		return err
	}
	if err := s.noteAll(tx, w, "given up", list); err != nil {
		return err
	}
	for _, t := range list {
		ended, err := s.ended(tx, t.lane)
		if err != nil {
			return err
		}
		w.over.add(ended)
	}
	return nil
}

// A sweptTask is one of which the log is to tell.
type sweptTask struct {
	queue.Swept

	seq       int64
	who, text string
	lane      lane // of one that failed
}

// noteAll adds an entry to the logs of tasks, and the tasks to those that were swept.
func (s *Store) noteAll(tx Tx, w *sweeping, what string, list []sweptTask) error {
	for _, t := range list {
		if err := s.note(tx, t.seq, queue.Entry{What: what, Who: t.who, Text: t.text}); err != nil {
			return err
		}
		w.swept = append(w.swept, t.Swept)
	}
	w.more = w.more || len(list) == maxSwept
	return nil
}

// A requeueing is a statement that makes tasks free, in which state they are then, and how often
// one was handed out that is left alone: it ran out since those were failed. 0: any number.
type requeueing struct {
	query string
	state queue.State
	limit int
}

// requeue runs a statement that makes tasks free, and notes it in their logs.
func (s *Store) requeue(tx Tx, w *sweeping, q requeueing) error {
	what, format := "requeued", "claim %d ran out"
	if q.state == queue.Completed {
		what, format = "lease ran out", "lease %d"
	}
	var list []sweptTask
	err := tx.Query(q.query, func(r Row) error {
		t := sweptTask{Swept: queue.Swept{State: q.state}}
		var count int64
		err := r.Scan(&t.seq, &t.ID, &t.Agent, &t.who, &count)
		t.text = fmt.Sprintf(format, count)
		list = append(list, t)
		return err
	}, tx.Now(), int64(max(0, q.limit)))
	if err != nil {
		return err
	}
	return s.noteAll(tx, w, what, list)
}

// Grace implements queue.Queue.
func (s *Store) Grace(ctx context.Context, d time.Duration) (int, error) {
	var n int64
	err := s.engine.Single(ctx, func(tx Tx) (err error) {
		n, err = tx.Exec(s.sql.grace, tx.Now(), millis(d))
		return err
	})
	return int(n), doing("extend all claims", err)
}
