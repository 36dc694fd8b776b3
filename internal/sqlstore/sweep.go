package sqlstore

import (
	"context"
	"fmt"
	"time"

	"github.com/org/foreman-action/queue"
)

// RequeueStale implements queue.Queue. Both parts are one transaction: nobody sees a task
// between them. What it passes over, for somebody is changing it, is for the next time.
func (s *Store) RequeueStale(ctx context.Context, l queue.Limits) ([]queue.Swept, error) {
	var swept []queue.Swept
	var o over
	if err := s.settle(ctx); err != nil {
		return nil, doing("requeue stale tasks", err)
	}
	err := s.engine.Write(ctx, func(tx Tx) (err error) {
		swept = nil
		if o, err = s.exhaust(tx, &swept, l); err != nil {
			return err
		}
		if err := s.requeue(tx, &swept, requeueing{s.sql.requeueClaimed, queue.Pending, l.Claims}); err != nil {
			return err
		}
		return s.requeue(tx, &swept, requeueing{s.sql.requeueDraining, queue.Completed, l.Drains})
	})
	if err != nil {
		return nil, doing("requeue stale tasks", err)
	}
	var agents []string
	for _, w := range swept {
		if w.State != queue.Pending {
			w.Agent = "" // the end of one lets the next decision on the issue go
		}
		agents = append(agents, w.Agent)
	}
	s.tell(agents...)
	s.follows(ctx, o)
	return swept, nil
}

// exhaust fails the tasks that were handed out as often as the limits allow.
func (s *Store) exhaust(tx Tx, swept *[]queue.Swept, l queue.Limits) (o over, err error) {
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
		ended, err := s.sweep(tx, swept, r)
		if err != nil {
			return over{}, err
		}
		o.add(ended)
	}
	return o, nil
}

// An exhaustion is a statement that fails tasks, why, and what its limit is.
type exhaustion struct {
	query, reason string
	limit         int
}

// sweep runs a statement that fails tasks, and notes it in their logs.
func (s *Store) sweep(tx Tx, swept *[]queue.Swept, e exhaustion) (o over, err error) {
	var list []sweptTask
	err = tx.Query(e.query, func(r Row) error {
		w := sweptTask{Swept: queue.Swept{State: queue.Failed}}
		err := r.Scan(&w.seq, &w.ID, &w.Agent, &w.who, &w.text, &w.lane.name, &w.lane.followed)
		w.lane.agent = w.Agent
		list = append(list, w)
		return err
	}, tx.Now(), e.reason, int64(e.limit))
	if err != nil {
		return over{}, err
	}
	if err := s.noteAll(tx, swept, "given up", list); err != nil {
		return over{}, err
	}
	for _, w := range list {
		ended, err := s.ended(tx, w.lane)
		if err != nil {
			return over{}, err
		}
		o.add(ended)
	}
	return o, nil
}

// A sweptTask is one of which the log is to tell.
type sweptTask struct {
	queue.Swept

	seq       int64
	who, text string
	lane      lane // of one that failed
}

// noteAll adds an entry to the logs of tasks, and the tasks to those that were swept.
func (s *Store) noteAll(tx Tx, swept *[]queue.Swept, what string, list []sweptTask) error {
	for _, w := range list {
		if err := s.note(tx, w.seq, queue.Entry{What: what, Who: w.who, Text: w.text}); err != nil {
			return err
		}
		*swept = append(*swept, w.Swept)
	}
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
func (s *Store) requeue(tx Tx, swept *[]queue.Swept, q requeueing) error {
	what, format := "requeued", "claim %d ran out"
	if q.state == queue.Completed {
		what, format = "lease ran out", "lease %d"
	}
	var list []sweptTask
	err := tx.Query(q.query, func(r Row) error {
		w := sweptTask{Swept: queue.Swept{State: q.state}}
		var count int64
		err := r.Scan(&w.seq, &w.ID, &w.Agent, &w.who, &count)
		w.text = fmt.Sprintf(format, count)
		list = append(list, w)
		return err
	}, tx.Now(), int64(max(0, q.limit)))
	if err != nil {
		return err
	}
	return s.noteAll(tx, swept, what, list)
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
