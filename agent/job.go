package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/org/foreman-action/internal/wait"
	"github.com/org/foreman-action/protocol"
)

// A job is a task that is worked on.
type job struct {
	mu    sync.Mutex
	task  protocol.TaskMessage
	until time.Time // when the claim expires, as far as the agent knows
}

// claimed returns the task with its newest claim.
func (j *job) claimed() *protocol.TaskMessage {
	j.mu.Lock()
	defer j.mu.Unlock()
	task := j.task
	return &task
}

// alive records that the claim was valid at a time.
func (j *job) alive(at time.Time) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.until = at.Add(lease(j.task))
}

// left returns how long the claim is still valid.
func (j *job) left(now time.Time) time.Duration {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.until.Sub(now)
}

// lease returns how long a claim of the task lasts.
func lease(task protocol.TaskMessage) time.Duration {
	if task.Claim == nil || task.Claim.Lease <= 0 {
		return publishedLease
	}
	return time.Duration(min(task.Claim.Lease, maxLease)) * time.Second
}

// maxLease is about a year in seconds. A much longer lease would overflow a time.
const maxLease = 366 * 24 * 60 * 60

// beat returns the time between two heartbeats: that of published agents, but at most a third of
// the lease, so that two heartbeats may get lost.
func beat(task protocol.TaskMessage) time.Duration { return min(lease(task)/3, publishedBeat) }

// adopt gives a new claim to the job that works on its task already, and returns true. This
// happens when heartbeats got lost, so that the earlier claim expired and the same agent claimed
// the task again. If there is no such job, adopt adds one and returns false.
func (w *Worker) adopt(task *protocol.TaskMessage) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	j := w.jobs[task.TaskID]
	if j == nil {
		j = &job{task: *task}
		j.alive(w.o.Now())
		w.jobs[task.TaskID] = j
		return false
	}
	j.mu.Lock()
	j.task.Claim = task.Claim
	j.mu.Unlock()
	j.alive(w.o.Now())
	return true
}

// do works on a claimed task that has a job.
func (w *Worker) do(ctx context.Context, task *protocol.TaskMessage) {
	w.mu.Lock()
	j := w.jobs[task.TaskID]
	w.mu.Unlock()
	log := w.o.Log.With("task_id", task.TaskID)
	defer func() {
		w.mu.Lock()
		delete(w.jobs, task.TaskID)
		w.mu.Unlock()
	}()
	ctx, cancel := context.WithCancelCause(ctx)
	var beats sync.WaitGroup
	beats.Go(func() { w.heartbeats(ctx, j, cancel) })
	defer beats.Wait()
	defer cancel(nil)

	d, err := safely(ctx, w.o.Decide, *task)
	if err == nil && ctx.Err() == nil {
		err = w.complete(ctx, j, d)
	}
	switch cause := context.Cause(ctx); {
	case errors.Is(err, ErrLost), errors.Is(cause, ErrLost):
		log.Warn("task lost; dropping its decision", "error", cmp.Or(err, cause))
	case err != nil:
		log.Error("task not decided; it is requeued when its claim expires", "error", err)
	case cause != nil:
		log.Warn("task abandoned; it is requeued when its claim expires")
	default:
		log.Info("decided", "decision", string(d.Decision), "actions", len(d.Actions))
	}
}

// safely calls decide, and returns a panic as an error with its stack.
func safely(ctx context.Context, decide DecideFunc, task protocol.TaskMessage) (d protocol.DecisionMessage, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("decide: panic: %v\n%s", p, debug.Stack())
		}
	}()
	return decide(ctx, task)
}

// heartbeats renews the claim until ctx ends, and calls cancel when the claim is lost. It retries
// a failed heartbeat sooner, because the claim may expire meanwhile.
func (w *Worker) heartbeats(ctx context.Context, j *job, cancel context.CancelCauseFunc) {
	pause, failures := beat(*j.claimed()), 0
	for wait.For(ctx, pause) == nil {
		task := j.claimed()
		sent := w.o.Now()
		err := w.o.Client.Heartbeat(ctx, task)
		pause = beat(*task)
		switch {
		case err == nil:
			j.alive(sent)
			failures = 0
		case errors.Is(err, ErrLost) && sameClaim(task, j.claimed()):
			cancel(err)
			return
		case ctx.Err() == nil:
			failures++
			pause = min(pause, w.pauseAfter(failures, err))
			if logged(failures) {
				w.o.Log.Warn("sending a heartbeat failed; retrying", "task_id", task.TaskID, "error", err, "again_in", pause, "failures", failures)
			}
		}
	}
}

// sameClaim reports whether a and b have the same claim, as far as they have claims.
func sameClaim(a, b *protocol.TaskMessage) bool {
	return a.Claim == nil || b.Claim == nil || a.Claim.Attempt == b.Claim.Attempt
}

// lateDecision is how long after the end of the claim a decision is still sent. A harness that was out
// of reach extends claims, and one that counts them refuses the decision if another agent has the task.
const lateDecision = time.Hour

// complete sends the decision, and retries as long as the claim may be valid.
func (w *Worker) complete(ctx context.Context, j *job, d protocol.DecisionMessage) error {
	for failures := 1; ; failures++ {
		task := j.claimed()
		err := w.o.Client.CompleteTask(ctx, task, d)
		if errors.Is(err, ErrLost) && !sameClaim(task, j.claimed()) {
			continue // this worker has a newer claim
		}
		e, failed := errors.AsType[*ClientError](err)
		pause, left := w.pauseAfter(failures, err), j.left(w.o.Now())
		if task.Claim != nil && task.Claim.Attempt > 0 {
			left += lateDecision
		}
		if !failed || !e.Retryable() || left < pause {
			return err
		}
		if logged(failures) {
			w.o.Log.Warn("sending a decision failed; retrying", "task_id", task.TaskID, "error", err, "again_in", pause, "failures", failures)
		}
		if wait.For(ctx, pause) != nil {
			return err
		}
	}
}
