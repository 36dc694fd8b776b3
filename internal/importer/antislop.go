package importer

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/importer/antislop"
	"github.com/org/foreman-action/internal/importer/workflow"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/internal/yamlfile"
)

// readAntiSlop reads a workflow that uses peakoss/anti-slop. The action counts the checks that fail,
// and acts if they are max-failures. So does the rule. A check without a counterpart counts as
// passed.
func readAntiSlop(doc document, _ step) reading {
	const action = "peakoss/anti-slop"
	steps := workflow.Uses(doc.root, action)
	switch {
	case len(steps) == 0:
		return mistaken(wrong(doc.root, "no step of this file uses %s; want a workflow that does", action))
	case len(steps) > maxSteps:
		return mistaken(wrong(steps[maxSteps].Step, "more than %d steps use %s", maxSteps, action))
	}
	var found findings
	var parts []part
	for _, u := range steps {
		s := step{use: u, with: yamlfile.Child(u.Step, "with"), names: []string{"pull_request"}}
		if yamlfile.IsNull(s.with) {
			s.with = nil
		} else if s.with.Kind != yaml.MappingNode {
			found = append(found, wrong(s.with, "with: want a mapping of inputs, got %s", yamlfile.Kind(s.with)))
			continue
		}
		found = append(found, s.versioned(u)...)
		found = append(found, s.others("github-token", antislop.Inputs()...)...)
		one := slopStep(s)
		one.name, one.from, one.to, one.comments = action, u.Step.Line, u.Step.Line, true
		parts = append(parts, one)
	}
	return reading{before: found, parts: slices.Values(parts), after: findings{
		general("Checks without a counterpart count as passed, so these rules act on fewer pull requests than " + action + "."),
		general("Foreman also sees the old path of a renamed file, and files and commits that a pull request to another branch has from the default branch; " + action + " does not."),
		general("Foreman counts a character such as an emoji once in the length of a text; " + action + " counts it twice."),
	}}
}

// A slop reads the inputs of one step that uses peakoss/anti-slop.
type slop struct {
	*inputs
	uses *yaml.Node

	checks  []slopCheck // the checks that are on
	without int         // number of checks that are on and have no counterpart
}

// A slopCheck is a check that is on.
type slopCheck struct {
	input string // for messages
	fails term   // true if the check fails
}

// slopStep returns the rules of one step.
func slopStep(from step) part {
	has := map[string]bool{}
	for _, name := range antislop.Inputs() {
		has[name] = true
	}
	uses := yamlfile.Child(from.use.Step, "uses")
	s := &slop{inputs: &inputs{source: from, wrong: map[*yaml.Node]bool{}, has: has}, uses: uses}
	on := from.use.Trigger(from.names).On()
	switch {
	case yamlfile.Child(from.use.Root, "on") == nil: // the steps of an action
		on = []string{"pull_request.opened", "pull_request.reopened"}
	case len(on) == 0:
		s.stop = true
		s.add(lost(uses, "the workflow does not listen to pull requests, so no rules were imported"))
	}
	switch v := from.version; {
	case v.Before(0, 2, 0):
		s.stop = true
		s.add(lost(uses, "before version 0.2, peakoss/anti-slop has other checks; no rules were imported. A newer version in the workflow can be imported"))
	case v.Known() && !v.Before(0, 3, 0):
		s.add(lost(uses, "since version 0.3, peakoss/anti-slop has more checks; those of version 0.2 were imported, with its defaults"))
	}
	if s.stop {
		return part{found: s.findings}
	}
	for _, name := range antislop.Inputs() { // the action reads all of them
		switch value := antislop.Default(name); {
		case antislop.Maximum(name) > 0:
			s.number(name)
		case value == "true" || value == "false":
			s.flag(name)
		}
	}
	exempt := s.exempt()
	s.texts()
	s.changes()
	s.author()
	out := part{rules: s.rules(on, exempt)}
	if out.found = s.findings; s.stop {
		out.rules = nil
	}
	return out
}

// rules returns the rules for pull requests that fail, and for those that pass.
func (s *slop) rules(on []string, exempt term) []rule {
	least, at := s.number("max-failures")
	switch {
	case s.stop:
		return nil
	case least < 1:
		s.mistake(at, "max-failures: want a number from 1 to %d, got %d", antislop.Maximum("max-failures"), least)
		return nil
	}
	var out []rule
	then := s.failed()
	for len(s.checks) > 1 && !compiles(rule{id: "all", on: on, when: all(exempt, atLeast(1, s.fails())), then: []act{do("close_issue", "")}}) {
		s.leaveOut()
	}
	checks := s.fails()
	switch n := len(s.checks); {
	case n+s.without < least:
		s.add(lost(at, "max-failures: only %d checks are on, so no pull request fails", n+s.without))
	case n < least:
		s.add(lost(at, "max-failures: %d of the %d checks that are on have a counterpart, fewer than %d, so no rule acts on failures", n, n+s.without, least))
	case len(then) > 0:
		out = append(out, rule{name: "low-quality", on: on, when: all(exempt, atLeast(least, checks)), override: true, then: then})
	}
	passed := s.each("add_label", "success-add-pr-labels")
	switch {
	case len(passed) == 0:
	case s.without > 0 && len(s.checks)+s.without >= least:
		s.add(lost(s.at("success-add-pr-labels"), "success-add-pr-labels: not imported, because a check without a counterpart may fail"))
	default:
		out = append(out, rule{name: "quality-passed", on: on, when: all(exempt, fewerThan(least, checks)), override: true, then: passed})
	}
	return out
}

// fails returns the conditions of the checks.
func (s *slop) fails() []term {
	var out []term
	for _, c := range s.checks {
		out = append(out, c.fails)
	}
	return out
}

// compiles reports whether the rule language accepts a rule.
func compiles(r rule) bool {
	mistakes, err := compile(render(draft{entries: []entry{{rules: []rule{r}}}}).text)
	return err == nil && len(mistakes) == 0
}

// leaveOut leaves out the check with the longest condition, because the limits of the rule language
// do not permit all of them in one rule.
func (s *slop) leaveOut() {
	i := 0
	for k, c := range s.checks {
		if c.fails.size() > s.checks[i].fails.size() {
			i = k
		}
	}
	name := s.checks[i].input
	s.checks = slices.Delete(s.checks, i, i+1)
	s.lacks(true, name, "the checks that are on are together too expensive for one rule")
}

// failed returns the actions for a pull request that fails, in the order of the action.
func (s *slop) failed() []act {
	then := s.each("remove_label", "failure-remove-pr-labels")
	if s.flag("failure-remove-all-pr-labels") {
		s.lost("failure-remove-all-pr-labels", "Foreman removes only labels that a rule names")
	}
	then = append(then, s.each("add_label", "failure-add-pr-labels")...)
	if body := s.message("failure-pr-message"); body != "" {
		then = append(then, do("comment", body))
	}
	if s.flag("close-pr") {
		then = append(then, do("close_issue", ""))
	}
	if s.flag("lock-pr") {
		then = append(then, do("lock", "spam"))
	}
	return then
}

// value returns the text of an input, or its default, and the node for messages about it.
func (s *slop) value(name string) (string, *yaml.Node) {
	n := s.at(name)
	if yamlfile.IsNull(n) {
		return antislop.Default(name), s.uses
	}
	text, _ := s.get(name)
	return text, n
}

// flag reads an input that is true or false.
func (s *slop) flag(name string) bool {
	text, n := s.value(name)
	if !slices.Contains([]string{"true", "True", "TRUE", "false", "False", "FALSE"}, text) && !s.stop {
		s.mistake(n, "%s: want true or false, got %s", name, quoted(text))
	}
	return strings.EqualFold(text, "true")
}

// digits matches a number as the action reads it: what follows the digits is ignored.
var digits = text.Regexp(`^[+-]?[0-9]{1,9}`)

// number reads an input that is a number; 0 means that its check is off.
func (s *slop) number(name string) (int, *yaml.Node) {
	text, n := s.value(name)
	v, err := strconv.Atoi(digits().FindString(text))
	if most := antislop.Maximum(name); (err != nil || v < 0 || v > most) && !s.stop {
		s.mistake(n, "%s: want a number from 0 to %d, got %s", name, most, quoted(text))
		return 0, n
	}
	return v, n
}

// lines and list read inputs that separate their items with line breaks and with commas.
func (s *slop) lines(name string) []string {
	text, _ := s.value(name)
	return antislop.Lines(text)
}

func (s *slop) list(name string) []string {
	text, _ := s.value(name)
	return antislop.Words(text)
}

// lost adds the finding that an input has no counterpart.
func (s *slop) lost(name, why string) {
	_, n := s.value(name)
	if n == s.uses {
		name += " (by default " + antislop.Default(name) + ")"
	}
	s.add(lost(n, "%s: not imported, because %s", name, why))
}

// lacks adds the finding that a check has no counterpart, if it is on.
func (s *slop) lacks(on bool, name, why string) {
	if on {
		s.without++
		s.lost(name, why)
	}
}

// check adds a check; an empty term means that it is off.
func (s *slop) check(input string, fails term) {
	if !fails.empty() {
		s.checks = append(s.checks, slopCheck{input, fails})
	}
}

// limit adds a check that is on if a number is not 0.
func (s *slop) limit(name, format string) {
	if n, _ := s.number(name); n > 0 {
		s.check(name, is(fmt.Sprintf(format, n)))
	}
}

// matching returns the condition that a value matches a pattern of package antislop.
func matching(value, pattern string) term { return is(value + " matches `" + pattern + "`") }

// exempt returns the condition that a pull request is not exempt.
func (s *slop) exempt() term {
	var out []term
	if s.flag("exempt-draft-prs") {
		out = append(out, not(is("pr.draft")))
	}
	var names []string
	for _, name := range append(s.lines("exempt-bots"), s.list("exempt-users")...) {
		if name = strings.ToLower(name); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) > 0 {
		out = append(out, is("lower(issue.author) not in "+list(names)))
	}
	if roles := s.list("exempt-author-association"); len(roles) > 0 {
		_, n := s.value("exempt-author-association")
		for _, role := range roles {
			if !slices.Contains(antislop.Associations(), role) {
				s.mistake(n, "exempt-author-association: unknown association %s%s (known: %s)", quoted(role),
					yamlfile.DidYouMean(role, antislop.Associations()), strings.Join(antislop.Associations(), ", "))
			}
		}
		out = append(out, is("issue.association not in "+list(roles)))
	}
	label, _ := s.value("exempt-pr-label")
	if label == "" {
		label, _ = s.value("exempt-label")
	}
	if label != "" {
		out = append(out, not(inCase(label)))
	}
	titles := s.list("exempt-pr-milestones")
	if len(titles) == 0 {
		titles = s.list("exempt-milestones")
	}
	switch always := s.flag("exempt-all-milestones"); {
	case s.flag("exempt-all-pr-milestones") || always:
		out = append(out, is(`issue.milestone == ""`))
	case len(titles) > 0:
		for i, title := range titles {
			titles[i] = strings.ToLower(title)
		}
		out = append(out, is("lower(issue.milestone) not in "+list(titles)))
	}
	return all(out...)
}

// texts adds the checks of branches, title and description.
func (s *slop) texts() {
	s.check("blocked-target-branches", s.branches("pr.base", "target"))
	s.check("blocked-source-branches", s.branches("pr.head", "source"))
	n, _ := s.number("max-negative-reactions")
	s.lacks(n > 0, "max-negative-reactions", "the events of pull requests do not contain their reactions")
	s.lacks(s.flag("require-maintainer-can-modify"), "require-maintainer-can-modify", "rules do not see whether maintainers may push to the branch")
	if s.flag("require-conventional-title") {
		s.check("require-conventional-title", not(matching("issue.title", antislop.ConventionalTitle)))
	}
	if s.flag("require-description") {
		s.check("require-description", is(`trim(issue.body) == ""`))
	}
	s.limit("max-description-length", "len(issue.body) > %d")
	s.emoji()
	if terms := s.lines("blocked-terms"); len(terms) > 0 {
		pattern, ok := antislop.Visible(terms)
		s.lacks(!ok, "blocked-terms", "a term is empty or contains <, which the pattern for text outside of HTML comments cannot contain")
		if ok {
			s.check("blocked-terms", matching("issue.body", pattern))
		}
	}
	n, _ = s.number("max-code-references")
	s.lacks(n > 0, "max-code-references", "a condition cannot add up the matches of several patterns")
	if s.flag("require-linked-issue") {
		s.check("require-linked-issue", not(matching("issue.body", antislop.LinkedIssue)))
	}
	if numbers := s.list("blocked-issue-numbers"); len(numbers) > 0 {
		pattern, ok := antislop.Issues(numbers)
		s.lacks(!ok, "blocked-issue-numbers", "an item is not the number of an issue")
		if ok {
			s.check("blocked-issue-numbers", matching("issue.body", pattern))
		}
	}
	if s.flag("require-pr-template") {
		const why = "rules do not read the template of the repository"
		n, _ := s.number("max-additional-pr-template-sections")
		s.lacks(true, "require-pr-template", why)
		s.lacks(len(s.list("strict-pr-template-sections")) > 0, "strict-pr-template-sections", why)
		s.lacks(n > 0, "max-additional-pr-template-sections", why)
		if len(s.list("optional-pr-template-sections")) > 0 {
			s.lost("optional-pr-template-sections", why)
		}
	}
}

// branches returns the check of one of the two branches of a pull request.
func (s *slop) branches(field, which string) term {
	one := func(globs []string) term {
		switch {
		case len(globs) == 0:
			return term{}
		case slices.ContainsFunc(globs, func(s string) bool { return strings.Contains(s, "*") }):
			return matching(field, antislop.Branches(globs))
		case len(globs) == 1:
			return is(field + " == " + strconv.Quote(globs[0]))
		}
		return is(field + " in " + list(globs))
	}
	allowed := one(s.lines("allowed-" + which + "-branches"))
	return some(not(allowed), one(s.lines("blocked-"+which+"-branches")))
}

// emoji adds the check of pictographs.
func (s *slop) emoji() {
	n, at := s.number("max-emoji-count")
	switch {
	case n > antislop.MostEmoji:
		s.lacks(true, "max-emoji-count", fmt.Sprintf("a pattern counts up to %d matches", antislop.MostEmoji))
	case n > 0:
		s.add(lost(at, "max-emoji-count: rarer symbols, such as © and arrows, do not count"))
		s.check("max-emoji-count", matching("issue.text", antislop.Emoji(n, !s.source.version.Before(0, 2, 1))))
	}
}

// changes adds the checks of commits and files.
func (s *slop) changes() {
	s.limit("max-commit-message-length", "any(pr.commit_messages, len(#) > %d)")
	if s.flag("require-conventional-commits") {
		s.check("require-conventional-commits", not(is("all(pr.commit_messages, # matches `"+antislop.ConventionalCommit+"`)")))
	}
	const authors = "rules see the messages of commits, not their authors"
	s.lacks(s.flag("require-commit-author-match"), "require-commit-author-match", authors)
	s.lacks(len(s.list("blocked-commit-authors")) > 0, "blocked-commit-authors", authors)
	if list := s.list("allowed-file-extensions"); len(list) > 0 {
		s.check("allowed-file-extensions", is("any(pr.files, # matches `"+antislop.Extension+"` and not (# matches `"+antislop.Extensions(list)+"`))"))
	}
	if list := s.lines("allowed-paths"); len(list) > 0 {
		s.check("allowed-paths", is("any(pr.files, not (# matches `"+antislop.Paths(list)+"`))"))
	}
	if list := s.lines("blocked-paths"); len(list) > 0 {
		s.check("blocked-paths", is("any(pr.files, # matches `"+antislop.Paths(list)+"`)"))
	}
	const contents = "rules see the paths of changed files, not their contents"
	s.lacks(s.flag("require-final-newline"), "require-final-newline", contents)
	n, _ := s.number("max-added-comments")
	s.lacks(n > 0, "max-added-comments", contents)
}

// author adds the checks of the author.
func (s *slop) author() {
	if s.flag("detect-spam-usernames") {
		s.check("detect-spam-usernames", matching("issue.author", antislop.SpamName))
	}
	s.limit("min-account-age", `issue.author_type != "Bot" and now - author.created_at < duration("%dd")`)
	n, _ := s.number("max-daily-forks")
	s.lacks(n > 0, "max-daily-forks", "rules do not see the repositories of the author")
	n, _ = s.number("min-profile-completeness")
	s.lacks(n > 0, "min-profile-completeness", "rules do not see the profile of the author")
	switch n, _ := s.number("min-repo-merged-prs"); n {
	case 0:
	case 1: // the action does not count either
		s.check("min-repo-merged-prs", is(`issue.association != "CONTRIBUTOR"`))
	default:
		s.check("min-repo-merged-prs", is(fmt.Sprintf("author.merged_pulls < %d", n)))
	}
	s.limit("min-repo-merge-ratio", "100 * author.merged_pulls < %d * (author.merged_pulls + author.closed_pulls)")
	n, _ = s.number("min-global-merge-ratio")
	s.lacks(n > 0, "min-global-merge-ratio", "rules see the author's pull requests only in this repository")
	if n > 0 && s.flag("global-merge-ratio-exclude-own") {
		s.lost("global-merge-ratio-exclude-own", "it belongs to min-global-merge-ratio")
	}
}
