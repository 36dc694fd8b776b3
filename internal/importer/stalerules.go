package importer

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/strictyaml"
)

// staleInputs are the inputs of actions/stale.
func staleInputs() []string {
	return strings.Fields(`repo-token stale-issue-message stale-pr-message close-issue-message close-pr-message
		days-before-stale days-before-issue-stale days-before-pr-stale days-before-close days-before-issue-close
		days-before-pr-close stale-issue-label close-issue-label exempt-issue-labels close-issue-reason stale-pr-label
		close-pr-label exempt-pr-labels exempt-milestones exempt-issue-milestones exempt-pr-milestones
		exempt-all-milestones exempt-all-issue-milestones exempt-all-pr-milestones only-labels any-of-labels
		any-of-issue-labels any-of-pr-labels only-issue-labels only-pr-labels operations-per-run
		remove-stale-when-updated remove-issue-stale-when-updated remove-pr-stale-when-updated debug-only ascending
		sort-by delete-branch start-date exempt-assignees exempt-issue-assignees exempt-pr-assignees
		exempt-all-assignees exempt-all-issue-assignees exempt-all-pr-assignees exempt-draft-pr enable-statistics
		labels-to-add-when-unstale labels-to-remove-when-stale labels-to-remove-when-unstale ignore-updates
		ignore-issue-updates ignore-pr-updates include-only-assigned only-issue-types`)
}

// report notes the inputs that have no counterpart.
func (in inputs) report(with *yaml.Node) {
	without := map[string]string{
		"operations-per-run": "a scheduled run has bounds of its own; policy.max_writes_per_hour bounds the writes to one issue",
		"ascending":          "the order in which issues are looked at cannot be chosen",
		"sort-by":            "the order in which issues are looked at cannot be chosen",
		"delete-branch":      "branches are not deleted",
	}
	for _, p := range pairsOf(with) {
		key := p.key.Value
		switch reason := without[key]; {
		case !slices.Contains(staleInputs(), key):
			in.note(p.key, "unknown input %s%s", quoted(key), strictyaml.DidYouMean(key, staleInputs()))
		case reason != "" && !strings.EqualFold(p.value.Value, "false"):
			in.note(p.key, "%s: %s", key, reason)
		}
	}
}

// days reads a number of days; negative means never.
func (in inputs) days(otherwise float64, names ...string) float64 {
	text, n := in.get(names...)
	if n == nil {
		return otherwise
	}
	days, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(days) || days > 36_500 {
		in.problem(n, "want a number of days of at most 36500, got %s", quoted(text))
		return otherwise
	}
	return days
}

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

// rules returns the rules for "issue" or "pr": mark, unmark, clean up after reopening and
// close. One that is not needed has no actions.
func (in inputs) rules(kind string) []lasting {
	label := in.label("Stale", "stale-"+kind+"-label")
	stale := is(call("label", label))
	exempt := in.exempt(kind)
	mark := lasting{rule: rule{id: "stale", on: []string{"schedule"}}}
	mark.scan = in.scan(kind, search("-label", label))
	if days := in.days(60, "days-before-"+kind+"-stale", "days-before-stale"); days >= 0 {
		since := is(`idle() > duration("` + span(days) + `")`)
		if in.on("ignore-"+kind+"-updates", "ignore-updates") {
			since = is(`now - issue.created_at > duration("` + span(days) + `")`)
		}
		mark.when = all(not(stale), exempt, since)
		mark.comment = in.message("stale-" + kind + "-message")
		mark.then = append([]act{do("add_label", template(label))}, in.each("remove_label", "labels-to-remove-when-stale")...)
	}
	shut := in.close(kind, label, exempt)
	if len(mark.then)+len(shut.then) == 0 {
		return []lasting{mark, mark, mark, shut} // this kind is left alone
	}
	return []lasting{mark, in.unmark(kind, label), in.reopened(kind), shut}
}

// repository is how a workflow writes the name of its repository, as template leaves it.
var repository = regexp.MustCompile(`\$\{\{ "\{\{" \}\}\s*github\.repository\s*\}\}`)

// message returns the text of a comment.
func (in inputs) message(name string) string {
	n := strictyaml.Child(in.source.with, name)
	switch {
	case isNull(n):
		return ""
	case n.Kind != yaml.ScalarNode:
		in.problem(n, "%s: want a text, got %s", name, strictyaml.Kind(n))
		return ""
	case len(n.Value) > maxComment:
		in.note(n, "%s: a comment of more than %d bytes", name, maxComment)
		return ""
	}
	text := repository.ReplaceAllLiteralString(template(strings.TrimSpace(n.Value)), "{{ repo.full_name }}")
	if strings.Contains(text, "${{") {
		in.note(n, "%s: what the workflow computes stays as it is written", name)
	}
	return text
}

// label returns the name of a label.
func (in inputs) label(otherwise, input string) string {
	text, n := in.get(input)
	if n == nil {
		return otherwise
	}
	if name, ok := in.labelName(n, text); ok {
		return name
	}
	return otherwise
}

// each returns an action for every label of an input.
func (in inputs) each(action, input string) []act {
	var out []act
	for _, word := range in.words(input) {
		if name, ok := in.labelName(strictyaml.Child(in.source.with, input), word); ok {
			out = append(out, do(action, template(name)))
		}
	}
	return out
}

// scan returns the search of a scheduled rule: what cannot be put into it is asked in the
// condition all the same.
func (in inputs) scan(kind, label string) string {
	scan := "is:open is:" + kind + label
	for _, name := range in.words("only-"+kind+"-labels", "only-labels") {
		if part := search("label", name); len([]rune(scan+part)) < 200 {
			scan += part
		}
	}
	return scan
}

// exempt returns the conditions that keep issues from being looked at.
func (in inputs) exempt(kind string) term {
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
		date, ok := when(text)
		if !ok {
			in.problem(n, "start-date: want a date such as 2026-01-31, got %s", quoted(text))
		}
		terms = append(terms, is(`issue.created_at > date("`+date+`")`))
	}
	return all(terms...)
}

// unmark returns the rule that takes the label off when a person does something.
func (in inputs) unmark(kind, label string) lasting {
	r := lasting{rule: rule{id: "no-longer-stale", on: activity(kind)}, kind: which(kind)}
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

// which returns the condition that tells issues from pull requests, which share the event
// issue_comment.
func which(kind string) term {
	t := is("issue.url matches `/pull/[0-9]+$`")
	if kind == "issue" {
		t = not(is("(" + t.text + ")"))
	}
	return t
}

// reopened returns the rule that takes the label of closed issues off again.
func (in inputs) reopened(kind string) lasting {
	r := lasting{rule: rule{id: "reopened", on: []string{"issues.reopened"}}}
	if kind == "pr" {
		r.on = []string{"pull_request.reopened"}
	}
	if label := in.label("", "close-"+kind+"-label"); label != "" {
		r.when = is(call("label", label))
		r.then = []act{do("remove_label", template(label))}
	}
	return r
}

// close returns the rule that closes what stayed stale.
func (in inputs) close(kind, label string, exempt term) lasting {
	r := lasting{rule: rule{id: "close-stale", on: []string{"schedule"}, scan: in.scan(kind, search("label", label))}}
	days := math.Trunc(in.days(7, "days-before-"+kind+"-close", "days-before-close"))
	if days < 0 {
		return r
	}
	if search("label", label) == "" {
		in.note(strictyaml.Child(in.source.with, "stale-"+kind+"-label"), "the search cannot ask for the label %s, so nothing is closed", quoted(label))
		return r
	}
	in.policy.interval = in.policy.interval || days < 2
	age := call("label_age", label)
	r.when = all(is(call("label", label)), exempt, is(age+` > duration("`+span(days)+`")`), is("idle() >= "+age))
	r.comment = in.message("close-" + kind + "-message")
	if name := in.label("", "close-"+kind+"-label"); name != "" {
		r.then = append(r.then, do("add_label", template(name)))
	}
	reason, n := in.get("close-issue-reason")
	switch {
	case strictyaml.Child(in.source.with, "close-issue-reason") == nil:
		reason = "not_planned"
	case reason != "" && reason != "completed" && reason != "not_planned":
		in.problem(n, "close-issue-reason: want completed or not_planned, got %s", quoted(reason))
	}
	r.then = append(r.then, do("close_issue", reason))
	return r
}
