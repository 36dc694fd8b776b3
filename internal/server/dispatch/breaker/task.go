package breaker

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

// A record has the failures of an agent on one task.
type record struct {
	failures  int
	blamed    int       // failures that came after a success on another task
	successes int       // number of the agent's successes at the last failure
	attempts  int       // failures that counted
	last      time.Time // time of the last failure
	crashing  time.Time // since when every failure was a crash; zero: the last one was not
}

// recordOf returns the record of a task that fails now. The caller holds b.mu.
func (b *Breaker) recordOf(task string) *record {
	r := b.tasks[task]
	if r == nil {
		r = &record{}
		b.tasks[task] = r
	}
	r.last = b.o.Now()
	return r
}

// add records a failure. successes is the number of the agent's successes so far.
func (r *record) add(cause Cause, successes int) {
	if r.failures > 0 && successes > r.successes && cause != Overloaded {
		r.blamed++
	}
	r.failures++
	r.successes = successes
	switch {
	case cause != Crashed:
		r.crashing = time.Time{}
	case r.crashing.IsZero():
		r.crashing = r.last
	}
}

// bad reports whether the task is to blame: at least that many failures came after successes on
// other tasks, or the task has only crashed the agent for maxCrashing.
func (r *record) bad(least int) bool {
	return r.blamed >= least || !r.crashing.IsZero() && r.last.Sub(r.crashing) >= maxCrashing
}

// wait returns how long the task must wait. That is longer than the agent's interval, so that the
// next probes use other tasks. If many tasks fail, the time grows with their number, so that each
// of them is tried.
func (r *record) wait(interval time.Duration, failing int) time.Duration {
	turns := minTurns
	if r.failures > turns {
		turns = min(max(turns, failing), maxTurns)
	}
	return max(interval*time.Duration(1+min(r.failures, turns)), wait.Backoff(r.failures, time.Second, MaxInterval))
}
