package importer

import (
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/strictyaml"
)

// maxCondition leaves room in the 4,096 bytes of a condition.
const maxCondition = 3800

// pullEvents is when actions/labeler usually runs.
func pullEvents() []string {
	return []string{"pull_request.opened", "pull_request.synchronize", "pull_request.reopened"}
}

// A labeler is what holds for every label of a configuration of actions/labeler.
type labeler struct {
	*draft
	on       []string
	undo     bool
	maxFiles string // condition; empty: none
	skip     bool   // labels that depend on files are never added
}

// labeler reads a configuration of actions/labeler, in its old form (globs) or in the one
// since version 5 (changed-files, base-branch, head-branch).
func (d *draft) labeler(s step) {
	l := labeler{draft: d, on: s.listenTo(pullEvents(), "pull_request")}
	l.undo = d.flag(s, "sync-labels")
	if dot, n := d.input(s, "dot"); n != nil && dot != "true" {
		d.noteIn(s.file, n, 0, "dot: files whose names begin with a dot always match here")
	}
	pairs := d.pairs()
	l.options(pairs)
	labels := 0
	for i, p := range pairs {
		if l.isOption(p.key.Value) || d.full() {
			continue
		}
		labels++
		d.begin(p.key.Value, p.key, next(pairs, i))
		l.label(p.key, p.value)
	}
	if _, limited := d.policy.limits["add_label"]; !limited {
		d.limit("add_label", min(labels, 100))
	}
	if s.file == nil {
		d.hint("The workflow was not read: name it with --workflow when it sets inputs such as sync-labels.")
	}
	d.hint("A label that does not exist is not created, unless policy.create_labels is true.")
}

func (l *labeler) isOption(key string) bool {
	return key == "changed-files-labels-limit" || key == "max-files-changed"
}

// options reads the keys that are no labels.
func (l *labeler) options(pairs []pair) {
	for _, p := range pairs {
		if !l.isOption(p.key.Value) {
			continue
		}
		n, err := strconv.Atoi(strings.TrimSpace(p.value.Value))
		if p.value.Kind != yaml.ScalarNode || err != nil || n < 0 {
			l.file.Problemf(p.value, "%s: want a whole number from 0, got %s", p.key.Value, strictyaml.Kind(p.value))
			continue
		}
		if p.key.Value == "max-files-changed" {
			l.maxFiles = "pr.changed_files <= " + strconv.Itoa(n)
			continue
		}
		l.policy.limits["add_label"] = n
		l.skip = n == 0
		if n == 0 {
			delete(l.policy.limits, "add_label")
			continue
		}
		l.note(p.key, "changed-files-labels-limit became policy.limits.add_label: of more labels the first are added where the source adds none, and labels of branches count too")
	}
}

// label reads what is said of one label.
func (l *labeler) label(key, value *yaml.Node) {
	name, ok := l.labelName(key, key.Value)
	if !ok {
		return
	}
	var when term
	files := true
	if old(value) {
		when, ok = l.globs(value)
	} else {
		when, files, ok = l.matches(value)
	}
	if files && l.skip {
		l.note(key, "changed-files-labels-limit is 0: labels that depend on files are never added")
		return
	}
	if !ok || when.empty() {
		return
	}
	for _, part := range l.split(when) {
		if l.full() {
			break
		}
		if files && l.maxFiles != "" {
			part = all(is(l.maxFiles), part)
			if l.undo {
				l.hint("Above max-files-changed the labels that Foreman added are taken off; the source leaves them.")
			}
		}
		l.rule(rule{id: l.id(name), on: l.on, when: part, elseUndo: l.undo, then: []act{do("add_label", template(name))}})
	}
}

// split takes a condition apart that is too long for one rule.
func (l *labeler) split(when term) []term {
	if when.op != "or" || l.undo || when.size() <= maxCondition {
		return []term{when}
	}
	var out []term
	var part []term
	size := 0
	for _, p := range when.parts {
		if size += p.size() + 8; size > maxCondition && len(part) > 0 {
			out, part, size = append(out, some(part...)), nil, p.size()
		}
		part = append(part, p)
	}
	return append(out, some(part...))
}

// matches reads the form since version 5: all items must hold. files reports whether one
// of them asks for changed files.
func (l *labeler) matches(value *yaml.Node) (when term, files, ok bool) {
	if value.Kind != yaml.SequenceNode {
		l.file.Problemf(value, "want a list of match objects or of globs, got %s", strictyaml.Kind(value))
		return term{}, false, false
	}
	var terms, loose []term
	ok = true
	place := -1
	for _, item := range value.Content {
		if isNull(item) {
			continue
		}
		if item.Kind != yaml.MappingNode {
			l.file.Problemf(item, "want a match object such as {changed-files: …}, got %s", strictyaml.Kind(item))
			return term{}, false, false
		}
		for _, p := range pairsOf(item) {
			var t term
			var fine, asks bool
			switch p.key.Value {
			case "any", "all":
				t, asks, fine = l.group(p.key, p.value)
				terms = append(terms, t)
			default:
				// Options outside of a group are one group of the kind "any".
				t, asks, fine = l.option(p, false)
				if loose = append(loose, t); place < 0 {
					place = len(terms)
					terms = append(terms, term{})
				}
			}
			ok, files = ok && fine, files || asks
		}
	}
	if place >= 0 {
		terms[place] = some(loose...)
	}
	if when = all(terms...); ok && when.empty() {
		l.note(value, "nothing is asked for, so the label is never added")
	}
	return when, files, ok
}

// group reads the value of "any" or "all".
func (l *labeler) group(key, value *yaml.Node) (t term, files, ok bool) {
	if value.Kind != yaml.SequenceNode {
		l.file.Problemf(value, "%s: want a list, got %s", key.Value, strictyaml.Kind(value))
		return term{}, false, false
	}
	every := key.Value == "all"
	var terms []term
	ok = true
	for _, item := range value.Content {
		if item.Kind != yaml.MappingNode {
			l.file.Problemf(item, "want an option such as {changed-files: …}, got %s", strictyaml.Kind(item))
			return term{}, false, false
		}
		for _, p := range pairsOf(item) {
			t, asks, fine := l.option(p, every)
			terms = append(terms, t)
			ok, files = ok && fine, files || asks
		}
	}
	if t = join(map[bool]string{true: "and", false: "or"}[every], terms); ok && t.empty() {
		l.note(key, "%s asks for nothing, so the label is never added", key.Value)
		ok = false
	}
	return t, files, ok
}

// option reads changed-files, base-branch or head-branch.
func (l *labeler) option(p pair, every bool) (t term, files, ok bool) {
	switch p.key.Value {
	case "changed-files":
		t, ok = l.changed(p.value, every)
		return t, true, ok
	case "base-branch":
		t, ok = l.branch("pr.base", p.value, every)
	case "head-branch":
		t, ok = l.branch("pr.head", p.value, every)
	default:
		l.note(p.key, "unknown option %s%s; the source takes no notice of it", quoted(p.key.Value),
			strictyaml.DidYouMean(p.key.Value, []string{"changed-files", "base-branch", "head-branch", "any", "all"}))
		return term{}, false, true
	}
	return t, false, ok
}

// branch reads regular expressions about a branch's name.
func (l *labeler) branch(name string, value *yaml.Node, every bool) (term, bool) {
	var terms []term
	ok := true
	for _, item := range items(value) {
		text, fine := l.text(item, "a regular expression")
		if !fine {
			ok = false
			continue
		}
		t, fine := l.pattern(item, name, text, "")
		terms, ok = append(terms, t), ok && fine
	}
	return join(map[bool]string{true: "and", false: "or"}[every], terms), ok
}
