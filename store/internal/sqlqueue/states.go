// Package sqlqueue is the queue in a SQL database: one set of statements for every engine
// of package sqlstore. [Queue] implements queue.Queue. Each of its methods checks the
// arguments and calls a verb. The statements of a verb and the functions that run them are
// in one file:
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
//	list.go       List, Inspect
//	purge.go      Purge
//
// Where the database serves concurrent transactions, calls of the five verbs of a task's way
// (Enqueue, ClaimNext, Complete, LeaseDecisions, MarkDone) that are made at the same time share
// one: see package batch. Each has one statement for a caller that is alone, and one for several.
//
// Shared by several verbs: task.go (the row of one task), delayed.go (tasks held back until
// a time), lanes.go (tasks that wait for others of their issue), log.go (the log of a task).
//
// The suite of package queuetest/conformance tests every verb on each engine. Tests of a
// single verb that need an engine are in the engine's package, such as sqlite/claim_test.go.
//
// A task has three rows, of which only the small one is written often: its state, its
// texts, and the decision. Tasks that are held back have states of their own, and each
// frequent statement reads one partial index from its beginning, so that none gets slower
// with the number of tasks.
package sqlqueue

import (
	"strconv"
	"strings"

	"github.com/org/foreman-action/queue"
)

// The stored states. Two states of package queue are split: tasks that are held back are
// not among those that are handed out, and leased decisions not among the ready ones.
const (
	statePending   = 0
	stateClaimed   = 1
	stateCompleted = 2
	stateDraining  = 3
	stateDone      = 4
	stateFailed    = 5
	stateDelayed   = 6  // pending, and held back until run_at; its state then is less by holding
	stateHeld      = 8  // completed, and held back until run_at
	stateBehind    = 12 // pending, and held back behind others of its issue; looked at again at run_at

	holding = 6
)

// stateOf returns the state that callers see.
func stateOf(n int) queue.State {
	switch n {
	case statePending, stateDelayed, stateBehind:
		return queue.Pending
	case stateClaimed:
		return queue.Claimed
	case stateCompleted, stateDraining, stateHeld:
		return queue.Completed
	case stateDone:
		return queue.Done
	}
	return queue.Failed
}

// IssueKey returns the stored key that the tasks of one issue have in common.
func IssueKey(repo string, issue int) string {
	return strings.ToLower(repo) + "#" + strconv.Itoa(issue)
}

// failing is the beginning of every statement that fails tasks.
const failing = "UPDATE task SET state = 5, ended_at = {now}, lease_until = NULL, run_at = 0, "
