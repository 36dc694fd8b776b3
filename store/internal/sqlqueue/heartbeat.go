package sqlqueue

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store/internal/sqlstore"
)

// heartbeating are the statements about claims: Heartbeat extends one, FailClaim and ReleaseClaim
// end one without a decision.
type heartbeating struct {
	heartbeat, releaseClaim, failClaim string
	tasks                              tasks
	logbook                            logbook
	lanes                              lanes
}

func newHeartbeating(d sqlstore.Dialect) heartbeating {
	const claimed = "\nWHERE task_id = $2 AND state = 1 AND ($3 = 0 OR attempt = $3) AND ($4 = '' OR claimed_by = $4)"
	return heartbeating{
		heartbeat: d.Expand("UPDATE task SET lease_until = {now} + $5" + claimed),
		releaseClaim: d.Expand(`UPDATE task SET state = CAST($5 AS BIGINT), lease_until = NULL, claims = CASE WHEN claims > 0 THEN claims - 1 ELSE 0 END,
  run_at = CASE WHEN CAST($5 AS BIGINT) < 6 THEN 0 ELSE {now} + $6 END` + claimed + " RETURNING seq, agent, attempt, claimed_by"),
		failClaim: d.Expand(failing + "reason = $5" + claimed + " RETURNING seq, claimed_by, reason, agent, lane, followed"),
		tasks:     newTasks(d),
		logbook:   newLogbook(d),
		lanes:     newLanes(d),
	}
}

// attemptOf returns the stored form of a claim's attempt. No stored claim has math.MaxInt32.
func attemptOf(ref queue.Ref) int64 { return int64(min(ref.Attempt, math.MaxInt32)) }

// extend renews a claim: it expires after lease from now.
func (h *heartbeating) extend(ctx context.Context, e sqlstore.Engine, ref queue.Ref, lease time.Duration) error {
	ref.By = queue.CleanText(ref.By)
	n, err := sqlstore.Value(ctx, e.WriteOne, func(tx sqlstore.Tx) (int64, error) {
		return tx.Exec(h.heartbeat, tx.Now(), ref.ID, attemptOf(ref), ref.By, sqlstore.Millis(lease))
	})
	if err == nil && n == 0 {
		err = h.whyNot(ctx, e, ref)
	}
	return err
}

// whyNot returns the reason why the caller does not have a claim.
func (h *heartbeating) whyNot(ctx context.Context, e sqlstore.Engine, ref queue.Ref) error {
	return e.ReadOne(ctx, func(tx sqlstore.Tx) error {
		t, err := h.tasks.look(tx, ref.ID)
		if err == nil && ref.By != "" && ref.By != t.claimedBy {
			err = queue.ErrNotYours
		} else if err == nil {
			err = queue.ErrLost
		}
		return err
	})
}

// end fails the task of a claim.
func (h *heartbeating) end(ctx context.Context, e sqlstore.Engine, ref queue.Ref, reason string) (o followUp, err error) {
	ref.By = queue.CleanText(ref.By)
	var found bool
	err = e.Write(ctx, func(tx sqlstore.Tx) (err error) {
		var seq int64
		var owner, why string
		var at lane
		found, err = sqlstore.One(tx, h.failClaim, sqlstore.Into(&seq, &owner, &why, &at.agent, &at.name, &at.followed), tx.Now(), ref.ID, attemptOf(ref), ref.By, queue.CleanText(reason))
		if err != nil || !found {
			return err
		}
		if o, err = h.lanes.ended(tx, at); err != nil {
			return err
		}
		return h.logbook.note(tx, seq, queue.Entry{What: "given up", Who: owner, Text: why})
	})
	if err == nil && !found {
		err = h.whyNot(ctx, e, ref)
	}
	return o, err
}

// free releases a claim. The task is pending again after wait.
func (h *heartbeating) free(ctx context.Context, e sqlstore.Engine, ref queue.Ref, wait time.Duration) (o followUp, err error) {
	ref.By = queue.CleanText(ref.By)
	state := int64(statePending)
	if wait > 0 {
		state = stateDelayed
	}
	var found bool
	var agent string
	err = e.Write(ctx, func(tx sqlstore.Tx) (err error) {
		var seq int64
		var attempt int
		var owner string
		found, err = sqlstore.One(tx, h.releaseClaim, sqlstore.Into(&seq, &agent, &attempt, &owner),
			tx.Now(), ref.ID, attemptOf(ref), ref.By, state, max(0, sqlstore.Millis(wait)))
		if err != nil || !found {
			return err
		}
		return h.logbook.note(tx, seq, queue.Entry{What: "released", Who: owner, Text: fmt.Sprintf("claim %d", attempt)})
	})
	if err == nil && !found {
		err = h.whyNot(ctx, e, ref)
	}
	if err == nil && wait <= 0 {
		o.agents = []string{agent}
	}
	return o, err
}
