package health

import (
	"time"

	"github.com/org/foreman-action/internal/wait"
)

const (
	maxUnusableWait = 15 * time.Minute // before a task with an unusable answer is tried again
	maxCrashing     = time.Hour        // of crashes on a task before its failures count
	minTurns        = 3
	maxTurns        = 24
)

// A Task is a task that an agent failed on.
type Task struct {
	ID       string
	Enqueued time.Time
}

// A Cause is why an agent gave no decision on a task.
type Cause int

// The causes. All except Unusable are a sign of a bad agent.
const (
	Unavailable Cause = iota // every task would probably have failed
	Overloaded               // the agent has too many tasks; this never counts against a task
	Crashed                  // the agent's own program failed, not a proxy in front of it
	Unusable                 // the agent works, but its answer is not a decision on this task
)

// A Verdict is the consequence of a failure for its task.
type Verdict struct {
	Wait     time.Duration // time until the agent should receive the task again
	Counts   bool          // the task is to blame, so this failure is an attempt
	Attempts int           // number of counted failures, if this one counts
	Expired  bool          // the agent has failed for too long, so fail the task
}

// add records the cause of the last failure.
func (i *Item) add(cause Cause) {
	if i.Blamed && cause != Overloaded {
		i.charges++
	}
	switch {
	case cause != Crashed:
		i.crashing = time.Time{}
	case i.crashing.IsZero():
		i.crashing = i.Last
	}
}

// bad reports whether the task is to blame: at least that many failures came after successes on
// other tasks, or the task has only crashed the agent for maxCrashing.
func (i *Item) bad(least int) bool {
	return i.charges >= least || !i.crashing.IsZero() && i.Last.Sub(i.crashing) >= maxCrashing
}

// wait returns how long the task must wait. That is longer than the agent's interval, so that the
// next probes use other tasks. If many tasks fail, the time grows with their number, so that each
// of them is tried.
func (i *Item) wait(interval time.Duration, failing int) time.Duration {
	turns := minTurns
	if i.Failures > turns {
		turns = min(max(turns, failing), maxTurns)
	}
	return max(interval*time.Duration(1+min(i.Failures, turns)), wait.Backoff(i.Failures, time.Second, MaxInterval))
}
