// Package ruletest runs the tests that rule files contain:
//
//	tests:
//	  - name: crash words in a question are not a crash
//	    event: issues.opened
//	    issue: {title: "How do I read a stack trace?", labels: [kind/question]}
//	    expect: {fired: []}
//
// [Parse] reads the tests, [Run] runs one, [Record] makes one from an event, and [Insert] adds it
// to a file.
//
// # The event of a test
//
// Omitted fields default to an open issue 1 of octo-org/hello without title, text and labels. A
// user octocat, whose association is NONE, opened it at 2026-01-01T12:00:00Z, which is also the
// default of now. A later "now" makes the issue older.
//
// The fields of issue, comment, actor, pr and memory are those that conditions see. "event" is a
// name that "on" takes; the default is issues.opened. "label", "assignee" or "milestone" names what
// such an event adds or removes; after it is added, the issue has it by default. The default actor
// is the author of the comment, or else of the issue. The actor's permission (actor.permission) is
// admin for an OWNER, write for a MEMBER or COLLABORATOR, else read.
//
// "pr.files" lists changed files. "past" lists earlier events, the oldest first: {event: labeled,
// label: bug, at: 2025-12-24, by: hubot, as: human}, where "as" is human, bot or us. Other omitted
// fields are empty.
//
// "functions" has the results of the program's own functions (see [rules.Func]) by name, such as
// {tier: gold}. No function is called, and a rule fails that needs a result which the test lacks.
//
// # The expected result
//
// Only the keys that "expect" contains are compared:
//
//   - "fired": all rules that fire, in order.
//   - "labels": the labels of the issue afterwards, in any order and case.
//   - "comments": their number, or a list with a part of each.
//   - "closed": whether the issue is closed, now or after a grace period, or the reason.
//   - "escalated": whether a rule escalates, or a part of the reason.
//   - "decision": the decision.
//   - "undone": the rules whose label or scheduled close is reverted.
//   - "retriage": whether a rule asks for a new decision.
//   - "actions": all actions, as in "then" but without expressions. The keys rationale, confidence and
//     suggest are compared only if they are written.
//   - "error": a part of the message of a condition that fails.
//
// A decision that writes nothing has no actions.
//
// # Scheduled runs
//
// In a test of schedule the simple terms of each "scan" are evaluated on the issue: is, type,
// state, label, author, assignee, milestone, no, reason, draft, base, head, comments, reactions,
// and dates (created, updated). The issue counts as meeting all other terms, and the result lists
// them.
package ruletest
