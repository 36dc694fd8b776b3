package importer

import (
	"regexp"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/importer/jsregexp"
	"github.com/org/foreman-action/internal/strictyaml"
)

// slashes is how a regular expression with flags is written.
var slashes = regexp.MustCompile(`^/(.+)/(.*)$`)

// issueLabeler reads a configuration of github/issue-labeler: for each label the regular
// expressions that must all match.
func (d *draft) issueLabeler(s step) {
	on := s.listenTo([]string{"issues.opened", "issues.edited"}, "issues", "pull_request", "issue_comment")
	undo := d.flag(s, "sync-labels")
	about := d.target(s)
	always := all(d.notBefore(s), d.version(s))
	pairs := d.pairs()
	d.missingVersion(s, on)
	for i, p := range pairs {
		if d.full() {
			break
		}
		d.begin(p.key.Value, p.key, next(pairs, i))
		name, ok := d.labelName(p.key, p.key.Value)
		when := always
		if p.value.Kind != yaml.SequenceNode && p.value.Kind != yaml.ScalarNode {
			d.file.Problemf(p.value, "want a regular expression or a list of them, got %s", strictyaml.Kind(p.value))
			continue
		}
		for _, item := range items(p.value) {
			text, fine := d.text(item, "a regular expression")
			if !fine {
				ok = false
				continue
			}
			flags := ""
			if m := slashes.FindStringSubmatch(text); m != nil {
				text, flags = m[1], m[2]
			}
			if when.size() > 2*maxCondition {
				break // it is refused as it is
			}
			t, fine := d.pattern(item, about, text, flags)
			when, ok = all(when, t), ok && fine
		}
		if ok {
			d.rule(rule{id: d.id(name), on: on, when: when, elseUndo: undo && !when.empty(), then: []act{do("add_label", template(name))}})
		}
	}
	d.limit("add_label", min(len(pairs), 100))
	if s.file == nil {
		d.hint("The workflow was not read: name it with --workflow when it sets inputs such as include-title, sync-labels or not-before.")
	}
	d.hint("A label that does not exist is not created, unless policy.create_labels is true.")
}

// target returns what the regular expressions are about.
func (d *draft) target(s step) string {
	body, n := d.input(s, "include-body")
	title := d.flag(s, "include-title")
	switch {
	case title && (n == nil || body == "1"):
		return "issue.text"
	case title:
		return "issue.title"
	}
	return "issue.body"
}

// notBefore returns the condition of the input not-before.
func (d *draft) notBefore(s step) term {
	text, n := d.input(s, "not-before")
	if text == "" {
		return term{}
	}
	date, ok := when(text)
	if !ok {
		s.file.Problemf(n, "not-before: want a time such as 2020-01-15T02:54:32Z, got %s", quoted(text))
	}
	return is("issue.created_at >= date(\"" + date + "\")")
}

// when reads a time as people write it in JavaScript's company.
func when(text string) (string, bool) {
	for _, layout := range []string{time.RFC3339, time.DateOnly, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01", time.RFC1123Z, time.RFC1123, "2 Jan 2006", "Jan 2, 2006"} {
		if t, err := time.Parse(layout, text); err == nil && t.Year() > 0 && t.Year() < 10000 {
			return t.UTC().Format(time.RFC3339), true
		}
	}
	return "", false
}

// fileVersion finds the version of a file such as labeler-v2.yml.
var fileVersion = regexp.MustCompile(`-v([0-9A-Za-z.]+)\.ya?ml$`)

// version returns the condition that an issue belongs to this version of the file.
func (d *draft) version(s step) term {
	src, n := d.versioned(s)
	if n == nil {
		return term{}
	}
	m := fileVersion.FindStringSubmatch(d.file.Name())
	if m == nil {
		d.noteIn(s.file, n, 0, "enable-versioned-regex: the name of "+quoted(d.file.Name())+" holds no version, such as labeler-v1.yml; its rules hold for every issue")
		return term{}
	}
	open, end := capture(src)
	if open < 0 {
		d.noteIn(s.file, n, 0, "versioned-regex: it captures no version; the rules hold for every issue")
		return term{}
	}
	// The version must not be the start of a longer one.
	text, found := jsregexp.Translate(src[:open]+"(?:"+regexp.QuoteMeta(m[1])+`)\b`+src[end:], "")
	for _, p := range found {
		d.noteIn(s.file, n, 0, "versioned-regex: "+p.Msg+"; the rules hold for every issue")
	}
	if len(found) > 0 {
		return term{}
	}
	return is("issue.body matches `" + text + "`")
}

// versioned returns the input versioned-regex when it counts.
func (d *draft) versioned(s step) (string, *yaml.Node) {
	if !d.flag(s, "enable-versioned-regex") {
		return "", nil
	}
	text, n := d.input(s, "versioned-regex")
	if n == nil && s.with != nil {
		d.noteIn(s.file, s.with, 0, "enable-versioned-regex without versioned-regex")
	}
	return text, n
}

// capture returns the place of the first group that captures; -1 when there is none.
func capture(src string) (open, end int) {
	open, depth := -1, 0
	for i := 0; i < len(src); i++ {
		switch src[i] {
		case '\\':
			i++
		case '(':
			if open < 0 && !strings.HasPrefix(src[i+1:], "?") {
				open, depth = i, 0
			}
			depth++
		case ')':
			if depth--; open >= 0 && depth == 0 {
				return open, i + 1
			}
		}
	}
	return -1, 0
}

// missingVersion adds the rule of the input body-missing-regex-label.
func (d *draft) missingVersion(s step, on []string) {
	src, at := d.versioned(s)
	name, n := d.input(s, "body-missing-regex-label")
	if at == nil || name == "" {
		return
	}
	text, found := jsregexp.Translate(src, "")
	if len(found) > 0 {
		return // version has noted it
	}
	d.begin(name, nil, nil)
	if name, ok := d.labelName(n, name); ok {
		d.rule(rule{id: d.id(name), on: on, when: is("not (issue.body matches `" + text + "`)"), elseUndo: true, then: []act{do("add_label", template(name))}})
	}
}
