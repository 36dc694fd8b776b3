package sqlqueue

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store/internal/sqlstore"
)

// maxStale is the most tasks that one statement changes. Each change is logged by a separate
// statement. With more tasks, other writers would wait for long. On a distant database the
// transaction would exceed the deadline of a call, and would exceed it again with each call.
const maxStale = 200

// requeuing are the statements of RequeueStale and ExtendClaims.
type requeuing struct {
	requeueClaimed, requeueDraining, extendClaims string
	expireClaims                                  string
	exhaustPending, exhaustClaimed                string
	exhaustCompleted, exhaustDraining             string
	logbook                                       logbook
	lanes                                         lanes
}

func newRequeuing(d sqlstore.Dialect) requeuing {
	const columns = " RETURNING seq, task_id, agent, claimed_by, reason, lane, followed"
	update := func(set, condition, columns string) string {
		return d.Expand(set + " WHERE " + d.UnlockedLimit(condition, maxStale) + columns)
	}
	return requeuing{
		requeueClaimed: update("UPDATE task SET state = 0, lease_until = NULL",
			"lease_until <= {now} AND state = 1 AND ($2 = 0 OR claims < $2)", " RETURNING seq, task_id, agent, claimed_by, attempt"),
		requeueDraining: update("UPDATE task SET state = 2, lease_until = NULL, tries = tries + 1",
			"lease_until <= {now} AND state = 3 AND ($2 = 0 OR tries + 1 < $2)", " RETURNING seq, task_id, agent, owner, epoch"),
		expireClaims: d.Expand("UPDATE task SET lease_until = {now} WHERE " +
			d.Unlocked("lease_until > {now} AND state = 1 AND claimed_at <= {now} - $2") + " RETURNING seq"),
		extendClaims:     d.Expand("UPDATE task SET lease_until = {now} + $2 WHERE " + d.InOrder("lease_until < {now} + $2 AND state = 1")),
		exhaustPending:   update(failing+"reason = $2", "state = 0 AND claims > 0 AND claims >= $3", columns),
		exhaustClaimed:   update(failing+"reason = $2", "lease_until <= {now} AND state = 1 AND claims >= $3", columns),
		exhaustCompleted: update(failing+"reason = $2 || reason", "tries > 0 AND state IN (2, 8, 20) AND tries >= $3", columns),
		exhaustDraining:  update(failing+"tries = tries + 1, reason = $2 || reason", "lease_until <= {now} AND state = 3 AND tries + 1 >= $3", columns),
		logbook:          newLogbook(d),
		lanes:            newLanes(d),
	}
}

// some requeues or fails tasks whose claim or lease expired, but at most as many as one
// transaction may change. It leaves tasks that other transactions have locked for the next call.
func (s *requeuing) some(ctx context.Context, e sqlstore.Engine, l queue.Limits) (requeued, error) {
	return sqlstore.Value(ctx, e.Write, func(tx sqlstore.Tx) (r requeued, err error) {
		if err := s.expire(tx, &r, l.MaxClaim); err != nil {
			return requeued{}, err
		}
		claims := fmt.Sprintf("claimed %d times without a decision", l.Claims)
		for _, step := range []failStep{
			{s.exhaustPending, claims, l.Claims},
			{s.exhaustClaimed, claims, l.Claims},
			{s.exhaustCompleted, drainsReason(l.Drains), l.Drains},
		} {
			if err := s.fail(tx, &r, step); err != nil {
				return requeued{}, err
			}
		}
		if err := s.requeue(tx, &r, requeueStep{s.requeueClaimed, queue.Pending, l.Claims}); err != nil {
			return requeued{}, err
		}
		err = s.leases(tx, &r, l.Drains)
		return r, err
	})
}

// expire ends each claim that has lasted longer than a time; 0: no claim.
func (s *requeuing) expire(tx sqlstore.Tx, r *requeued, longest time.Duration) error {
	if longest <= 0 {
		return nil
	}
	list, err := sqlstore.All(tx, s.expireClaims, sqlstore.Column[int64], tx.Now(), sqlstore.Millis(longest))
	if err != nil || len(list) == 0 {
		return err
	}
	r.why = fmt.Sprintf(": it lasted for %s, the longest time of a claim", longest)
	r.ended = setOf(list)
	return nil
}

// setOf returns the set of tasks.
func setOf(list []int64) map[int64]bool {
	set := map[int64]bool{}
	for _, seq := range list {
		set[seq] = true
	}
	return set
}

// drainsReason returns the reason why a task failed that could not be carried out in limit tries.
func drainsReason(limit int) string {
	return fmt.Sprintf("not applied in %d tries: ", limit)
}

// leases ends expired leases, and adds them to the result.
func (s *requeuing) leases(tx sqlstore.Tx, r *requeued, limit int) error {
	if err := s.fail(tx, r, failStep{s.exhaustDraining, drainsReason(limit), limit}); err != nil {
		return err
	}
	if err := s.requeue(tx, r, requeueStep{s.requeueDraining, queue.Completed, limit}); err != nil {
		return err
	}
	for _, t := range r.tasks {
		if t.State != queue.Pending {
			t.Agent = "" // "": the next decision on the issue is ready
		}
		r.followUp.agents = append(r.followUp.agents, t.Agent)
	}
	return nil
}

// A requeued is the result of one transaction.
type requeued struct {
	tasks    []queue.Requeued
	followUp followUp
	more     bool           // a statement changed maxStale tasks
	ended    map[int64]bool // tasks whose claim or lease was ended early
	why      string         // for the log of these tasks
}

// A failStep fails the tasks that were tried limit times; 0: none.
type failStep struct {
	query, reason string
	limit         int
}

// fail runs a step, and logs it with each task. Without a limit it does nothing.
func (s *requeuing) fail(tx sqlstore.Tx, all *requeued, step failStep) error {
	if step.limit <= 0 {
		return nil
	}
	list, err := sqlstore.All(tx, step.query, func(r sqlstore.Row) (staleTask, error) {
		t := staleTask{Requeued: queue.Requeued{State: queue.Failed}}
		err := r.Scan(&t.seq, &t.ID, &t.Agent, &t.who, &t.text, &t.lane.name, &t.lane.followed)
		t.lane.agent = t.Agent
		return t, err
	}, tx.Now(), step.reason, int64(step.limit))
	if err != nil {
		return err
	}
	if err := s.logAll(tx, all, "given up", list); err != nil {
		return err
	}
	for _, t := range list {
		ended, err := s.lanes.ended(tx, t.lane)
		if err != nil {
			return err
		}
		all.followUp.add(ended)
	}
	return nil
}

// A staleTask is a task whose claim or lease expired, or that ran out of tries. text is for its
// log.
type staleTask struct {
	queue.Requeued

	seq       int64
	who, text string
	lane      lane // set if the task failed
}

// logAll logs an entry with each task, and adds the tasks to the result.
func (s *requeuing) logAll(tx sqlstore.Tx, all *requeued, what string, list []staleTask) error {
	for _, t := range list {
		if err := s.logbook.note(tx, t.seq, queue.Entry{What: what, Who: t.who, Text: t.text}); err != nil {
			return err
		}
		all.tasks = append(all.tasks, t.Requeued)
	}
	all.more = all.more || len(list) == maxStale
	return nil
}

// A requeueStep returns expired tasks to a state. It skips tasks that were tried limit times: these
// expired after the failSteps ran, so the next call fails them. 0: no limit.
type requeueStep struct {
	query string
	state queue.State
	limit int
}

// requeue runs a step, and logs it with each task.
func (s *requeuing) requeue(tx sqlstore.Tx, all *requeued, step requeueStep) error {
	what, format := "requeued", "claim %d ended without a decision"
	if step.state == queue.Completed {
		what, format = "lease ran out", "lease %d"
	}
	list, err := sqlstore.All(tx, step.query, func(r sqlstore.Row) (staleTask, error) {
		t := staleTask{Requeued: queue.Requeued{State: step.state}}
		var count int64
		err := r.Scan(&t.seq, &t.ID, &t.Agent, &t.who, &count)
		if t.text = fmt.Sprintf(format, count); all.ended[t.seq] {
			t.text += all.why
		}
		return t, err
	}, tx.Now(), int64(max(0, step.limit)))
	if err != nil {
		return err
	}
	return s.logAll(tx, all, what, list)
}

// extend makes all claims last at least d from now, and returns how many it extended.
func (s *requeuing) extend(ctx context.Context, e sqlstore.Engine, d time.Duration) (int, error) {
	n, err := sqlstore.Value(ctx, e.WriteOne, func(tx sqlstore.Tx) (int64, error) {
		return tx.Exec(s.extendClaims, tx.Now(), sqlstore.Millis(d))
	})
	return int(n), err
}

// holdings are the statements of RequeueLeases.
type holdings struct {
	held, expire string
	requeue      requeuing
}

func newHoldings(d sqlstore.Dialect) holdings {
	return holdings{
		held: d.Expand(`SELECT task_id, epoch, holder, owner, lease_until - {now} FROM task
WHERE lease_until IS NOT NULL AND state = 3 ORDER BY lease_until LIMIT $2`),
		expire:  d.Expand("UPDATE task SET lease_until = {now} WHERE " + d.Unlocked("lease_until > {now} AND state = 3 AND holder = $2") + " RETURNING seq"),
		requeue: newRequeuing(d),
	}
}

// A leaseRow is a lease as it is stored.
type leaseRow struct {
	queue.ActiveLease

	holder string
}

// all returns the leases, sorted by the time when they expire.
func (s *holdings) all(ctx context.Context, e sqlstore.Engine) ([]leaseRow, error) {
	return sqlstore.Value(ctx, e.ReadOne, func(tx sqlstore.Tx) ([]leaseRow, error) {
		return sqlstore.All(tx, s.held, func(r sqlstore.Row) (l leaseRow, err error) {
			var left int64
			err = r.Scan(&l.ID, &l.Epoch, &l.holder, &l.Owner, &left)
			l.Left = time.Duration(left) * time.Millisecond
			return l, err
		}, tx.Now(), int64(queue.MaxLeases))
	})
}

// A leaseState is the result of look.
type leaseState struct {
	expired bool
	ended   []string // holders that have ended
	others  []queue.ActiveLease
}

// look reads the leases, and finds out which of the processes that hold them have ended.
func (s *holdings) look(ctx context.Context, e sqlstore.Engine, h Holders) (state leaseState, err error) {
	rows, err := s.all(ctx, e)
	if err != nil {
		return leaseState{}, err
	}
	own, _ := h.Own()
	ids := map[string]bool{}
	for _, l := range rows {
		if l.holder != "" && l.holder != own && !strings.HasPrefix(l.holder, unproven) {
			ids[l.holder] = true
		}
	}
	// After an error the leases are left to expire.
	if state.ended, err = h.Ended(ctx, slices.Sorted(maps.Keys(ids))); err != nil {
		state.ended = nil
	}
	for _, l := range rows {
		switch {
		case l.Left <= 0:
			state.expired = true
		case l.holder != own && l.holder != unproven+own && !slices.Contains(state.ended, l.holder):
			state.others = append(state.others, l.ActiveLease)
		}
	}
	return state, err
}

// some ends the leases of ended processes, but at most as many as one transaction may change.
func (s *holdings) some(ctx context.Context, e sqlstore.Engine, ended []string, limit int) (requeued, error) {
	return sqlstore.Value(ctx, e.Write, func(tx sqlstore.Tx) (r requeued, err error) {
		r.ended, r.why = map[int64]bool{}, ": its server has ended"
		for _, id := range ended {
			list, err := sqlstore.All(tx, s.expire, sqlstore.Column[int64], tx.Now(), id)
			if err != nil {
				return requeued{}, err
			}
			maps.Copy(r.ended, setOf(list))
		}
		err = s.requeue.leases(tx, &r, limit)
		return r, err
	})
}
