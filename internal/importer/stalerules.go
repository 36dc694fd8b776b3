package importer

import (
	"math"
	"regexp"
	"strconv"
	"strings"
)

// span writes a number of days as a duration.
func span(days float64) string {
	switch minutes := math.Ceil(days * 24 * 60); {
	case days == math.Trunc(days):
		return strconv.FormatFloat(days, 'f', 0, 64) + "d"
	case math.Mod(minutes, 60) == 0:
		return strconv.FormatFloat(minutes/60, 'f', 0, 64) + "h"
	default:
		return strconv.FormatFloat(minutes, 'f', 0, 64) + "m"
	}
}

// staleRules returns the rules for "issue" or "pr": mark, unmark, clean up after
// reopening, and close. One that is not needed has no actions.
func staleRules(in *inputs, kind string) []lasting {
	label := in.label("Stale", "stale-"+kind+"-label")
	stale := is(call("label", label))
	exempt := exempt(in, kind)
	mark := lasting{rule: rule{name: "stale", on: []string{"schedule"}}}
	mark.scan = scan(in, kind, search("-label", label))
	if days := in.days(60, "days-before-"+kind+"-stale", "days-before-stale"); days >= 0 {
		since := is(`idle() > duration("` + span(days) + `")`)
		if in.on("ignore-"+kind+"-updates", "ignore-updates") {
			since = is(`now - issue.created_at > duration("` + span(days) + `")`)
		}
		mark.when = all(not(stale), exempt, since)
		mark.comment = in.message("stale-" + kind + "-message")
		mark.then = append([]act{do("add_label", template(label))}, in.each("remove_label", "labels-to-remove-when-stale")...)
	}
	shut := closing(in, kind, label, exempt)
	if len(mark.then)+len(shut.then) == 0 {
		return []lasting{mark, mark, mark, shut} // this kind is left alone
	}
	return []lasting{mark, unmark(in, kind, label), reopened(in, kind), shut}
}

// scan returns the search of a scheduled rule: what cannot be put into it is asked in the
// condition all the same.
func scan(in *inputs, kind, label string) string {
	scan := "is:open is:" + kind + label
	for _, name := range in.words("only-"+kind+"-labels", "only-labels") {
		if part := search("label", name); len([]rune(scan+part)) < 200 {
			scan += part
		}
	}
	return scan
}

// exempt returns the conditions that keep issues from being looked at.
func exempt(in *inputs, kind string) term {
	terms := []term{is("not issue.locked")}
	for _, name := range in.words("only-"+kind+"-labels", "only-labels") {
		terms = append(terms, is(call("label", name)))
	}
	terms = append(terms, hasLabel(in.words("any-of-"+kind+"-labels", "any-of-labels")), not(hasLabel(in.words("exempt-"+kind+"-labels"))))
	switch milestones := in.words("exempt-"+kind+"-milestones", "exempt-milestones"); {
	case in.on("exempt-all-"+kind+"-milestones", "exempt-all-milestones"):
		terms = append(terms, is(`issue.milestone == ""`))
	case len(milestones) > 0:
		terms = append(terms, is("not (issue.milestone in "+list(milestones)+")"))
	}
	switch people := in.words("exempt-"+kind+"-assignees", "exempt-assignees"); {
	case in.on("exempt-all-"+kind+"-assignees", "exempt-all-assignees"):
		terms = append(terms, is("len(issue.assignees) == 0"))
	case len(people) > 0:
		terms = append(terms, is("none(issue.assignees, # in "+list(people)+")"))
	}
	if in.on("include-only-assigned") {
		terms = append(terms, is("len(issue.assignees) > 0"))
	}
	if types := in.words("only-issue-types"); kind == "issue" && len(types) > 0 {
		for i := range types {
			types[i] = strings.ToLower(types[i])
		}
		terms = append(terms, is("lower(issue.type) in "+list(types)))
	}
	if kind == "pr" && in.on("exempt-draft-pr") {
		terms = append(terms, is("not pr.draft"))
	}
	if text, n := in.get("start-date"); n != nil {
		date, ok := parseTime(text)
		if !ok {
			in.mistake(n, "start-date: want a date such as 2026-01-31, got %s", quoted(text))
		}
		terms = append(terms, is(`issue.created_at > date("`+date+`")`))
	}
	return all(terms...)
}

// unmark returns the rule that takes the label off when a person does something.
func unmark(in *inputs, kind, label string) lasting {
	r := lasting{rule: rule{name: "no-longer-stale", on: activity(kind)}, kind: which(kind)}
	text, n := in.get("remove-"+kind+"-stale-when-updated", "remove-stale-when-updated")
	if n != nil && text == "false" {
		return r
	}
	r.when = all(is(call("label", label)), is(`actor.type != "Bot"`))
	r.then = append([]act{do("remove_label", template(label))}, in.each("remove_label", "labels-to-remove-when-unstale")...)
	r.then = append(r.then, in.each("add_label", "labels-to-add-when-unstale")...)
	return r
}

// activity lists the events that show that somebody cares.
func activity(kind string) []string {
	if kind == "pr" {
		return []string{"issue_comment.created", "pull_request.edited", "pull_request.synchronize", "pull_request.reopened"}
	}
	return []string{"issue_comment.created", "issues.edited", "issues.reopened"}
}

// which returns the condition for issues or for pull requests, which share the event
// issue_comment.
func which(kind string) term {
	t := is("issue.url matches `/pull/[0-9]+$`")
	if kind == "issue" {
		t = not(is("(" + t.text + ")"))
	}
	return t
}

// reopened returns the rule that takes the label of closed issues off again.
func reopened(in *inputs, kind string) lasting {
	r := lasting{rule: rule{name: "reopened", on: []string{"issues.reopened"}}}
	if kind == "pr" {
		r.on = []string{"pull_request.reopened"}
	}
	if label := in.label("", "close-"+kind+"-label"); label != "" {
		r.when = is(call("label", label))
		r.then = []act{do("remove_label", template(label))}
	}
	return r
}

// closing returns the rule that closes what stayed stale.
func closing(in *inputs, kind, label string, exempt term) lasting {
	r := lasting{rule: rule{name: "close-stale", on: []string{"schedule"}, scan: scan(in, kind, search("label", label))}}
	days := math.Trunc(in.days(7, "days-before-"+kind+"-close", "days-before-close"))
	if days < 0 {
		return r
	}
	if search("label", label) == "" {
		in.add(lost(in.at("stale-"+kind+"-label"), "the search cannot ask for the label %s, so nothing is closed", quoted(label)))
		return r
	}
	r.soon = days < 2
	age := call("label_age", label)
	r.when = all(is(call("label", label)), exempt, is(age+` > duration("`+span(days)+`")`), is("idle() >= "+age))
	r.comment = in.message("close-" + kind + "-message")
	if name := in.label("", "close-"+kind+"-label"); name != "" {
		r.then = append(r.then, do("add_label", template(name)))
	}
	reason, n := in.get("close-issue-reason")
	switch {
	case in.at("close-issue-reason") == nil:
		reason = "not_planned"
	case reason != "" && reason != "completed" && reason != "not_planned":
		in.mistake(n, "close-issue-reason: want completed or not_planned, got %s", quoted(reason))
	}
	r.then = append(r.then, do("close_issue", reason))
	return r
}

// simpleWord is a word that GitHub's search needs no quotes for.
var simpleWord = regexp.MustCompile(`^[A-Za-z0-9_./-]+$`)

// search writes a qualifier of GitHub's search; it is empty for a value that the search
// cannot take.
func search(qualifier, value string) string {
	switch {
	case simpleWord.MatchString(value):
		return " " + qualifier + ":" + value
	case strings.ContainsFunc(value, notPrinted), strings.ContainsAny(value, `"\`):
		return ""
	}
	return " " + qualifier + `:"` + value + `"`
}
