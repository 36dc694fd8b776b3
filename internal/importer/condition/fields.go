package condition

import "strings"

// A field is the expression of our rule language for a path of GitHub's contexts, and its type.
type field struct {
	text string
	kind fieldKind
}

type fieldKind int

const (
	plainText fieldKind = iota
	lowerText           // a text that GitHub writes in lower case
	upperText           // a text that GitHub writes in upper case
	titleText           // a text of which only the first letter is in upper case
	flag                // true or false
	names               // a list of texts
	isPull              // whether the issue is a pull request
)

const (
	eventName   = "github.event_name"         // path of the event's name
	eventAction = "github.event.action"       // path of the event's activity
	ownPull     = "github.event.pull_request" // path of the pull request of the event
)

// fields returns the paths that have a counterpart.
func fields() map[string]field {
	list := map[string]field{
		"github.actor":                                {"actor.login", plainText},
		"github.event.sender.login":                   {"actor.login", plainText},
		"github.event.sender.type":                    {"actor.type", titleText},
		"github.repository":                           {"repo.full_name", plainText},
		"github.event.repository.full_name":           {"repo.full_name", plainText},
		"github.repository_owner":                     {"repo.owner", plainText},
		"github.event.repository.owner.login":         {"repo.owner", plainText},
		"github.event.repository.name":                {"repo.name", plainText},
		eventName:                                     {"event.name", lowerText},
		eventAction:                                   {"event.action", lowerText},
		"github.event.label.name":                     {"event.label", plainText},
		"github.event.assignee.login":                 {"event.assignee", plainText},
		"github.event.milestone.title":                {"event.milestone", plainText},
		"github.event.comment.body":                   {"event.comment.body", plainText},
		"github.event.comment.user.login":             {"event.comment.author", plainText},
		"github.event.comment.author_association":     {"event.comment.association", upperText},
		"github.base_ref":                             {"pr.base", plainText},
		"github.head_ref":                             {"pr.head", plainText},
		"github.event.pull_request.base.ref":          {"pr.base", plainText},
		"github.event.pull_request.head.ref":          {"pr.head", plainText},
		"github.event.pull_request.draft":             {"pr.draft", flag},
		"github.event.pull_request.merged":            {"pr.merged", flag},
		"github.event.issue.pull_request":             {"issue.url matches `/pull/[0-9]+$`", isPull},
		ownPull:                                       {"issue.url matches `/pull/[0-9]+$`", isPull},
		"github.event.pull_request.assignees.*.login": {"issue.assignees", names},
		"github.event.issue.assignees.*.login":        {"issue.assignees", names},
	}
	for _, thread := range []string{"github.event.issue.", "github.event.pull_request."} {
		for path, f := range map[string]field{
			"title":              {"issue.title", plainText},
			"body":               {"issue.body", plainText},
			"state":              {"issue.state", lowerText},
			"state_reason":       {"issue.state_reason", lowerText},
			"user.login":         {"issue.author", plainText},
			"user.type":          {"issue.author_type", titleText},
			"author_association": {"issue.association", upperText},
			"locked":             {"issue.locked", flag},
			"milestone":          {"issue.milestone", plainText},
			"milestone.title":    {"issue.milestone", plainText},
			"labels.*.name":      {"issue.labels", names},
		} {
			list[thread+path] = f
		}
	}
	return list
}

// isText reports whether the field is a text.
func (f field) isText() bool { return f.kind <= titleText }

// lower returns the expression to compare with a literal, ignoring case.
func (f field) lower(literal string) string {
	if f.kind != plainText || strings.ToLower(literal) == literal && strings.ToUpper(literal) == literal {
		return f.text
	}
	return "lower(" + f.text + ")"
}

// literal returns the literal in the case that the result of lower needs.
func (f field) literal(s string) string {
	switch {
	case f.kind == upperText:
		return strings.ToUpper(s)
	case f.kind == titleText && s != "":
		return strings.ToUpper(s[:1]) + strings.ToLower(s[1:])
	}
	return strings.ToLower(s)
}
