// Package sqlqueue is the queue in a SQL database, with one set of statements for every engine of
// package sqlstore. [Queue] implements queue.Queue. Each of its methods checks the arguments and
// runs one operation. The statements of an operation and the functions that run them are in one
// file:
//
//	enqueue.go    Enqueue; coalesce.go joins a new task to one that waits
//	claim.go      ClaimNext
//	heartbeat.go  Heartbeat, FailClaim, ReleaseClaim
//	complete.go   Complete
//	drain.go      LeaseDecisions
//	lease.go      Renew, MarkDone, Fail, ReleaseLease, and the processes that have leases
//	requeue.go    RequeueStale, RequeueLeases, ExtendClaims
//	retry.go      Retry, AskAgain, Cancel
//	stats.go      Stats, Backlog
//	list.go       Search, Count, Inspect
//	purge.go      Purge
//	pause.go      Pause, Resume, ListPauses, and the conditions of the statements that hand out tasks
//
// Where the database runs transactions concurrently, calls at the same time of the five main
// steps of a task (Enqueue, ClaimNext, Complete, LeaseDecisions, MarkDone) share one transaction:
// see package batch. Each of these steps has one statement for a single caller, and one for
// several.
//
// Several operations share these files: task.go (the row of one task), delayed.go (tasks held
// back until a time), lanes.go (tasks that wait for others of their issue), log.go (the log of a
// task).
//
// The suite of package queuetest tests every operation on each engine. Tests of a
// single operation that need an engine are in the engine's package, such as sqlite/claim_test.go.
//
// A task has three rows: its state, its texts, and its decision. Only the row of the state, which
// is small, is written often. Tasks that are held back have states of their own. Each frequent
// statement reads one partial index from its beginning, so no statement gets slower with the
// number of tasks.
package sqlqueue

import (
	"strconv"
	"strings"

	"github.com/org/foreman-action/queue"
)

// The stored states. Two states of package queue are split, so that tasks that are held back are
// separate from tasks that can be handed out, and leased decisions are separate from ready ones.
const (
	statePending   = 0
	stateClaimed   = 1
	stateCompleted = 2
	stateDraining  = 3
	stateDone      = 4
	stateFailed    = 5
	stateDelayed   = 6  // pending, held back until run_at; then it becomes state - holding
	stateHeld      = 8  // completed, held back until run_at
	stateBehind    = 12 // pending, waiting for another task of the issue; checked again at run_at

	// Ready tasks that a pause holds, see pause.go.
	stateParkedPending   = statePending + parking
	stateParkedCompleted = stateCompleted + parking

	holding = 6
)

// stateOf returns the state of package queue for a stored state.
func stateOf(n int) queue.State {
	switch n {
	case statePending, stateDelayed, stateBehind, stateParkedPending:
		return queue.Pending
	case stateClaimed:
		return queue.Claimed
	case stateCompleted, stateDraining, stateHeld, stateParkedCompleted:
		return queue.Completed
	case stateDone:
		return queue.Done
	}
	return queue.Failed
}

// IssueKey returns the key that is stored with all tasks of one issue.
func IssueKey(repo string, issue int) string {
	return strings.ToLower(repo) + "#" + strconv.Itoa(issue)
}

// failing is the beginning of every statement that fails tasks.
const failing = "UPDATE task SET state = 5, ended_at = {now}, lease_until = NULL, run_at = 0, "
