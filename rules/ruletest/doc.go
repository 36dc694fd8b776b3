// Package ruletest runs the tests that stand beside rules in their files:
//
//	tests:
//	  - name: crash words in a question are not a crash
//	    event: issues.opened
//	    issue: {title: "How do I read a stack trace?", labels: [kind/question]}
//	    expect: {fired: []}
//
// [Parse] reads them, [Run] runs one, [Record] makes one of an event, and [Insert] adds it
// to a file.
//
// Omitted fields default to an open issue 1 of octo-org/hello without title, text and labels. A
// user octocat, whose association is NONE, opened it at 2026-01-01T12:00:00Z, which is also the
// default of now. A later "now" makes the issue older. The fields of issue, comment, actor, pr and
// memory are those that conditions see. "event" is a name that "on" takes; the default is
// issues.opened. "label", "assignee" and "milestone" are the subject of such an event, and the
// issue then has them. The actor is by default the author of the comment, or else of the issue;
// their permission (actor.permission) is admin for an OWNER, write for a MEMBER or COLLABORATOR,
// else read. "pr.files" lists changed files. "past" lists the events, the oldest first: {event:
// labeled, label: bug, at: 2025-12-24, by: hubot, as: human}, where "as" is human, bot or us.
// Omitted fields are empty.
//
// Only the keys that "expect" has are compared: "fired", all rules that fire, in order;
// "labels", those of the issue afterwards, in any order and case; "comments", their number,
// or a list with a part of each; "closed", whether the issue is closed, at once or after
// some time, or the reason; "escalated", whether, or a part of the reason; "decision";
// "undone", the rules of which a label or a closing to come is reverted; "retriage"; "actions", all of them, as in
// "then" but without expressions; and by itself "error", a part of the message of a
// condition that fails. A decision that writes nothing has no actions.
//
// In a test of schedule the simple terms of each "scan" are evaluated on the issue: is, type,
// state, label, author, assignee, milestone, no, reason, draft, base, head, comments,
// reactions, and dates (created, updated). Others count as met, and the result lists them.
package ruletest
