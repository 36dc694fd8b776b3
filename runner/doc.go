// Package runner handles an event on an issue completely: it creates a task, lets rules or an agent
// decide, plans and reviews the decision, carries it out, and reports the result.
//
//	event ─▶ decide ─▶ plan ─▶ review ─▶ execute ─▶ remember ─▶ report
//
// [New] and [Runner.Run] do all of this. The function run makes these steps in order. Both halves
// can also be used separately: [Task] creates the message for an agent, and [Runner.Apply] carries
// out the agent's decision. [Runner.Sweep] makes a scheduled run. [Plan] shows what a run would do, and
// [Explain] why rules match or do not. Two interfaces connect the package to other systems: an [Agent]
// decides, and a [Host] is the code host of the issues. Agents have no access to the host or its
// credentials. An [Action] adds an action to the built-in ones, under the same policy.
//
// # Order and failure
//
// Actions are carried out in the order of the decision, one at a time. The first failure ends the
// run; earlier actions are not undone. [Options.Audit] records a decision before the first call
// that acts on it.
//
// # Once
//
// The first line of a comment is hidden. It contains the id of the task and the comment's number
// within the task. A later attempt searches for this line before it posts the comment again. Every
// other action is compared with the current issue. If the outcome of a write is unknown
// ([triage.ErrUncertain]), it is looked up for 11 s, longer than GitHub works on a request, before
// the write is repeated. A run that ends earlier reports the state [triage.Unknown]. An attempt after
// another one looks up the writes that the other may have begun, until 11 s after its own start.
package runner
