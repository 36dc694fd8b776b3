package importer

import (
	"math"
	"regexp"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
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
	mark := lastingRule("stale", scan(in, kind, search("-label", label)))
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
		many := map[string]string{"issue": "Issues", "pr": "Pull requests"}[kind]
		in.add(general(many + " are left alone, as neither marking nor closing is on; actions/stale takes a label off that somebody else put on."))
		return []lasting{mark, mark, mark, shut}
	}
	return []lasting{mark, unmark(in, kind, label), reopened(in, kind), shut}
}

// lastingRule returns a rule of a scheduled run, which also changes what people did: so does
// the source.
func lastingRule(name, scan string) lasting {
	return lasting{rule: rule{name: name, on: []string{"schedule"}, scans: []string{scan}, override: true}}
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
		terms = append(terms, is("not (lower(issue.milestone) in "+list(lowered(milestones))+")"))
	}
	switch people := in.words("exempt-"+kind+"-assignees", "exempt-assignees"); {
	case in.on("exempt-all-"+kind+"-assignees", "exempt-all-assignees"):
		terms = append(terms, is("len(issue.assignees) == 0"))
	case len(people) > 0:
		terms = append(terms, is("none(issue.assignees, lower(#) in "+list(lowered(people))+")"))
	}
	if in.on("include-only-assigned") {
		terms = append(terms, is("len(issue.assignees) > 0"))
	}
	if types := in.words("only-issue-types"); kind == "issue" && len(types) > 0 {
		terms = append(terms, is("lower(issue.type) in "+list(lowered(types))))
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

// lowered returns the texts in lower case: the source takes no notice of case.
func lowered(texts []string) []string {
	out := make([]string, len(texts))
	for i, s := range texts {
		out[i] = strings.ToLower(s)
	}
	return out
}

// moment is how long after the label what people do belongs to it: the source takes times
// that are nearer for the same.
const moment = ` + duration("15s")`

// unmark returns the rule that takes the label off when a person did something since. The
// events only make it sooner: what was missed, the next scheduled run finds.
func unmark(in *inputs, kind, label string) lasting {
	r := lastingRule("no-longer-stale", scan(in, kind, search("label", label)))
	if stays(in, kind) != nil || search("label", label) == "" {
		return r
	}
	r.on = append(r.on, activity(kind)...)
	r.kind = which(kind)
	r.when = all(is(call("label", label)), is(`issue.state == "open"`), is("idle()"+moment+" < "+call("label_age", label)))
	r.then = append([]act{do("remove_label", template(label))}, in.each("remove_label", "labels-to-remove-when-unstale")...)
	r.then = append(r.then, in.each("add_label", "labels-to-add-when-unstale")...)
	return r
}

// stays returns the input by which the label stays whatever people do; nil: it goes.
func stays(in *inputs, kind string) *yaml.Node {
	text, n := in.get("remove-"+kind+"-stale-when-updated", "remove-stale-when-updated")
	if text != "false" {
		return nil
	}
	return n
}

// activity lists the events that show that somebody cares.
func activity(kind string) []string {
	if kind == "pr" {
		return []string{"issue_comment.created", "pull_request.*"}
	}
	return []string{"issue_comment.created", "issues.*"}
}

// which returns the condition for issues or for pull requests, which share the event
// issue_comment.
func which(kind string) term {
	if kind == "issue" {
		return is("not issue.pull_request")
	}
	return is("issue.pull_request")
}

// reopened returns the rule that takes the label of closed issues off an open one.
func reopened(in *inputs, kind string) lasting {
	label := in.label("", "close-"+kind+"-label")
	r := lastingRule("reopened", scan(in, kind, search("label", label)))
	if label == "" || search("label", label) == "" {
		return r
	}
	r.on = append(r.on, map[string]string{"issue": "issues.reopened", "pr": "pull_request.reopened"}[kind])
	r.when = is(call("label", label))
	r.then = []act{do("remove_label", template(label))}
	return r
}

// closing returns the rule that closes what stayed stale.
func closing(in *inputs, kind, label string, exempt term) lasting {
	r := lastingRule("close-stale", scan(in, kind, search("label", label)))
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
	long := ` > duration("` + span(days) + `")`
	r.when = all(is(call("label", label)), exempt, is(age+long))
	if n := stays(in, kind); n == nil {
		r.when = all(r.when, is("idle()"+moment+" >= "+age))
	} else {
		r.when = all(r.when, is("idle()"+long))
		in.add(lost(n, "the source never closes what a person commented on since it is stale; here it is closed %s after the last activity", span(days)))
	}
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
