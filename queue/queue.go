// Package queue is a queue with at-least-once delivery: it keeps tasks between an event and
// the decision on it, and decisions until they are carried out. Agents, harnesses and
// machines may stop at any moment.
//
// A task passes these states:
//
//	            ClaimNext             Complete              MarkDone
//	pending ───────────────▶ claimed ──────────▶ completed ──────────▶ done
//	 ▲ │ ▲                    │ │                 ▲  ▲  │
//	 │ │ └── RequeueStale, ───┘ │                 │  │  │ Fail, Cancel,
//	 │ │     ReleaseClaim       │                 │  │  │ RequeueStale
//	 │ └──────────── Complete ──┼─────────────────┘  │  │
//	 │                          │                    │  ▼
//	 └── Retry, without ────────┼──── failed ────────┘
//	     a decision             │      ▲    Retry, with a decision
//	                            └──────┘ RequeueStale, FailClaim, Cancel (pending ones too)
//
// AskAgain makes a failed or done task pending again, without its decision.
//
// A pending or completed task may be held back until a time: it is handed out from then on,
// without a call of RequeueStale. A task that is not held back does not depend on a clock.
// A pending task may also be held back behind other tasks of its issue, until these have
// ended: see Task.Coalesce.
//
// A claim or a lease that expired still belongs to its holder, until RequeueStale ends it. A
// completed task that is being carried out is under a lease (LeaseDecisions, Renew), and is
// ready again when the lease expires. One task of an issue is carried out at a time.
//
// Two fencing tokens stop holders that lost their claim or lease. The attempt counts the claims of
// a task: a claimant that names its attempt gets an error once it lost the task. The epoch counts
// the leases of a decision: only the last lease can finish it. Neither ever decreases, not even by
// Retry. The first result of a task wins; later ones are kept in the task's log, and never carried
// out. After AskAgain a task gets another decision: only claims made after that call can complete
// it, and Decision.Asks distinguishes the decisions.
package queue

import (
	"context"
	"errors"
	"time"
)

// A State is the state of a task.
type State string

// The states.
const (
	Pending   State = "pending"   // waits for an agent
	Claimed   State = "claimed"   // an agent works on it
	Completed State = "completed" // decided on; ready to be carried out, or being carried out
	Done      State = "done"      // carried out
	Failed    State = "failed"    // given up, with a reason; see Retry
)

// States returns the states in the order of the diagram.
func States() []State { return []State{Pending, Claimed, Completed, Done, Failed} }

// Errors that callers branch on; test with errors.Is.
var (
	// ErrEmpty means that no task can be claimed.
	ErrEmpty = errors.New("there is no task")
	// ErrNotFound means that there is no task with that id.
	ErrNotFound = errors.New("there is no such task")
	// ErrLost means that the caller no longer has the claim or the lease.
	ErrLost = errors.New("another claimant has it, or it has ended")
	// ErrNotYours means that the task was claimed under another name.
	ErrNotYours = errors.New("another agent claimed it")
	// ErrState means that the state of the task does not allow the call.
	ErrState = errors.New("its state does not allow that")
	// ErrNewer means that a newer version of this program wrote the database.
	ErrNewer = errors.New("the database is of a newer version of this program")
	// ErrUnavailable means that the store cannot be written now: it is locked, full or out of
	// reach. The call had no effect, unless only its answer was lost. The caller may try
	// again: an effect of the first call is detected, and not repeated.
	ErrUnavailable = errors.New("the queue cannot be written now")
)

// A Queue stores tasks. Implementations are safe for concurrent use, also by several
// processes, and pass the suite of package conformance. When a method that changes something
// returns nil, the change is durable. Besides the errors named, each method may return the
// context's, ErrUnavailable, or one of the medium.
//
// Agents are compared byte for byte, issues by repository (ignoring case) and number. Times
// are those of the store: of the process for a file, of the server for a database server.
type Queue interface {
	// Enqueue adds a task. It adds none, as Enqueued.Outcome reports, if there is one with that
	// id or Task.Dedup already, or one that it can be joined to (Task.Coalesce). An error for
	// a task that Task.Check refuses.
	Enqueue(ctx context.Context, t Task) (Enqueued, error)

	// ClaimNext hands out a pending task of an agent: the highest priority first, then the
	// oldest. ErrEmpty when there is none; a task that is added during concurrent claims may
	// be missed until the next call. A task whose message is not Decodable fails, and the
	// next one is handed out.
	ClaimNext(ctx context.Context, agent string, o ClaimOptions) (Claim, error)
	// Heartbeat extends the claim by lease from now on. ErrNotFound, ErrNotYours; ErrLost
	// when the task is not claimed, or by another attempt if ref names one.
	Heartbeat(ctx context.Context, ref Ref, lease time.Duration) error
	// ReleaseClaim ends a claim without a decision: the task is pending again after wait, and the
	// claim does not count towards Limits.Claims. ErrNotFound, ErrNotYours and ErrLost as
	// Heartbeat.
	ReleaseClaim(ctx context.Context, ref Ref, wait time.Duration) error
	// FailClaim ends a claim, and the task with it: it fails for the reason. ErrNotFound,
	// ErrNotYours and ErrLost as Heartbeat.
	FailClaim(ctx context.Context, ref Ref, reason string) error
	// Complete stores the decision on a pending or claimed task. If ref names an attempt and
	// another one has the task, the error is ErrLost. The task's log records a rejected decision,
	// with the beginning of its text. ErrNotYours, in any state, when ref names a claimant other
	// than the last one. A task that is unknown, decided on already or failed is not an error: the
	// receipt contains the reason. An empty decision is an error, and so is one beyond MaxMessage.
	Complete(ctx context.Context, ref Ref, decision []byte) (Receipt, error)

	// LeaseDecisions leases decisions to be carried out, those of the oldest tasks first: at most
	// o.Limit, one of each issue, and none of an issue with a leased one. A decision that is held
	// back does not block others. An empty list is not an error. If the store fails after some
	// were leased, these are returned without an error.
	LeaseDecisions(ctx context.Context, o DrainOptions) ([]Decision, error)
	// Renew extends a lease to d from now, and returns its end. ErrLost, here as in all methods
	// with a Lease: the task is unknown, or not being carried out, or under a later lease.
	Renew(ctx context.Context, l Lease, d time.Duration) (time.Time, error)
	// MarkDone ends a task: its decision was carried out, with this report. ErrLost.
	MarkDone(ctx context.Context, l Lease, report []byte) error
	// Fail ends a task: it cannot be carried out, for the reason. ErrLost.
	Fail(ctx context.Context, l Lease, reason string, report []byte) error
	// ReleaseLease ends a lease without a result; the decision is ready again after p.Wait.
	// ErrLost.
	ReleaseLease(ctx context.Context, l Lease, p Postponement) error

	// RequeueStale ends expired claims and leases: the tasks are pending, or ready to be
	// carried out, again. Those that were handed out as often as the limits allow fail
	// instead, also if their last claim or lease was released. Claims and tries count from
	// the last Retry on. Each change is atomic. It returns the changed tasks, also with an
	// error, because many tasks are changed in several transactions.
	RequeueStale(ctx context.Context, l Limits) ([]Requeued, error)
	// RequeueLeases ends the leases that expired, as RequeueStale does, and those of processes
	// that have certainly ended. drains is as Limits.Drains. It is cheap when there are none.
	RequeueLeases(ctx context.Context, drains int) (LeaseCheck, error)
	// ExtendClaims extends every claim to at least d from now, because agents could not send
	// heartbeats to a harness that was down. It returns the number of extended claims.
	ExtendClaims(ctx context.Context, d time.Duration) (int, error)

	// Stats counts the tasks.
	Stats(ctx context.Context) (Stats, error)
	// Backlog returns the agents, sorted, that have pending tasks which are not held back,
	// each with the ids of the n tasks that are claimed first. The cost does not depend on the
	// number of tasks.
	Backlog(ctx context.Context, n int) ([]Backlog, error)
	// List returns the tasks that match, the newest first.
	List(ctx context.Context, f Filter) ([]Info, error)
	// Inspect returns everything stored about a task. ErrNotFound.
	Inspect(ctx context.Context, id string) (Details, error)
	// Retry makes a failed task ready again, and resets its counts towards the limits of
	// RequeueStale: it becomes completed if it has a decision or no agent, else pending. With
	// Task.Coalesce, a pending one is held back behind others of its issue, as a new task is. A
	// task that is held back, also behind others, becomes ready at once. It returns the new state.
	// The task's log records by. Errors: ErrNotFound; ErrState in other states.
	Retry(ctx context.Context, id, by string) (State, error)
	// AskAgain forgets the decision on a done or failed task and makes the task pending, so that
	// the agent decides anew; a task without an agent becomes completed. The rest is as with Retry.
	// The task's log records the earlier result, by and the reason, which may be empty. It returns
	// the new state. ErrNotFound; ErrState in other states.
	AskAgain(ctx context.Context, id, by, reason string) (State, error)
	// Cancel fails a task that has not ended, unless its decision is being carried out. A cancelled
	// task that was never claimed does not count towards Task.HourlyLimit, but the tasks that the
	// limit delays do not start earlier. The task's log records by. Errors: ErrNotFound, ErrState.
	Cancel(ctx context.Context, id, by string) error
	// Purge deletes done and failed tasks that ended before a time, with their logs, and
	// returns their number: call it until it returns less than limit. Their ids and Task.Dedup
	// can be used again.
	Purge(ctx context.Context, before time.Time, limit int) (int, error)

	// Watch sends a change when tasks may have become ready, by this handle and, where the
	// store can, by other processes. Changes are hints and may be lost, so callers also poll.
	// There is none when a task becomes due. stop closes the channel; a second call does
	// nothing.
	Watch() (changes <-chan Change, stop func())
}
