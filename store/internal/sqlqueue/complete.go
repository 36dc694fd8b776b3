package sqlqueue

import (
	"context"
	"errors"

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store/internal/batch"
	"github.com/org/foreman-action/store/internal/sqlstore"
)

// completing are the statements of Complete.
type completing struct {
	complete, result string // for one decision
	tasks            tasks
	logbook          logbook
	completeAll      forms // for a list of decisions
	calls            *batch.Kind[completion]
}

// A completion is a decision on a task.
type completion struct {
	ref      queue.Ref
	decision []byte
}

func newCompleting(d sqlstore.Dialect) *completing {
	const set = "UPDATE task SET state = 2, completed_at = {now}, lease_until = NULL, run_at = 0, reason = ''"
	const kept = " ON CONFLICT (seq) DO UPDATE SET decision = excluded.decision"
	c := &completing{tasks: newTasks(d), logbook: newLogbook(d)}
	c.calls = &batch.Kind[completion]{Order: 2, Join: c.keepAll, Each: c.keep, Size: func(one completion) int { return len(one.decision) }}
	if d.Batches {
		c.completeAll = newForms(d, `
WITH want AS (
  SELECT w.id, w.claim, w.claimant, w.decision FROM unnest($2::text[], $3::bigint[], $4::text[], $5::bytea[]) AS w(id, claim, claimant, decision)
), pick AS MATERIALIZED (
  SELECT t.seq, w.decision FROM want w JOIN task t ON t.task_id = w.id
  WHERE (t.state IN (0, 6, 12, 18) AND t.attempt > t.asked_attempt AND (w.claim = 0 OR w.claim > t.asked_attempt) OR t.state = 1 AND (w.claim = 0 OR t.attempt = w.claim))
    AND (w.claimant = '' OR t.claimed_by = w.claimant){skip}
), t AS (
  `+set+` FROM pick WHERE task.seq = pick.seq RETURNING task.seq, task_id, decision
), r AS (
  INSERT INTO task_result (seq, decision) SELECT seq, decision FROM t`+kept+`
)
SELECT task_id FROM t`)
		return c
	}
	c.complete = d.Expand(set + `
WHERE task_id = $2 AND (state IN (0, 6, 12, 18) AND attempt > asked_attempt AND ($3 = 0 OR $3 > asked_attempt) OR state = 1 AND ($3 = 0 OR attempt = $3)) AND ($4 = '' OR claimed_by = $4)
RETURNING seq`)
	c.result = "INSERT INTO task_result (seq, decision) VALUES ($1, $2)" + kept
	return c
}

// noSuchTask is the reason for rejecting a decision on a missing task.
const noSuchTask = "there is no such task"

// decide stores a decision, or returns the reason why it is rejected.
func (c *completing) decide(ctx context.Context, e batch.Engine, ref queue.Ref, decision []byte) (queue.Receipt, error) {
	if !queue.IsText(ref.ID) {
		return queue.Receipt{Reason: noSuchTask}, nil
	}
	ref.By = queue.CleanText(ref.By)
	accepted, err := batch.Do(ctx, e, c.calls, completion{ref, decision})
	if err != nil || accepted {
		return queue.Receipt{Accepted: err == nil}, err
	}
	return c.refuse(ctx, e, ref, decision)
}

// keep stores a decision, if the task is waiting for it.
func (c *completing) keep(tx sqlstore.Tx, one completion) (accepted bool, err error) {
	var seq int64
	accepted, err = sqlstore.One(tx, c.complete, sqlstore.Into(&seq), tx.Now(), one.ref.ID, attemptOf(one.ref), one.ref.By)
	if err == nil && accepted {
		_, err = tx.Exec(c.result, seq, one.decision)
	}
	return accepted, err
}

// keepAll stores decisions on the tasks that wait for a decision.
func (c *completing) keepAll(now any, list []completion, waits bool) batch.Joined {
	r := batch.NewDistinct(list, func(one completion) string { return one.ref.ID })
	var ids, claimants []string
	var claims []int64
	var decisions [][]byte
	for _, one := range r.First {
		ids, claims, claimants = append(ids, one.ref.ID), append(claims, attemptOf(one.ref)), append(claimants, one.ref.By)
		decisions = append(decisions, one.decision)
	}
	args := []any{now, ids, claims, claimants, decisions}
	return batch.Joined{Statement: sqlstore.Statement{Query: c.completeAll.of(waits), Args: args, Each: r.ServeRow}, Served: r.Served}
}

// refuse finds the reason why a decision is rejected, and logs it with the task.
func (c *completing) refuse(ctx context.Context, e sqlstore.Engine, ref queue.Ref, decision []byte) (receipt queue.Receipt, err error) {
	var why error
	err = e.Write(ctx, func(tx sqlstore.Tx) error {
		receipt, why = queue.Receipt{}, nil
		t, err := c.tasks.take(tx, ref.ID)
		if errors.Is(err, queue.ErrNotFound) {
			receipt.Reason = noSuchTask
			return nil
		}
		if err != nil {
			return err
		}
		switch {
		case ref.By != "" && ref.By != t.claimedBy:
			receipt.Reason, why = "another agent claimed it", queue.ErrNotYours
		case t.state == stateFailed:
			receipt.Reason = "the task failed before"
		case t.state == stateClaimed:
			receipt.Reason, why = "the task was given to another attempt", queue.ErrLost
		case stateOf(t.state) == queue.Pending:
			receipt.Reason = "the task was asked again since"
			if ref.Attempt != 0 {
				why = queue.ErrLost
			}
		default:
			receipt.Reason = "the task is decided on already"
		}
		text := receipt.Reason + ": " + string(decision[:min(len(decision), 2*queue.MaxText)])
		return c.logbook.note(tx, t.seq, queue.Entry{What: "decision not accepted", Who: ref.By, Text: text})
	})
	if err == nil {
		err = why
	}
	return receipt, err
}
