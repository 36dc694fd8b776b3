// Package runner takes an event on an issue all the way: it makes a task of it, has
// rules or an agent decide, holds the decision against a policy, carries it out, and
// reports.
//
//	event ──▶ Task ──▶ decide ──▶ MakePlan ──▶ ApplyPlan ──▶ Report
//
// [New] and [Runner.Run] do all of it. The halves can be used apart: [Task] makes the
// message that an agent gets, [MakePlan] and [ApplyPlan] judge and carry out what it
// answers. Two interfaces connect the package to the world: an [Agent] decides, a
// [Host] is the service that the issues live on. No agent ever sees the host, nor its
// credentials.
//
// # Order and failure
//
// Actions are carried out in the order of the decision, one at a time. The first
// failure ends the run; what was done stays done. A decision is recorded, by
// [Options.Audit], before the first call that acts on it.
//
// # Exactly once
//
// A comment carries the id of its task and its number among the task's comments in a
// hidden last line, which is looked up before the comment is posted again; every other
// action is compared with the issue as it is. A write whose outcome is unknown
// ([triage.ErrUncertain]) is looked up before it is repeated.
package runner
