// Package sqlqueue keeps the queue in a SQL database: one body of statements for every
// engine of package sqlstore. Each file holds what one verb of the queue needs, or a few that
// do the like: its statements, and the functions that run them. [Queue] puts them together.
//
// A task is three rows, of which only the small one is written often: its state, its
// texts, and what was decided. Tasks that wait for a time have states of their own, and
// every statement that is run often reads one partial index from its beginning, so that
// none of them gets slower with the number of tasks.
package sqlqueue

import (
	"strconv"
	"strings"

	"github.com/org/foreman-action/queue"
)

// The states as they are kept. Two are split: a task that is held back is not among
// those that are handed out, and one that is being carried out is not among the ready.
const (
	statePending   = 0
	stateClaimed   = 1
	stateCompleted = 2
	stateDraining  = 3
	stateDone      = 4
	stateFailed    = 5
	stateDelayed   = 6  // pending, and held back until run_at; less holding it is what it becomes
	stateHeld      = 8  // completed, and held back until run_at
	stateBehind    = 12 // pending, and held back behind others of its issue; looked at again at run_at

	holding = 6
)

// stateOf is the state that callers know.
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

// Lane is what tasks of one issue have in common, as it is kept.
func Lane(repo string, issue int) string { return strings.ToLower(repo) + "#" + strconv.Itoa(issue) }

// failing is how a statement begins that fails tasks.
const failing = "UPDATE task SET state = 5, ended_at = {now}, lease_until = NULL, run_at = 0, "
