// Package triage defines the types that the whole program shares: issues and actors, events,
// timelines, actions with their sources and results, and the errors of a code host. It parses
// GitHub's payloads, and does no I/O.
//
// Conditions of rules read the types [Issue], [PullRequest], [Event], [Comment], [Actor], [Repo]
// and [Reactions]. These are plain data: structs without methods, pointers or maps, whose fields
// have the same names in conditions. Conditions cannot read fields tagged `expr:"-"`. The raw JSON
// of an event stays in its [Delivery], which rules never see.
//
// All texts in these types are untrusted unless the comment of a field states otherwise.
package triage
