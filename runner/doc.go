// Package runner takes an event on an issue all the way: it makes a task of it, has rules or
// an agent decide, plans and reviews the decision, carries it out, and reports.
//
//	event ─▶ decide ─▶ plan ─▶ review ─▶ execute ─▶ remember ─▶ report
//
// [New] and [Runner.Run] do all of it; the function run is that line, in order. The halves can
// be used apart: [Task] makes the message that an agent gets, and [Runner.Apply] carries out
// its answer. [Runner.Sweep] is a scheduled run, and [Explain] shows why rules match or do not.
// Two seams connect the package to the world: an [Agent] decides, and a [Host] is the code
// host of the issues. No agent ever sees the host, nor its credentials.
//
// The rooms below do the work. They take values and return values: package effect has the
// changes of an issue; internal/plan checks and reviews decisions, without reading;
// internal/execute is the only one that writes; internal/history interprets the timeline and
// the record; internal/command, internal/schedule and internal/shadow have commands in
// comments, scheduled runs and the score of shadow mode.
//
// # Order and failure
//
// Actions are carried out in the order of the decision, one at a time. The first failure ends
// the run; earlier actions are not undone. A decision is recorded, by [Options.Audit], before the
// first call that acts on it.
//
// # Exactly once
//
// A comment has the id of its task and its number among the task's comments in a hidden last
// line, which is looked up before the comment is posted again; every other action is compared
// with the issue as it is. A write whose outcome is unknown ([triage.ErrUncertain]) is looked
// up before it is repeated.
package runner
