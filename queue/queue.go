// Package queue keeps tasks between an event and the decision on it, and decisions
// until they are carried out: at least once, and in the face of agents, harnesses and
// machines that stop at any moment.
//
// A task passes these states:
//
//	            ClaimNext             Complete              MarkDone
//	pending ───────────────▶ claimed ──────────▶ completed ──────────▶ done
//	 ▲ │ ▲                    │ │                 ▲  ▲  │
//	 │ │ └── RequeueStale, ───┘ │                 │  │  │ Fail, Cancel,
//	 │ │     GiveBack           │                 │  │  │ RequeueStale
//	 │ └──────────── Complete ──┼─────────────────┘  │  │
//	 │                          │                    │  ▼
//	 └── Retry, without ────────┼──── failed ────────┘
//	     a decision             │      ▲    Retry, with a decision
//	                            └──────┘ RequeueStale, GiveUp, Cancel (pending ones too)
//
// A pending task may be held back until a time, and a completed one too: it is not
// handed out before, and from then on it is, whether RequeueStale was called or not. One
// that is not held back is handed out whatever a clock does. A pending one may also be
// held back behind other tasks of its issue, until these have ended: see Task.Coalesce. A claim or a lease that ran
// out is the claimant's still, until RequeueStale takes it away. A completed task that is being carried out is under a lease of
// whoever does it (DrainCompleted, Renew), and comes back when the lease runs out; one
// task of an issue is carried out at a time.
//
// Two numbers fence those off who lost what they had. An attempt counts the claims of
// a task: a claimant that says which one it has is told when it lost it. An epoch
// counts the leases of a decision: only the last one can finish it. Neither ever goes
// back, not by Retry either. The first result of
// a task wins; what comes later is kept in the task's log, and never carried out.
package queue

import (
	"context"
	"errors"
	"time"
)

// A State is where a task stands.
type State string

// The states.
const (
	Pending   State = "pending"   // waits for an agent
	Claimed   State = "claimed"   // an agent works on it
	Completed State = "completed" // decided on; waits to be carried out, or is being carried out
	Done      State = "done"      // carried out
	Failed    State = "failed"    // given up, with a reason; Retry takes it up again
)

// States returns the states in the order of the diagram.
func States() []State { return []State{Pending, Claimed, Completed, Done, Failed} }

// Errors that callers branch on; test with errors.Is.
var (
	// ErrEmpty says that there is no task to be had.
	ErrEmpty = errors.New("there is no task")
	// ErrNotFound says that there is no task of that id.
	ErrNotFound = errors.New("there is no such task")
	// ErrLost says that the claim, or the lease, is not the caller's any more.
	ErrLost = errors.New("it was given to somebody else meanwhile, or is finished")
	// ErrNotYours says that the task was claimed under another name.
	ErrNotYours = errors.New("it was claimed by somebody else")
	// ErrState says that the task is in a state that does not allow it.
	ErrState = errors.New("its state does not allow that")
	// ErrNewer says that a newer version of this program wrote the database.
	ErrNewer = errors.New("the database is of a newer version of this program")
	// ErrUnavailable says that the store cannot keep anything now: locked, full or out of
	// reach. Nothing was changed, unless the answer was lost on its way back from a database; the caller may
	// try again: what was done then is found out, and not done twice.
	ErrUnavailable = errors.New("the queue cannot be written now")
)

// A Queue keeps tasks. Implementations are safe for concurrent use, by several
// processes too, and pass the suite of package conformance. When a method that changes
// something returns nil, the change is durable. Besides the errors named, each method
// may return the context's, ErrUnavailable, or one of the medium.
//
// Agents are compared byte for byte, issues by repository (without regard to case) and
// number. Times are the store's own: of the process for a file, of the server for a
// database that has one.
type Queue interface {
	// Enqueue adds a task. It adds none, and says so, when there is one of that id or of
	// that Task.Dedup already, or one that Task.Coalesce lets it be joined to. An error for
	// a task that Task.Check refuses.
	Enqueue(ctx context.Context, t Task) (Enqueued, error)

	// ClaimNext hands out a pending task of an agent: the highest priority first, then the
	// oldest. ErrEmpty when there is none; one that comes while others claim may be missed,
	// and is handed out the next time. A task whose message is not Decodable is failed,
	// and passed over.
	ClaimNext(ctx context.Context, agent string, o ClaimOptions) (Claim, error)
	// Heartbeat extends the claim by lease from now on. ErrNotFound, ErrNotYours; ErrLost
	// when the task is not claimed, or by another attempt if ref names one.
	Heartbeat(ctx context.Context, ref Ref, lease time.Duration) error
	// GiveBack ends a claim without a decision: the task is pending again, but not before wait is
	// over, and the claim does not count towards Limits.Claims. ErrNotFound, ErrNotYours and
	// ErrLost as Heartbeat.
	GiveBack(ctx context.Context, ref Ref, wait time.Duration) error
	// GiveUp ends a claim, and the task with it: it fails for the reason. ErrNotFound,
	// ErrNotYours and ErrLost as Heartbeat.
	GiveUp(ctx context.Context, ref Ref, reason string) error
	// Complete keeps the decision on a task. It is accepted from a pending and from a
	// claimed task; but if ref names an attempt and another one has the task, the error is
	// ErrLost. What is not accepted goes to the task's log, with the beginning of the
	// decision. ErrNotYours, in any state, when ref names a claimant and the task was not last
	// claimed by it. That the task is unknown, decided on already or failed is no error: the
	// receipt says so. An empty decision is an error, and so is one beyond MaxMessage.
	Complete(ctx context.Context, ref Ref, decision []byte) (Receipt, error)

	// DrainCompleted leases decisions that are to be carried out, those of the oldest tasks
	// first: at most o.Limit, of an issue only one, and none of an issue of which one is
	// leased. One that is held back holds back no other. None is no error. If the store fails
	// when some were leased already, these are returned, without an error.
	DrainCompleted(ctx context.Context, o DrainOptions) ([]Decision, error)
	// Renew extends a lease by d from now on, and returns until when. ErrLost, as all that
	// take a Hold return it: the task is unknown, or not being carried out, or under a later lease.
	Renew(ctx context.Context, h Hold, d time.Duration) (time.Time, error)
	// MarkDone ends a task: its decision was carried out as report tells. ErrLost.
	MarkDone(ctx context.Context, h Hold, report []byte) error
	// Fail ends a task: it cannot be carried out, for the reason. ErrLost.
	Fail(ctx context.Context, h Hold, reason string, report []byte) error
	// Release gives a lease back; the decision is handed out again, but not before p.Wait
	// is over. ErrLost.
	Release(ctx context.Context, h Hold, p Postponement) error

	// RequeueStale takes up what was left: tasks are pending again whose claim ran out, and
	// completed ones free whose lease did, but for those that were handed out as often as the
	// limits allow. It fails these, and those too whose last claim, or lease, was given back.
	// Nobody sees one between the two. What counts is the claims and the tries since the last
	// Retry. It returns those that it took hold of, also with an error: many are taken up some
	// at a time.
	RequeueStale(ctx context.Context, l Limits) ([]Swept, error)
	// Grace makes every claim last at least d from now on: agents could not send
	// heartbeats to a harness that was down. It returns how many it made longer.
	Grace(ctx context.Context, d time.Duration) (int, error)

	// Stats counts the tasks.
	Stats(ctx context.Context) (Stats, error)
	// Backlog tells of the agents that have pending tasks which may be handed out now.
	// Each comes with the ids of at most n of them, those first that are claimed first. The
	// agents are sorted. It costs the same with any number of tasks.
	Backlog(ctx context.Context, n int) ([]Backlog, error)
	// List returns the tasks that match, the newest first.
	List(ctx context.Context, f Filter) ([]Info, error)
	// Inspect returns all that is kept of a task. ErrNotFound.
	Inspect(ctx context.Context, id string) (Details, error)
	// Retry takes a failed task up again, with nothing counting towards the limits of
	// RequeueStale: from its decision if it has one, or if there is nobody to ask. One that
	// coalesces, and whose agent is to be asked, is held back behind others of its issue as if it came
	// anew. It lets a task that is held back go at once, behind others or not. It returns the
	// state then. ErrNotFound; ErrState in other states. by goes to the log.
	Retry(ctx context.Context, id, by string) (State, error)
	// Cancel fails a task that has not ended, and is not being carried out. One that was
	// never claimed does not count towards Task.HourlyLimit any more; those that wait for
	// their turn keep it. ErrNotFound, ErrState. by goes to the log.
	Cancel(ctx context.Context, id, by string) error
	// Purge deletes done and failed tasks that ended before a time, at most limit of
	// them, with their logs, and returns how many: call it until it returns less than limit.
	// Their ids and their Task.Dedup are free then.
	Purge(ctx context.Context, before time.Time, limit int) (int, error)

	// Watch tells of tasks that may have become ready: those that this handle made so,
	// and where the store can, those of other processes. It is a hint, and may be missed:
	// who waits for one looks again by itself from time to time. That a time has come to
	// which a task was held back is not told. stop closes the channel, and may be called again.
	Watch() (changes <-chan Change, stop func())
}
