package importer

import (
	"regexp"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/importer/jsregexp"
	"github.com/org/foreman-action/internal/importer/jsyaml"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/internal/yamlfile"
)

// slashes matches a regular expression with flags, such as /text/i.
var slashes = text.Regexp(`^/(.+)/(.*)$`)

// An issueLabeler holds the settings of github/issue-labeler that apply to every label.
type issueLabeler struct {
	on     []string
	undo   bool   // a label is removed when its expressions no longer match
	about  string // the field that the regular expressions are matched against
	always term   // where this is false, the tool does nothing
	exact  bool   // it removes a label only if it has the same letter case
	read   patterns
}

// readIssueLabeler reads a configuration of github/issue-labeler. For each label it lists regular
// expressions that must all match.
func readIssueLabeler(doc document, s step) reading {
	l := issueLabeler{on: s.listenTo([]string{"issues.opened", "issues.edited"}, "issues", "pull_request", "issue_comment"), read: patterns{}}
	undo, found := s.one("sync-labels")
	if s.version.Before(3, 0, 0) && !undo {
		undo = true
		found = append(found, general("Before version 3, github/issue-labeler removes labels whose expressions do not match; Foreman does the same."))
	}
	found = append(found, s.others("repo-token", "configuration-path", "not-before", "enable-versioned-regex", "versioned-regex",
		"body-missing-regex-label", "include-title", "include-body", "sync-labels")...)
	about, more := target(s)
	found = append(found, more...)
	since, more := notBefore(s)
	found = append(found, more...)
	version, more := ofVersion(s, doc.name)
	found = append(found, more...)
	l.undo, l.about, l.always, l.exact = undo, about, all(since, version), !s.version.Before(3, 1, 0)
	parser := jsyaml.Version(4)
	if s.version.Before(2, 6, 0) {
		parser = 3
	}
	pairs, more := doc.labels("github/issue-labeler", parser)
	found = append(found, more...)
	missing, more := missingVersion(s, l.on)
	found = append(found, s.peopleHints("github/issue-labeler", undo)...)
	r := reading{before: append(found, more...), limits: map[string]int{"add_label": beyondUsual("add_label", min(len(pairs), 100))}}
	if undo {
		r.limits["remove_label"] = r.limits["add_label"]
	}
	r.parts = func(yield func(part) bool) {
		for _, p := range missing {
			if !yield(p) {
				return
			}
		}
		eachPair(pairs, everyKey, l.label)(yield)
	}
	if !s.given {
		r.after = append(r.after, general("The workflow was not read. Import again with --workflow if it sets inputs such as include-title or sync-labels."))
	}
	return r
}

// number parses the number at the start of a text, as the source does.
var number = text.Regexp(`^\s*\+?0*([0-9]+)`)

// one reports whether an input is 1. github/issue-labeler treats every other text as false.
func (s step) one(name string) (bool, findings) {
	text, n, found := s.input(name)
	m := number().FindStringSubmatch(text)
	if m == nil && text != "" {
		found = append(found, lost(n, "%s: github/issue-labeler does not read %s as a number, so the input is off; use 1 for on", name, quoted(text)).inWorkflow())
	}
	return len(m) > 1 && m[1] == "1", found
}

// label reads the regular expressions of one label.
func (l issueLabeler) label(p pair) part {
	name, found := labelName(p.key, p.key.Value)
	ok := len(found) == 0
	if p.value.Kind != yaml.SequenceNode && p.value.Kind != yaml.ScalarNode {
		return part{found: append(found, wrong(p.value, "want a regular expression or a list of them, got %s", yamlfile.Kind(p.value)))}
	}
	var when term
	for _, item := range yamlfile.Items(p.value) {
		text, mistakes := scalar(item, "a regular expression")
		if len(mistakes) > 0 {
			found, ok = append(found, mistakes...), false
			continue
		}
		flags := ""
		if m := slashes().FindStringSubmatch(text); m != nil {
			text, flags = m[1], m[2]
		}
		if when.size() > 2*maxCondition {
			break // the condition is too long already, so the rule will be refused
		}
		t, fine, more := l.read.matching(item, l.about, text, flags)
		when, ok, found = all(when, t), ok && fine, append(found, more.strict()...)
	}
	if !ok {
		return part{found: found}
	}
	r := rule{name: name, on: l.on, guard: l.always, when: when, override: l.undo, then: []act{do("add_label", template(name))}}
	switch {
	case !l.undo:
	case l.exact:
		r.sync = inCase(name)
	default:
		r.sync = labeled(name)
	}
	return part{rules: []rule{r}, found: found}
}

// target returns the field that the regular expressions are matched against.
func target(s step) (string, findings) {
	s, found := s.since("include-body", 3, 2)
	s, old := s.since("include-title", 2, 5)
	_, n, more := s.input("include-body")
	found, body := append(append(found, old...), more...), n == nil
	if !body {
		body, more = s.one("include-body")
		found = append(found, more...)
	}
	title, more := s.one("include-title")
	found = append(found, more...)
	switch {
	case title && body:
		return "issue.text", found
	case title:
		return "issue.title", found
	case body:
		return "issue.body", found
	}
	return "issue.title", append(found, wrong(n, "include-body: include-title is off too, so no text is compared").inWorkflow())
}

// notBefore returns the condition of the input not-before.
func notBefore(s step) (term, findings) {
	text, n, found := s.input("not-before")
	if text == "" {
		return term{}, found
	}
	date, ok := parseTime(text)
	if !ok {
		found = append(found, wrong(n, "not-before: want a time such as 2020-01-15T02:54:32Z, got %s", quoted(text)).inWorkflow())
	}
	// GitHub's times are whole seconds, so a fraction of one is rounded up.
	date = date.Add(time.Second - 1).Truncate(time.Second)
	return is("issue.created_at >= date(\"" + date.Format(time.RFC3339) + "\")"), found
}

// fileVersion finds the version in the name of a file such as labeler-v2.yml.
var fileVersion = text.Regexp(`-v([0-9A-Za-z.]+)\.ya?ml$`)

// ofVersion returns the condition that an issue names the version in the configuration file's name.
func ofVersion(s step, file string) (term, findings) {
	src, n, found := versioned(s)
	if n == nil {
		return term{}, found
	}
	m := fileVersion().FindStringSubmatch(file)
	if m == nil {
		return term{}, append(found, lost(n, "enable-versioned-regex: the file name %s contains no version (as in labeler-v1.yml); its rules apply to every issue", quoted(file)).inWorkflow())
	}
	open, end := jsregexp.Capture(src)
	if open < 0 {
		return term{}, append(found, lost(n, "versioned-regex: no group captures the version; the rules apply to every issue").inWorkflow())
	}
	// \b prevents that version 1 also matches version 10.
	text, problems := jsregexp.Translate(src[:open]+"(?:"+regexp.QuoteMeta(m[1])+`)\b`+src[end:], "")
	if len(problems) == 0 {
		return matches("issue.body", text), found
	}
	for _, p := range jsregexp.Rejected(problems) {
		found = append(found, wrong(n, "versioned-regex: %s", p.Msg).inWorkflow())
	}
	for _, p := range problems {
		found = append(found, lost(n, "versioned-regex: %s; the rules apply to every issue", p.Msg).inWorkflow())
	}
	return term{}, found
}

// versioned returns the input versioned-regex if it is enabled; otherwise n is nil.
func versioned(s step) (src string, n *yaml.Node, found findings) {
	on, found := s.one("enable-versioned-regex")
	if !on {
		return "", nil, found
	}
	src, n, more := s.input("versioned-regex")
	found = append(found, more...)
	if n == nil && s.with != nil {
		found = append(found, lost(s.with, "enable-versioned-regex and body-missing-regex-label were not imported: versioned-regex is not set").inWorkflow())
	}
	return src, n, found
}

// missingVersion returns the rule of the input body-missing-regex-label, if that input is used.
func missingVersion(s step, on []string) ([]part, findings) {
	src, at, found := versioned(s)
	name, n, more := s.input("body-missing-regex-label")
	found = append(found, more...)
	if at == nil || name == "" {
		return nil, found
	}
	text, problems := jsregexp.Translate(src, "")
	if len(problems) > 0 {
		return nil, append(found, lost(n, "body-missing-regex-label: not imported, because of versioned-regex: %s", problems[0].Msg).inWorkflow())
	}
	p := part{name: name}
	if name, p.found = labelName(n, name); len(p.found) == 0 {
		p.rules = []rule{{name: name, on: on, when: not(matches("issue.body", text)), sync: labeled(name), override: true, then: []act{do("add_label", template(name))}}}
	}
	return []part{p}, found
}
