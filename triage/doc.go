// Package triage has the nouns that the whole program shares: issues and actors, events as they
// arrive, timelines, actions with their sources and results, and the errors of a code host. It
// parses GitHub's payloads, and does no I/O.
//
// The data of a rule's condition ([Issue], [PullRequest], [Event], [Comment], [Actor], [Repo],
// [Reactions]) is plain data: structs without methods, pointers or maps, whose fields have the
// names that conditions use. Fields tagged `expr:"-"` are hidden from them. The raw JSON of an
// event stays in its [Delivery], which rules never see.
//
// All texts in these types are untrusted unless the comment of a field states otherwise.
package triage
