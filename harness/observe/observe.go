// Package observe defines the events that a Harness, and foremand around it, report for metrics.
package observe

import "time"

// An Event is the kind of an observation.
type Event int

// The events, with the metrics of foremand that count them.
const (
	ApplyAttempted    Event = iota // an attempt to carry a decision out ended; Status is its outcome: foreman_apply_attempts_total
	Notified                       // an agent was notified of a task, or received one; Status is the result: foreman_nudges_total
	LoopFailed                     // a pass of a loop failed; Status is the loop's name: foreman_loop_restarts_total
	LeaseEnded                     // the lease of a decision ended; Status is the outcome of the attempt, Took the time since the decision: foreman_drained_total
	Requeued                       // tasks were requeued or failed; Status is their state now: foreman_requeued_total
	Purged                         // old tasks were deleted: foreman_purged_total
	OperatorChanged                // an operator changed a task, or Err was the reason against it; Status is the verb: foreman_operator_changes_total
	BreakerOpened                  // the circuit breaker of Agent opened: foreman_agent_breaker_open
	BreakerClosed                  // the circuit breaker of Agent closed; it was open for Took
	GitHubFailed                   // an outage of GitHub began; Status is its cause: foreman_github_outage
	GitHubRecovered                // an outage of GitHub ended; it lasted for Took
	ProposalChanged                // proposals by Carrier were made, or ended; Status is the outcome: foreman_proposals_total
	ActionsJudged                  // the outcome of actions in Repo became known; Status is undone or other: foreman_actions_judged_total
	JudgingWaits                   // N issues of Repo have actions that wait to be judged: foreman_judging_waiting_issues
	PermissionChanged              // a permission in Repo was earned or lost; Status is granted or lost: foreman_permissions_total
)

// An Observation is one event.
type Observation struct {
	Event  Event
	Status string
	Agent  string // the agent concerned; may be empty
	Repo   string // may be empty
	// Carrier shows the proposals of ProposalChanged: github or comment.
	Carrier string
	N       int // number of occurrences
	Took    time.Duration
	Err     error // why it failed; nil: it did not
}

// A Func receives observations. It must be fast, and is called concurrently. Nil discards.
type Func func(Observation)

// Report passes o to f.
func (f Func) Report(o Observation) {
	if f != nil {
		f(o)
	}
}
