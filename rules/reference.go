package rules

import (
	"reflect"
	"slices"
	"time"

	"github.com/org/foreman-action/rules/facts"
)

// A Name is a name of the rule language: a value or a function of expressions.
type Name struct {
	Name    string // as written in a condition; <name> stands for a name that a file declares
	Type    string // of the value, or the function's arguments and result
	Doc     string // what it is; for functions, what they yield
	Example string // a condition or a part of one
}

// Reference returns every name of the rule language, values first, and then the program's own
// functions. The examples use the forms
// version (semver), count (number), area (list) and logs (text), and a table area_of of texts.
func Reference(own ...Func) []Name {
	var list []Name
	for _, part := range [][]Name{issueNames(), eventNames(), pullNames(), declaredNames(), ownFunctions(), pastFunctions(), listFunctions(), valueFunctions()} {
		list = append(list, part...)
	}
	for _, f := range own {
		list = append(list, f.name())
	}
	return list
}

func issueNames() []Name {
	return []Name{
		{"issue.number", "whole number", "its number", `issue.number > 1000`},
		{"issue.title", "text", "its title", `issue.title startsWith "[Bug]"`},
		{"issue.body", "text", "its body in Markdown, as it was written", `issue.body == ""`},
		{"issue.text", "text", "the title, an empty line and the body", "issue.text matches `(?i)\\bpanic\\b`"},
		{"issue.state", "text", `"open" or "closed"`, `issue.state == "open"`},
		{"issue.state_reason", "text", `why it was closed, such as "not_planned"; else ""`, `issue.state_reason == "completed"`},
		{"issue.author", "text", "the login of its author", `issue.author == actor.login`},
		{"issue.author_type", "text", `"User", "Bot" or "Organization"`, `issue.author_type == "Bot"`},
		{"issue.association", "text", `the author's relation to the repository, such as "NONE" or "MEMBER"; "NONE" for most first-time authors; use author.issues to find them`, `issue.association in ["OWNER", "MEMBER"]`},
		{"issue.labels", "list of texts", "its labels", `len(issue.labels) == 0`},
		{"issue.assignees", "list of texts", "the logins of its assignees", `"octocat" in issue.assignees`},
		{"issue.milestone", "text", `the milestone's title; "" when there is none`, `issue.milestone == ""`},
		{"issue.type", "text", `the name of the issue type; "" when there is none`, `issue.type == "Bug"`},
		{"issue.comments", "whole number", "how many comments it has", `issue.comments == 0`},
		{"issue.locked", "true or false", "whether it is locked", `not issue.locked`},
		{"issue.created_at", "time", "when it was opened", `issue.created_at > date("2026-01-02")`},
		{"issue.updated_at", "time", "when it was changed last", `now - issue.updated_at > duration("14d")`},
		{"issue.closed_at", "time", "when it was closed; for an open issue the year 1, so test the state as well", `issue.state == "closed" and now - issue.closed_at > duration("90d")`},
		{"issue.url", "text", "the address of its web page", `issue.url contains "/octo-org/"`},
		{"issue.pull_request", "true or false", "whether it is a pull request; events of issue_comment and schedule may be about one", `not issue.pull_request`},
		{"issue.reactions.total", "whole number", "how many reactions it has", `issue.reactions.total > 20`},
		{"issue.reactions.thumbs_up", "whole number", "how many of them are 👍", `issue.reactions.thumbs_up >= 5`},
		{"issue.reactions.thumbs_down", "whole number", "👎", `issue.reactions.thumbs_down > issue.reactions.thumbs_up`},
		{"issue.reactions.laugh", "whole number", "😄", `issue.reactions.laugh > 3`},
		{"issue.reactions.hooray", "whole number", "🎉", `issue.reactions.hooray > 3`},
		{"issue.reactions.confused", "whole number", "😕", `issue.reactions.confused > 3`},
		{"issue.reactions.heart", "whole number", "❤️", `issue.reactions.heart > 3`},
		{"issue.reactions.rocket", "whole number", "🚀", `issue.reactions.rocket > 3`},
		{"issue.reactions.eyes", "whole number", "👀", `issue.reactions.eyes > 3`},
	}
}

func eventNames() []Name {
	return []Name{
		{"event.name", "text", "the event's name", `event.name == "issues"`},
		{"event.action", "text", `the activity; "" for events without`, `event.action == "opened"`},
		{"event.key", "text", `name and action, as "on" writes them`, `event.key == "issues.opened"`},
		{"event.label", "text", `the label that was added or removed; else ""`, `event.label == "bug"`},
		{"event.assignee", "text", `the login that was assigned or unassigned; else ""`, `event.assignee != ""`},
		{"event.milestone", "text", `the title of the milestone that was set or removed; else ""`, `event.milestone == "v2"`},
		{"event.comment.body", "text", `the comment in Markdown; "" for events without`, `event.comment.body contains "+1"`},
		{"event.comment.author", "text", "the login of the comment's author", `event.comment.author == issue.author`},
		{"event.comment.association", "text", "the commenter's relation to the repository", `event.comment.association == "MEMBER"`},
		{"actor.login", "text", "the login that caused the event", `actor.login == issue.author`},
		{"actor.type", "text", `"User", "Bot" or "Organization"`, `actor.type != "Bot"`},
		{"actor.association", "text", `the actor's relation to the repository; "" when the event does not contain it`, `actor.association == "MEMBER"`},
		{"actor.permission", "text", `looked up when needed: "admin", "maintain", "write", "triage", "read" or "none"`, `actor.permission in ["write", "maintain", "admin"]`},
		{"repo.owner", "text", "the owner of the repository", `repo.owner == "octo-org"`},
		{"repo.name", "text", "the repository's name without its owner", `repo.name == "site"`},
		{"repo.full_name", "text", "owner/name", `repo.full_name == "octo-org/site"`},
		{"now", "time", "the time of the run", `now - issue.created_at > duration("30d")`},
	}
}

func pullNames() []Name {
	return append(lookedUpNames("pr"), Name{"pr.reviewers", "list of texts", "the logins of people who have reviewed it; looked up when needed", `len(pr.reviewers) == 0 and idle() > duration("7d")`})
}

// lookedUpNames returns the names with that root that are looked up.
func lookedUpNames(root string) []Name {
	var list []Name
	for _, s := range facts.LookupSpecs() {
		if s.Root != root {
			continue
		}
		for _, f := range s.Fields {
			list = append(list, Name{s.Root + "." + f.Name, typeText(s.Field(&facts.Known{}, f.Name).Type()), f.Doc, f.Example})
		}
	}
	return list
}

// typeText returns the name of a type in the reference.
func typeText(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[time.Time]():
		return "time"
	case t.Kind() == reflect.Int:
		return "whole number"
	case t.Kind() == reflect.Bool:
		return "true or false"
	case t.Kind() == reflect.Slice:
		return "list of texts"
	}
	return "text"
}

func declaredNames() []Name {
	declared := []Name{
		{"form.<name>", "by its type under forms", `the value of a field of the issue form: text, semver (a text such as "1.4.0"), number, list or checkboxes (the ticked ones). If the field has no value that its type can read, it is nil in a comparison with nil and before ??; elsewhere it is "", an empty list, or a number that is neither less than, equal to nor greater than any other`, `form.version != nil and semver(form.version, "< 2.0.0")`},
		{"tables.<name>", "mapping of texts to texts, numbers, true and false, or lists of texts", `a table; tables.name[key] is "", 0, false or an empty list for a missing key; keys are case-sensitive`, `any(form.area, # in tables.area_of and tables.area_of[#] != "")`},
	}
	return slices.Concat(lookedUpNames("author"), lookedUpNames("contrib"), lookedUpNames("memory"), declared)
}

func ownFunctions() []Name {
	return []Name{
		{"label", "(name) true or false", "whether the issue has the label, in any case", `label("kind/bug")`},
		{"any_label", "(pattern, ...) true or false", `whether any label matches any pattern, in any case; "*" stands for any characters, and all others for themselves`, `not any_label("kind/*", "area/*")`},
		{"command", "(name) true or false", `whether the event's comment, written by the actor, has a line "/foreman name", outside quotes and code; test actor.permission as well. command(name).args is the list of the words after the name, see [Commands](commands.md)`, `command("triage") and actor.association == "MEMBER"`},
		{"issue_number", "(text) whole number", `the issue of this repository that a text refers to, as "12", "#12", "owner/repo#12" or its address; 0 for any other text`, `issue_number("#12") == 12`},
		{"semver", "(version, constraint) true or false", `whether a version is within the constraint: <, <=, >, >=, =, !=, ^ and ~, with commas or spaces for "and" and || for "or"; false for a text that is no version, and for the constraint ""`, `semver(form.version, ">= 1.2.0, < 2.0.0 || ^3.1")`},
		{"duration", "(text) duration", "a length of time in w, d, h, m, s, ms, us and ns; a day is 24 hours", `now - issue.created_at > duration("1w2d12h")`},
		{"join", "(list, separator) text", "the texts of a list, joined into one; without a separator, nothing is put between them", `join(issue.labels, ", ") contains "bug"`},
		{"string", "(value) text", `a number, or true or false, as text`, `string(issue.number) endsWith "00"`},
	}
}

func pastFunctions() []Name {
	return []Name{
		{"label_age", "(name) duration", "how long the issue has had a label; 0 without the label; for a renamed label see [Renamed labels](renamed-labels.md)", `label_age("needs-info") > duration("14d")`},
		{"idle", "() duration", `how long ago a person did something on the issue; programs are ignored; idle("bots") includes all programs except Foreman; idle("comments") counts only comments of people`, `idle() > duration("60d")`},
		{"last_human", "() person", "the person who changed it last: .login, and the time .at; its author if there was no change", `last_human().login != issue.author`},
		{"added_by_us", "(label) true or false", "whether Foreman added the label last, even if it was removed since", `added_by_us(event.label)`},
		{"removed_by_human", "(label) true or false", "whether a person removed the label, and it was not added since", `not removed_by_human("duplicate")`},
		{"any_file", "(glob, ...) true or false", `whether the pull request changes a file that matches any glob; "*" stays within a folder, "**" crosses folders; case-sensitive`, `any_file("src/**", "*.go")`},
		{"all_files", "(glob, ...) true or false", "whether it changes files, and all of them match any glob", `all_files("docs/**", "**/*.md")`},
		{"matches_glob", "(path, glob, ...) true or false", "whether a path matches any glob, as in any_file; for several conditions on one file", `any(pr.files, matches_glob(#, "src/**") and not matches_glob(#, "src/gen/**"))`},
		{"similar", "(text, text) number", "the share of the words of two texts that are in both, from 0 to 1; words of one or two letters do not count; in Chinese, Japanese, Thai, Lao, Khmer and Burmese each pair of neighbouring characters is a word", `similar(issue.title, "how do I install this") > 0.6`},
	}
}

func listFunctions() []Name {
	return []Name{
		{"all", "(list, condition) true or false", "whether the condition is true for every item, which is written #", `all(issue.labels, # startsWith "area/")`},
		{"any", "(list, condition) true or false", "whether the condition is true for at least one item", `any(issue.labels, # startsWith "area/")`},
		{"none", "(list, condition) true or false", "whether the condition is true for no item", `none(issue.labels, # startsWith "area/")`},
		{"one", "(list, condition) true or false", "whether the condition is true for exactly one item", `one(issue.labels, # startsWith "area/")`},
		{"filter", "(list, condition) list", "the items for which the condition is true", `len(filter(issue.labels, # endsWith "!")) > 1`},
		{"map", "(list, expression) list", "the expression's value for each item", `"area/net" in map(form.area, tables.area_of[#])`},
		{"count", "(list, condition) whole number", "the number of items for which the condition is true", `count(issue.labels, # startsWith "area/") > 1`},
		{"find", "(list, condition) value", "the first item for which the condition is true; nil if there is none", `find(issue.labels, # startsWith "area/") != nil`},
		{"findLast", "(list, condition) value", "the last item for which the condition is true; nil if there is none", `findLast(issue.labels, # startsWith "area/") != nil`},
		{"findIndex", "(list, condition) whole number", "the index of the first item for which the condition is true, from 0; nil if there is none", `(findIndex(issue.labels, # == "bug") ?? -1) == 0`},
		{"findLastIndex", "(list, condition) whole number", "the index of the last item for which the condition is true, from 0; nil if there is none", `(findLastIndex(issue.labels, # == "bug") ?? -1) == 0`},
		{"first", "(list) value", "the first item; nil for an empty list", `(first(form.area) ?? "") == "CLI"`},
		{"last", "(list) value", "the last item; nil for an empty list", `(last(form.area) ?? "") == "CLI"`},
		{"take", "(list, n) list", "the first n items", `"CLI" in take(form.area, 3)`},
		{"reverse", "(list) list", "in reverse order", `(first(reverse(form.area)) ?? "") == "CLI"`},
		{"uniq", "(list) list", "each item once", `len(uniq(form.area)) == len(form.area)`},
		{"sort", "(list) list", "sorted", `(first(sort(form.area)) ?? "") == "CLI"`},
		{"sum", "(list) number", "the sum of numbers", `sum(map(form.area, len(#))) > 100`},
		{"len", "(list or text) whole number", "how many items or characters", `len(issue.body) < 50`},
	}
}

func valueFunctions() []Name {
	return []Name{
		{"lower", "(text) text", "in lower case", `lower(issue.title) contains "panic"`},
		{"upper", "(text) text", "in upper case", `upper(issue.title) == issue.title`},
		{"trim", "(text) text", "without spaces and line breaks at both ends", `trim(issue.body) == ""`},
		{"trimPrefix", "(text, prefix) text", "the text without that prefix", `trimPrefix(issue.title, "[Bug]") == ""`},
		{"trimSuffix", "(text, suffix) text", "the text without that suffix", `trimSuffix(issue.title, "?") == ""`},
		{"hasPrefix", "(text, prefix) true or false", "whether it begins with another; like startsWith", `hasPrefix(issue.title, "[Bug]")`},
		{"hasSuffix", "(text, suffix) true or false", "whether it ends with another; like endsWith", `hasSuffix(issue.title, "?")`},
		{"indexOf", "(text, part) whole number", "the index of the first occurrence of a part, in characters from 0; -1 if there is none", `indexOf(issue.body, "panic") >= 0`},
		{"lastIndexOf", "(text, part) whole number", "the index of the last occurrence, in characters from 0; -1 if there is none", `lastIndexOf(issue.body, "panic") > 0`},
		{"abs", "(number) number", "without its sign", `abs(form.count) < 10`},
		{"ceil", "(number) number", "rounded up", `ceil(form.count) == 3`},
		{"floor", "(number) number", "rounded down", `floor(form.count) == 3`},
		{"round", "(number) number", "rounded to the nearest", `round(form.count) == 3`},
		{"max", "(number, ...) number", "the largest", `max(issue.comments, 3) == 3`},
		{"min", "(number, ...) number", "the smallest", `min(issue.comments, 3) == 3`},
		{"int", "(text or number) whole number", "read from a text, or without its fraction", `int("7") < issue.number`},
		{"float", "(text or number) number", "read from a text", `float("2.5") < form.count`},
		{"date", "(text) time", "a date, or a date with a time", `issue.created_at > date("2026-01-02")`},
	}
}
