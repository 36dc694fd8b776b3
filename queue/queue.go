// Package queue is a queue with at-least-once delivery. It keeps tasks from an event until the
// decision, and decisions until they are carried out. Agents, harnesses and machines may stop at
// any moment.
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
// A pending or completed task may be held back until a time. From that time on it can be handed
// out, without a call of RequeueStale. Whether any other task is ready does not depend on a clock.
// A pending task may also be held back behind other tasks of its issue, until these tasks have
// ended: see Task.Coalesce.
//
// An expired claim or lease belongs to its owner until RequeueStale ends it. While a decision is
// carried out, its task is under a lease (LeaseDecisions, Renew). Once RequeueStale has ended an
// expired lease, the decision can be leased again. At most one decision per issue is carried out at
// a time.
//
// Two fencing tokens stop a process that lost its claim or lease. The attempt counts the claims of
// a task: a call with an old attempt fails. The epoch counts the leases of a decision: only the
// last lease can finish it. Neither ever decreases, not even by Retry. The first result of a task
// is used; later results are recorded in the task's log, and never carried out. After AskAgain a
// task gets another decision: only claims made after that call can complete it, and Decision.Asks
// distinguishes the decisions.
//
// [New] returns a queue in memory, for one process. Packages store/sqlite and store/postgres have
// queues that last and that several processes share.
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
	Failed    State = "failed"    // failed for a reason; see Retry
)

// States returns the states in the order of the diagram.
func States() []State { return []State{Pending, Claimed, Completed, Done, Failed} }

// Errors that callers handle separately; test with errors.Is.
var (
	// ErrEmpty means that no task can be claimed.
	ErrEmpty = errors.New("no task can be claimed")
	// ErrNotFound means that there is no task with that id.
	ErrNotFound = errors.New("there is no such task")
	// ErrLost means that the caller no longer has the claim or the lease.
	ErrLost = errors.New("the claim or lease is lost")
	// ErrNotYours means that the task was claimed under another name.
	ErrNotYours = errors.New("another agent claimed it")
	// ErrState means that the state of the task does not allow the call.
	ErrState = errors.New("the state of the task does not allow that")
	// ErrChanged means that the task has changed since the caller saw it.
	ErrChanged = errors.New("the task has changed meanwhile")
	// ErrOlder means that this version of this program has not upgraded the database.
	ErrOlder = errors.New("the database is not upgraded to this version of the program")
	// ErrNewer means that a newer version of this program wrote the database.
	ErrNewer = errors.New("the database was written by a newer version of this program")
	// ErrUnavailable means that the store cannot be written now: it is locked, full or out of
	// reach. The call had no effect, or its effect was not confirmed. The caller may retry: an
	// effect of the first call is detected, and not repeated.
	ErrUnavailable = errors.New("the queue cannot be written now")
)

// A Queue stores tasks. Implementations are safe for concurrent use, also by several processes, and
// pass the tests of package queuetest. When a method that changes something returns nil, the
// change is durable. In addition to the errors in its comment, each method may return the error of
// the context, ErrUnavailable, or an error of the storage.
//
// Agents are equal if their bytes are equal. Issues are equal if their repository (ignoring case)
// and number are equal. Times are those of the store: the process's clock for a file, the server's
// clock for a database server.
type Queue interface {
	// Enqueue adds a task, unless a task with that id or Task.Dedup exists, or the new task can be
	// joined to an existing one (Task.Coalesce). Enqueued.Outcome reports which. It fails if
	// Task.Check returns an error.
	Enqueue(ctx context.Context, t Task) (Enqueued, error)

	// Duplicate returns the task whose Task.Dedup is the key, with the outcome Duplicate, so that a
	// caller need not prepare a task that Enqueue would refuse. Errors: ErrNotFound.
	Duplicate(ctx context.Context, dedup string) (Enqueued, error)

	// ClaimNext hands out the pending task of an agent with the highest priority; among equal ones,
	// the oldest. ErrEmpty: there is none; a task added during concurrent claims may be missed
	// until the next call. A task whose message is not Decodable fails, and the next one is handed
	// out.
	//
	// If o.Task is set, only the task with this id can be handed out, whatever is before it.
	// ErrEmpty: there is no such task, it is not pending, it is held back, or it belongs to another
	// agent.
	ClaimNext(ctx context.Context, agent string, o ClaimOptions) (Claim, error)
	// Heartbeat extends the claim to lease from now. Errors: ErrNotFound; ErrNotYours; ErrLost if
	// the task is not claimed, or if ref names another attempt than the current one.
	Heartbeat(ctx context.Context, ref Ref, lease time.Duration) error
	// ReleaseClaim ends a claim without a decision. The task is pending again after wait, and the
	// claim does not count towards Limits.Claims. Errors: as in Heartbeat.
	ReleaseClaim(ctx context.Context, ref Ref, wait time.Duration) error
	// FailClaim ends a claim and fails its task with the reason. Errors: as in Heartbeat.
	FailClaim(ctx context.Context, ref Ref, reason string) error
	// Complete stores the decision on a pending or claimed task. A rejected decision is recorded in
	// the task's log, with the beginning of its text. Errors: ErrLost if ref names an attempt and
	// another one has the task; ErrNotYours, in any state, if ref names another claimant than the
	// last one; and an error for a decision that is empty or larger than MaxMessage. If the task is
	// unknown, decided already or failed, there is no error, and the receipt contains the reason.
	Complete(ctx context.Context, ref Ref, decision []byte) (Receipt, error)

	// LeaseDecisions leases decisions so that the caller can carry them out, those of the oldest
	// tasks first. It leases at most o.Limit decisions, at most one per issue, and none of an issue
	// with a leased one. A decision that is held back does not block others. An empty list is not
	// an error. If the store fails after some were leased, these are returned without an error.
	LeaseDecisions(ctx context.Context, o DrainOptions) ([]Decision, error)
	// Renew extends a lease to d from now, and returns its end. Like all methods with a Lease, it
	// returns ErrLost if the task is unknown, is not being carried out, or has a later lease.
	Renew(ctx context.Context, l Lease, d time.Duration) (time.Time, error)
	// MarkDone ends a task whose decision was carried out, and stores the report. Errors: ErrLost.
	MarkDone(ctx context.Context, l Lease, report []byte) error
	// Fail ends a task that cannot be carried out, and stores the reason and the report. Errors:
	// ErrLost.
	Fail(ctx context.Context, l Lease, reason string, report []byte) error
	// ReleaseLease ends a lease without a result. The decision can be leased again after p.Wait.
	// Errors: ErrLost.
	ReleaseLease(ctx context.Context, l Lease, p Postponement) error

	// RequeueStale ends expired claims and leases, and claims older than Limits.MaxClaim, so that these tasks are pending or ready to be
	// carried out again. Tasks that were handed out as often as the limits allow fail instead, even
	// if their last claim or lease was released. Claims and tries are counted since the last Retry.
	// Each change is atomic, but there may be several transactions, so the changed tasks are
	// returned also with an error.
	RequeueStale(ctx context.Context, l Limits) ([]Requeued, error)
	// RequeueLeases ends expired leases, as RequeueStale does, and the leases of processes that
	// have certainly ended. drains is the limit Limits.Drains. The call is cheap if there are no
	// such leases.
	RequeueLeases(ctx context.Context, drains int) (LeaseCheck, error)
	// ExtendClaims extends every claim to at least d from now, and returns the number of extended
	// claims. It is called after a downtime of the harness, when agents could not send heartbeats.
	ExtendClaims(ctx context.Context, d time.Duration) (int, error)

	// Stats counts the tasks.
	Stats(ctx context.Context) (Stats, error)
	// Backlog returns the agents, sorted, that have pending tasks which are not held back. Each
	// entry has the ids of the n tasks that are claimed first. The cost does not depend on the
	// number of tasks.
	Backlog(ctx context.Context, n int) ([]Backlog, error)
	// Search returns the tasks that match, the newest first. One call examines at most f.Examine
	// tasks, so that its cost does not depend on the number of tasks. Page.Next is where the next
	// call continues.
	Search(ctx context.Context, f Filter) (Page, error)
	// Count counts the tasks that match, among the newest f.Examine ones that f.Before, the state,
	// the agent or the repository select. f.Limit has no meaning.
	Count(ctx context.Context, f Filter) (Tally, error)
	// Inspect returns everything stored about a task. Errors: ErrNotFound.
	Inspect(ctx context.Context, id string) (Details, error)
	// Retry makes a failed task ready again, and resets its counts for the limits of RequeueStale.
	// The task becomes completed if it has a decision or no agent, else pending. If it becomes
	// pending and has Task.Coalesce, it is held back behind other tasks of its issue, like a new
	// task. If the task is held back instead of failed, it becomes ready at once. Retry returns the
	// new state, and records the name by in the task's log. Errors: ErrNotFound; ErrChanged; ErrState
	// in other states.
	Retry(ctx context.Context, t Seen, by string) (State, error)
	// AskAgain deletes the decision on a done or failed task and makes the task pending, so that
	// the agent decides again. A task without an agent becomes completed. The counts and
	// Task.Coalesce are treated as in Retry. The task's log records the earlier result, the name
	// by, and the reason, which may be empty. AskAgain returns the new state. Errors: ErrNotFound;
	// ErrChanged; ErrState in other states.
	AskAgain(ctx context.Context, t Seen, by, reason string) (State, error)
	// Cancel fails a task that has not ended, unless its decision is being carried out. A cancelled
	// task that was never claimed no longer counts towards Task.HourlyLimit, but tasks that this
	// limit already delayed do not start earlier. The task's log records the name by. Errors:
	// ErrNotFound, ErrChanged, ErrState.
	Cancel(ctx context.Context, t Seen, by string) error
	// Purge deletes done and failed tasks that ended before a time, with their logs, and returns
	// their number. Call it until it returns less than limit. The ids and Task.Dedup of deleted
	// tasks can be used again.
	Purge(ctx context.Context, before time.Time, limit int) (int, error)

	// Watch sends a Change when tasks may have become ready by a call on this handle and, if the
	// store supports it, by other processes. Changes are hints and may be lost, so callers also
	// poll. No Change is sent when the wait of a held-back task ends. stop closes the channel; a
	// second call does nothing.
	Watch() (changes <-chan Change, stop func())
}
