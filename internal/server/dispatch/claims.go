package dispatch

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/org/foreman-action/harness/observe"
	"github.com/org/foreman-action/internal/server/supervisor"
	"github.com/org/foreman-action/internal/wait"
	"github.com/org/foreman-action/queue"
)

// claims makes and ends the server's claims for synchronous agents. A claim that cannot be ended
// expires by itself.
type claims struct {
	queue   Queue
	owner   string
	timeout time.Duration
	now     func() time.Time
	observe observe.Func
	log     *slog.Logger
}

// next claims a task of an agent: the one with the id first, or the next one if first is empty or
// cannot be claimed. Its error is queue.ErrEmpty, or was logged.
func (c claims) next(ctx context.Context, agent, first string) (claim queue.Claim, err error) {
	if ctx.Err() != nil {
		return claim, ctx.Err()
	}
	// If the call were cancelled, it would be unknown whether the task was claimed.
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), supervisor.CallTimeout)
	defer cancel()
	o := queue.ClaimOptions{By: c.owner, Lease: c.timeout, Task: first}
	claim, err = c.queue.ClaimNext(bounded, agent, o)
	if first != "" && errors.Is(err, queue.ErrEmpty) { // another server has claimed it, or it has ended
		o.Task = ""
		claim, err = c.queue.ClaimNext(bounded, agent, o)
	}
	if err != nil && !errors.Is(err, queue.ErrEmpty) {
		c.log.WarnContext(ctx, "claiming a task for an agent failed", "agent", agent, "error", err)
	}
	return claim, err
}

func (c claims) ref(claim queue.Claim) queue.Ref {
	return queue.Ref{ID: claim.ID, Attempt: claim.Attempt, By: c.owner}
}

// renew sends heartbeats until ctx ends or the claim is lost. In the latter case it calls lost.
func (c claims) renew(ctx context.Context, claim queue.Claim, lost func(error)) {
	for wait.For(ctx, c.timeout/3) == nil {
		err := c.queue.Heartbeat(ctx, c.ref(claim), c.timeout)
		if errors.Is(err, queue.ErrLost) || errors.Is(err, queue.ErrNotFound) || errors.Is(err, queue.ErrNotYours) {
			lost(err)
			return
		}
	}
}

// lateDecision is how long a decision is kept while the database does not answer. Claims are extended
// after an outage, and Complete refuses the decision if another server has the task.
const lateDecision = time.Hour

// complete records the decision of the agent, which may have paid for it.
func (c claims) complete(ctx context.Context, claim queue.Claim, decision []byte) {
	commit := func() error {
		return supervisor.Commit(ctx, func(ctx context.Context) error {
			_, err := c.queue.Complete(ctx, c.ref(claim), decision)
			return err
		})
	}
	begin, err := c.now(), commit()
	for errors.Is(err, queue.ErrUnavailable) && ctx.Err() == nil && c.now().Sub(begin) < lateDecision {
		err = commit()
	}
	if err != nil {
		c.log.WarnContext(ctx, "storing an agent's decision failed; the agent is asked again", "task", claim.ID, "error", err)
	}
}

// release makes the task pending again after some time. The claim does not count as an
// attempt.
func (c claims) release(ctx context.Context, claim queue.Claim, after time.Duration) {
	err := supervisor.Commit(ctx, func(ctx context.Context) error { return c.queue.ReleaseClaim(ctx, c.ref(claim), after) })
	if err != nil {
		c.log.WarnContext(ctx, "releasing a task failed; its claim expires by itself", "task", claim.ID, "error", err)
	}
}

// expire makes the claim expire after a delay, and then calls expired. The claim counts as an
// attempt, even over restarts.
func (c claims) expire(ctx context.Context, claim queue.Claim, after time.Duration, expired func()) {
	err := supervisor.Commit(ctx, func(ctx context.Context) error { return c.queue.Heartbeat(ctx, c.ref(claim), after) })
	if err == nil {
		time.AfterFunc(after, expired)
	}
}

// fail fails the task.
func (c claims) fail(ctx context.Context, agent string, claim queue.Claim, reason string) {
	err := supervisor.Commit(ctx, func(ctx context.Context) error { return c.queue.FailClaim(ctx, c.ref(claim), reason) })
	if err != nil {
		c.log.WarnContext(ctx, "recording the failure of a task failed; its claim expires by itself", "task", claim.ID, "error", err)
		return
	}
	c.log.WarnContext(ctx, "task failed", "task", claim.ID, "agent", agent, "reason", reason)
	c.observe.Report(observe.Observation{Event: observe.Requeued, Status: string(queue.Failed), Agent: agent, N: 1})
}
