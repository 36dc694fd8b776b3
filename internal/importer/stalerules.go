package importer

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/importer/staleversions"
	"github.com/org/foreman-action/internal/othertools"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/internal/yamlfile"
)

// span returns a number of days as a duration.
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

// sinceUpdate is the time since the last change of any kind, which is what actions/stale compares.
const sinceUpdate = "now - issue.updated_at"

// staleRules returns four rules for "issue" or "pr": mark, unmark, clean up after reopening, and
// close. A rule that is not needed has no actions.
func staleRules(in *inputs, kind string) []lasting {
	label := in.label("Stale", "stale-"+kind+"-label")
	skip := exempt(in, kind)
	mark, shut := marking(in, kind, label, skip.none()), closing(in, kind, label, skip.none())
	many := map[string]string{"issue": "issues", "pr": "pull requests"}[kind]
	if in.message("stale-"+kind+"-message") == "" && staleversions.NeedsMessage(in.source.version, in.marks(kind) >= 0) {
		in.add(lost(in.source.use.Step, "no rules for %s, because actions/stale before version 4 skips them without stale-%s-message", many, kind))
		return make([]lasting, 4)
	}
	if len(mark.then)+len(shut.then) == 0 {
		in.add(lost(in.nearest("days-before-"+kind+"-stale", "days-before-stale"),
			"no rules for %s, which are neither marked nor closed; actions/stale still removes the label %s that somebody else added", many, quoted(label)))
		return make([]lasting, 4)
	}
	if in.closes(kind) == 0 && len(mark.then) > 0 && len(shut.then) > 0 && staleversions.Unmarks(in.source.version) { // in the same run
		if shut.comment != "" {
			mark.then = append(mark.then, do("comment", shut.comment))
		}
		mark.then, mark.soon = append(mark.then, shut.then...), true
	}
	return []lasting{mark, unmark(in, kind, label, skip), reopened(in, kind), shut}
}

// closes returns the number of days after which stale issues or pull requests are closed; negative:
// never.
func (in *inputs) closes(kind string) float64 {
	return math.Trunc(in.days(7, "days-before-"+kind+"-close", "days-before-close"))
}

// nearest returns the first of the inputs that is given, or else the node of the step.
func (in *inputs) nearest(names ...string) *yaml.Node {
	for _, name := range names {
		if n := in.at(name); !yamlfile.IsNull(n) {
			return n
		}
	}
	return in.source.use.Step
}

// marks returns the number of days after which issues or pull requests are marked; negative: never.
func (in *inputs) marks(kind string) float64 {
	days := in.days(60, "days-before-"+kind+"-stale", "days-before-stale")
	if !staleversions.ParsesFractions(in.source.version) {
		return math.Trunc(days)
	}
	return days
}

// marking returns the rule that adds the label to issues without activity.
func marking(in *inputs, kind, label string, free term) lasting {
	r := lastingRule("stale", kind, scan(in, kind, search("-label", label)))
	days := in.marks(kind)
	if days < 0 {
		return r
	}
	since := is(sinceUpdate + ` > duration("` + span(days) + `")`)
	if r.comment = in.message("stale-" + kind + "-message"); in.on("skip-stale-" + kind + "-message") {
		r.comment = ""
	}
	if in.on("ignore-"+kind+"-updates", "ignore-updates") {
		since = is(`now - issue.created_at > duration("` + span(days) + `")`)
		if r.once = r.comment != ""; r.once {
			in.add(lost(in.at("stale-"+kind+"-message"), "with ignore-updates, actions/stale posts this message again after each removal of the label; Foreman posts it once"))
		}
	}
	r.when = all(not(labeled(label)), free, since)
	r.then = append([]act{do("add_label", template(label))}, in.each("remove_label", "labels-to-remove-when-stale")...)
	return r
}

// lastingRule returns a rule for scheduled runs. It overrides people, as actions/stale does.
func lastingRule(name, kind, scan string) lasting {
	return lasting{rule: rule{name: name, pull: kind == "pr", on: []string{"schedule"}, scans: []string{scan}, override: true}}
}

// scan returns the search of a scheduled rule. Requirements that the search cannot express are
// still part of the rule's condition.
func scan(in *inputs, kind, label string) string {
	scan := "is:open is:" + kind + label
	for _, spellings := range in.names("only-"+kind+"-labels", "only-labels") {
		if part := search("label", spellings[0]); len(spellings) == 1 && len([]rune(scan+part)) < 200 {
			scan += part
		}
	}
	return scan
}

// An exemption describes which issues the rules may change.
type exemption struct {
	open   term // must be true before labels are checked
	labels term // true if the issue has an exempt label
	rest   term // further requirements
}

// none returns the condition that the issue is not exempt.
func (e exemption) none() term { return all(e.open, not(e.labels), e.rest) }

// exempt returns the exemption that the inputs describe.
func exempt(in *inputs, kind string) exemption {
	e := exemption{labels: hasLabel(slices.Concat(in.names("exempt-" + kind + "-labels")...))}
	if one, n := in.get("exempt-" + kind + "-label"); n != nil {
		e.labels = hasLabel(in.spellings(one, "exempt-"+kind+"-label"))
	}
	var terms []term
	if staleversions.Unmarks(in.source.version) {
		terms = append(terms, is("not issue.locked"))
	}
	for _, spellings := range in.names("only-"+kind+"-labels", "only-labels") {
		terms = append(terms, hasLabel(spellings))
	}
	if in.on("include-only-assigned") {
		terms = append(terms, is("len(issue.assignees) > 0"))
	}
	switch types := in.words("only-issue-types"); {
	case len(types) == 0:
	case kind == "issue":
		terms = append(terms, is("lower(issue.type) in "+list(each(types, strings.ToLower))))
	default:
		in.add(lost(in.at("only-issue-types"), "up to version 10.3, actions/stale skips all pull requests if this input is set; Foreman does not"))
	}
	if text, n := in.get("start-date"); n != nil {
		date, ok := parseTime(text)
		if !ok {
			in.mistake(n, "start-date: want a date such as 2026-01-31, got %s", quoted(text))
		}
		terms = append(terms, is(`issue.created_at > date("`+date.Format(time.RFC3339)+`")`))
	}
	e.open = all(terms...)
	terms = []term{hasLabel(slices.Concat(in.names("any-of-"+kind+"-labels", "any-of-labels")...))}
	switch milestones := slices.Concat(in.names("exempt-"+kind+"-milestones", "exempt-milestones")...); {
	case in.on("exempt-all-"+kind+"-milestones", "exempt-all-milestones"):
		terms = append(terms, is(`issue.milestone == ""`))
	case len(milestones) > 0:
		terms = append(terms, is("not (lower(issue.milestone) in "+list(each(milestones, strings.ToLower))+")"))
	}
	switch people := in.words("exempt-"+kind+"-assignees", "exempt-assignees"); {
	case in.on("exempt-all-"+kind+"-assignees", "exempt-all-assignees"):
		terms = append(terms, is("len(issue.assignees) == 0"))
	case len(people) > 0:
		terms = append(terms, is("none(issue.assignees, lower(#) in "+list(each(people, staleversions.Plain))+")"))
	}
	if kind == "pr" && in.on("exempt-draft-pr") {
		terms = append(terms, is("not pr.draft"))
	}
	e.rest = all(terms...)
	return e
}

// each returns the texts in the form that actions/stale compares. All versions with names of people
// ignore accents, and no login has any.
func each(texts []string, form func(string) string) []string {
	out := make([]string, len(texts))
	for i, s := range texts {
		out[i] = form(s)
	}
	return out
}

// moment is how long after adding the label a change still counts as actions/stale's own. Within
// that time actions/stale treats the two times as equal.
const moment = ` + duration("15s")`

// unmark returns the rule that removes the label after a change. Some changes trigger it at once.
// The next scheduled run finds all others.
func unmark(in *inputs, kind, label string, skip exemption) lasting {
	r := lastingRule("no-longer-stale", kind, scan(in, kind, search("label", label)))
	if search("label", label) == "" || !staleversions.Unmarks(in.source.version) {
		return r
	}
	var why []term
	if staleversions.UnmarksExempt(in.source.version) && !skip.labels.empty() {
		why = append(why, skip.labels)
	}
	events := activity(kind)
	if staleversions.OnlyComments(in.source.version) { // and an exempt label
		events = slices.DeleteFunc(events, func(e string) bool {
			return e != "issue_comment.created" && (len(why) == 0 || !strings.HasSuffix(e, ".labeled"))
		})
	}
	if stays(in, kind) == nil {
		free := []term{not(skip.labels), skip.rest}
		if len(why) > 0 {
			free = free[1:]
		}
		active := is(call("label_age", label) + " > " + sinceUpdate + moment)
		if staleversions.OnlyComments(in.source.version) {
			active = is(call("label_age", label) + ` > idle("comments")`)
		}
		active.sample.active = true
		why = append(why, all(append(free, active)...))
		in.sooner(kind)
	}
	if len(why) == 0 {
		return r
	}
	r.on = append(r.on, events...)
	r.kind = which(kind)
	r.when = all(labeled(label), is(`issue.state == "open"`), skip.open, some(why...))
	r.then = append([]act{do("remove_label", template(label))}, in.each("remove_label", "labels-to-remove-when-unstale")...)
	r.then = append(r.then, in.each("add_label", "labels-to-add-when-unstale")...)
	return r
}

// sooner reports that the label is removed at another time than by actions/stale.
func (in *inputs) sooner(kind string) {
	at := in.nearest("remove-"+kind+"-stale-when-updated", "remove-stale-when-updated")
	in.add(lost(at, "Foreman removes the label at once; actions/stale removes it in its next run, and that counts as an update"))
}

// stays returns the input that keeps the label in spite of changes, or nil if the label is removed.
func stays(in *inputs, kind string) *yaml.Node {
	text, n := in.get("remove-"+kind+"-stale-when-updated", "remove-stale-when-updated")
	if text != "false" {
		return nil
	}
	return n
}

// activity returns the events of people's activity on an issue or pull request. The next scheduled
// run finds all other changes.
func activity(kind string) []string {
	events := []string{"issue_comment.created"}
	name, activities := "issues.", []string{"edited", "reopened", "assigned", "labeled"}
	if kind == "pr" {
		name, activities = "pull_request.", append(activities, "synchronize", "review_requested")
	}
	for _, activity := range activities {
		events = append(events, name+activity)
	}
	return events
}

// which returns the condition that separates issues from pull requests, because the event
// issue_comment occurs for both.
func which(kind string) term {
	if kind == "issue" {
		return is("not issue.pull_request")
	}
	return is("issue.pull_request").needs(othertools.Example{Pull: true})
}

// reopened returns the rule that removes the label of closed issues from a reopened issue.
func reopened(in *inputs, kind string) lasting {
	label := in.label("", "close-"+kind+"-label")
	r := lastingRule("reopened", kind, scan(in, kind, search("label", label)))
	if label == "" || search("label", label) == "" || !staleversions.UnmarksReopened(in.source.version) {
		return r
	}
	r.on = append(r.on, map[string]string{"issue": "issues.reopened", "pr": "pull_request.reopened"}[kind])
	r.when = all(labeled(label), is("not issue.locked"))
	r.then = []act{do("remove_label", template(label))}
	return r
}

// closing returns the rule that closes issues that are still stale.
func closing(in *inputs, kind, label string, free term) lasting {
	r := lastingRule("close-stale", kind, scan(in, kind, search("label", label)))
	days, reason := in.closes(kind), in.closeReason()
	if days < 0 {
		if text, _ := in.get("days-before-close"); !staleversions.ClosesNever(in.source.version) && strings.HasPrefix(text, "-") {
			in.add(lost(in.at("days-before-close"), "version 1 of actions/stale closes at once for a negative number of days, so no rule closes anything"))
		}
		return r
	}
	if search("label", label) == "" {
		in.add(lost(in.at("stale-"+kind+"-label"), "GitHub's search cannot express the label %s, so no rule closes anything", quoted(label)))
		return r
	}
	r.soon = days < 2
	age, long := call("label_age", label), ` > duration("`+span(days)+`")`
	r.when = all(labeled(label), free)
	switch {
	case !staleversions.Unmarks(in.source.version):
		r.when = all(r.when, is(sinceUpdate+long))
	case staleversions.OnlyComments(in.source.version), stays(in, kind) != nil:
		r.when = all(r.when, is(sinceUpdate+long), is(age+` <= idle("comments")`))
	case days == 0:
		r.when = all(r.when, is(age+" <= "+sinceUpdate+moment))
	default:
		r.when = all(r.when, is(age+long), is(age+" <= "+sinceUpdate+moment))
	}
	r.comment = in.message("close-" + kind + "-message")
	if name := in.label("", "close-"+kind+"-label"); name != "" {
		r.then = append(r.then, do("add_label", template(name)))
	}
	r.then = append(r.then, do("close_issue", reason))
	return r
}

// closeReason returns the reason for closing. Old versions of actions/stale set no reason, and
// GitHub then uses "completed".
func (in *inputs) closeReason() string {
	reason, n := in.get("close-issue-reason")
	given := in.at("close-issue-reason") != nil
	switch {
	case in.source.version.Before(6, 0, 0) && reason == "":
		return "completed"
	case !given:
		return "not_planned"
	case reason != "" && reason != "completed" && reason != "not_planned":
		in.mistake(n, "close-issue-reason: want completed or not_planned, got %s", quoted(reason))
	}
	return reason
}

// simpleWord matches a word that needs no quotes in GitHub's search.
var simpleWord = text.Regexp(`^[A-Za-z0-9_./-]+$`)

// search returns a qualifier of GitHub's search, or "" for a value that a search cannot express.
func search(qualifier, value string) string {
	switch {
	case simpleWord().MatchString(value):
		return " " + qualifier + ":" + value
	case strings.ContainsFunc(value, notPrinted), strings.ContainsAny(value, `"\`):
		return ""
	}
	return " " + qualifier + `:"` + value + `"`
}
