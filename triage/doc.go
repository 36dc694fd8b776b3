// Package triage has the nouns that the whole program shares: issues and who acts on them,
// events as they arrive, timelines, who asked for an action and what became of it, and the
// errors of a code host. It parses GitHub's payloads, and does no I/O.
//
// What a condition of a rule can reach ([Issue], [PullRequest], [Event], [Comment],
// [Actor], [Repo], [Reactions]) is plain data: structs without methods, pointers or maps,
// whose fields have the names that conditions use. Fields tagged `expr:"-"` are hidden from
// them. The raw JSON of an event stays in its [Delivery], which rules never see.
//
// All texts in these types are untrusted unless the comment of a field states otherwise.
package triage
