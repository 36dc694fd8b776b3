package sqlqueue

import (
	"context"
	"fmt"
	"time"

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store/internal/sqlstore"
)

// maxSwept is how many tasks one statement takes up at most. Each is noted in its log, one after
// the other: with many, others that write would wait for long, and a database on another machine
// would take longer than a call may, each time anew.
const maxSwept = 200

// sweeps are the statements about claims and leases that ran out.
type sweeps struct {
	requeueClaimed, requeueDraining, grace string
	exhaustPending, exhaustClaimed         string
	exhaustCompleted, exhaustDraining      string
	logbook                                logbook
	lanes                                  lanes
}

func newSweeps(d sqlstore.Dialect) sweeps {
	const columns = " RETURNING seq, task_id, agent, claimed_by, reason, lane, followed"
	update := func(set, condition, columns string) string {
		return d.Expand(set + " WHERE " + d.Some(condition, maxSwept) + columns)
	}
	return sweeps{
		requeueClaimed: update("UPDATE task SET state = 0, lease_until = NULL",
			"lease_until <= {now} AND state = 1 AND ($2 = 0 OR claims < $2)", " RETURNING seq, task_id, agent, claimed_by, attempt"),
		requeueDraining: update("UPDATE task SET state = 2, lease_until = NULL, tries = tries + 1",
			"lease_until <= {now} AND state = 3 AND ($2 = 0 OR tries + 1 < $2)", " RETURNING seq, task_id, agent, owner, epoch"),
		grace:            d.Expand("UPDATE task SET lease_until = {now} + $2 WHERE " + d.InOrder("lease_until < {now} + $2 AND state = 1")),
		exhaustPending:   update(failing+"reason = $2", "state = 0 AND claims > 0 AND claims >= $3", columns),
		exhaustClaimed:   update(failing+"reason = $2", "lease_until <= {now} AND state = 1 AND claims >= $3", columns),
		exhaustCompleted: update(failing+"reason = $2 || reason", "tries > 0 AND state IN (2, 8) AND tries >= $3", columns),
		exhaustDraining:  update(failing+"tries = tries + 1, reason = $2 || reason", "lease_until <= {now} AND state = 3 AND tries + 1 >= $3", columns),
		logbook:          newLogbook(d),
		lanes:            newLanes(d),
	}
}

// some takes up what was left, as far as one transaction goes, so that nobody sees a task
// between its parts. What it passes over, for somebody is changing it, is for the next time.
func (s *sweeps) some(ctx context.Context, e sqlstore.Engine, l queue.Limits) (w sweeping, err error) {
	err = e.Write(ctx, func(tx sqlstore.Tx) error {
		w = sweeping{}
		if err := s.exhaust(tx, &w, l); err != nil {
			return err
		}
		if err := s.requeue(tx, &w, requeueing{s.requeueClaimed, queue.Pending, l.Claims}); err != nil {
			return err
		}
		return s.requeue(tx, &w, requeueing{s.requeueDraining, queue.Completed, l.Drains})
	})
	if err != nil {
		return sweeping{}, err
	}
	for _, t := range w.swept {
		if t.State != queue.Pending {
			t.Agent = "" // the end of one lets the next decision on the issue go
		}
		w.over.agents = append(w.over.agents, t.Agent)
	}
	return w, nil
}

// A sweeping is what was taken up in a transaction.
type sweeping struct {
	swept []queue.Swept
	over  over
	more  bool // a statement took up as many as it may
}

// exhaust fails the tasks that were handed out as often as the limits allow.
func (s *sweeps) exhaust(tx sqlstore.Tx, w *sweeping, l queue.Limits) error {
	claims := fmt.Sprintf("given up: handed out %d times, and no decision came", l.Claims)
	drains := fmt.Sprintf("given up: could not be carried out in %d tries: ", l.Drains)
	for _, r := range []exhaustion{
		{s.exhaustPending, claims, l.Claims},
		{s.exhaustClaimed, claims, l.Claims},
		{s.exhaustCompleted, drains, l.Drains},
		{s.exhaustDraining, drains, l.Drains},
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
func (s *sweeps) sweep(tx sqlstore.Tx, w *sweeping, e exhaustion) error {
	var list []sweptTask
	err := tx.Query(e.query, func(r sqlstore.Row) error {
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
		ended, err := s.lanes.ended(tx, t.lane)
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
func (s *sweeps) noteAll(tx sqlstore.Tx, w *sweeping, what string, list []sweptTask) error {
	for _, t := range list {
		if err := s.logbook.note(tx, t.seq, queue.Entry{What: what, Who: t.who, Text: t.text}); err != nil {
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
func (s *sweeps) requeue(tx sqlstore.Tx, w *sweeping, q requeueing) error {
	what, format := "requeued", "claim %d ran out"
	if q.state == queue.Completed {
		what, format = "lease ran out", "lease %d"
	}
	var list []sweptTask
	err := tx.Query(q.query, func(r sqlstore.Row) error {
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

// extend makes all claims last for d from now on, and returns how many it made longer.
func (s *sweeps) extend(ctx context.Context, e sqlstore.Engine, d time.Duration) (int, error) {
	var n int64
	err := e.Single(ctx, func(tx sqlstore.Tx) (err error) {
		n, err = tx.Exec(s.grace, tx.Now(), sqlstore.Millis(d))
		return err
	})
	return int(n), err
}
