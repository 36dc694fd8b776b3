package breaker

import (
	"time"

	"github.com/org/foreman-action/internal/wait"
)

const (
	maxUnusableWait = 15 * time.Minute // before a task is tried again on which the answer was unusable
	maxCrashing     = time.Hour        // that an agent may crash on a task before that counts
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

// The causes. All but Unusable speak against the agent.
const (
	Unavailable Cause = iota // every task would have failed, as far as one can tell
	Overloaded               // the agent has too many tasks; this never counts against a task
	Crashed                  // the agent's own program failed, not a proxy in front of it
	Unusable                 // the agent works, but its answer is not a decision on this task
)

// A Verdict is the consequence of a failure for its task.
type Verdict struct {
	Wait     time.Duration // before the agent should be asked about it again
	Counts   bool          // the task is to blame: this is an attempt
	Attempts int           // so far, if this one counts
	Expired  bool          // the agent is to blame, and has been for too long: give the task up
}

// A record has the failures of an agent on one task.
type record struct {
	failures  int
	blamed    int       // failures that came after a success on another task
	successes int       // of the agent at the last failure
	attempts  int       // failures that counted
	last      time.Time // failure
	crashing  time.Time // since when every failure was a crash; zero: the last one was not
}

// recordOf returns the record of a task that fails now. The caller holds b.mu.
func (b *Breaker) recordOf(task string) *record {
	r := b.tasks[task]
	if r == nil {
		r = &record{}
		b.tasks[task] = r
	}
	r.last = time.Now()
	return r
}

// add records a failure of an agent that has had a number of successes.
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
		r.crashing = time.Now()
	}
}

// bad reports whether the task is to blame for its failures, of which at least that many came
// after successes on other tasks.
func (r *record) bad(least int) bool {
	return r.blamed >= least || !r.crashing.IsZero() && time.Since(r.crashing) >= maxCrashing
}

// wait is how long the task stands back. That is longer than the agent's interval, so that
// the next probes are about other tasks; where many tasks fail, all of them get their turn.
func (r *record) wait(interval time.Duration, failing int) time.Duration {
	turns := minTurns
	if r.failures > turns {
		turns = min(max(turns, failing), maxTurns)
	}
	return max(interval*time.Duration(1+min(r.failures, turns)), wait.Backoff(r.failures, time.Second, MaxInterval))
}
