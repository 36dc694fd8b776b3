package importer

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/importer/jsyaml"
	"github.com/org/foreman-action/internal/importer/workflow"
	"github.com/org/foreman-action/internal/layout"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/internal/yamlfile"
)

// pullEvents returns the events on which actions/labeler usually runs.
func pullEvents() []string {
	return []string{"pull_request.opened", "pull_request.synchronize", "pull_request.reopened"}
}

// A labeler is the part of a configuration of actions/labeler that applies to every label.
type labeler struct {
	on   []string
	undo bool // a label is removed when its condition is no longer true
	labelerOptions
	read  patterns
	files globReader
	globs bool // globs without changed-files are allowed
	calm  bool // the version ignores match objects
}

// labelerOptions are the keys of the configuration that are not labels.
type labelerOptions struct {
	maxFiles string // condition of the option max-files-changed; empty: none
	limit    int    // maximal number of labels; 0: none
	skip     bool   // labels whose conditions use files are never added
}

// readLabeler reads a configuration of actions/labeler, in the form before version 5 (globs) or
// since version 5 (changed-files, base-branch, head-branch).
func readLabeler(doc document, s step) reading {
	l := labeler{on: s.listenTo(pullEvents(), "pull_request"), read: patterns{}, globs: !s.version.Known() || s.version.Before(5, 0, 0)}
	undo, found := syncLabels(s)
	l.undo, l.calm = undo, s.version.Before(5, 0, 0)
	found = append(found, s.others("repo-token", "configuration-path", "sync-labels", "dot")...)
	dot, more := dotFiles(s)
	l.files.hidden = dot
	found = append(found, more...)
	pairs, more := doc.labels("actions/labeler", parserOf(s.version))
	found = append(found, oneForm(pairs, s.version)...)
	found = append(found, more...)
	l.labelerOptions, more = readLabelerOptions(pairs, s.version)
	found = append(found, s.peopleHints("actions/labeler", undo)...)
	r := reading{before: append(found, more...), parts: eachPair(pairs, isLabel, l.label)}
	all := 0
	for _, p := range pairs {
		if isLabel(p.key.Value) {
			all++
		}
	}
	all = beyondUsual("add_label", min(all, 100))
	r.limits = map[string]int{"add_label": cmp.Or(l.limit, all)}
	if undo {
		r.limits["remove_label"] = all
		// With sync-labels no rule reads the timeline, but a limit of writes would read it on every
		// event. The limit stays if the rules listen to label events, because two programs could
		// react to each other without end.
		r.unlimited = !slices.ContainsFunc(l.on, func(on string) bool { return strings.HasSuffix(on, "labeled") })
	}
	if !s.given {
		r.after = append(r.after, general("The workflow was not read. Import again with --workflow if it sets inputs such as sync-labels."))
	}
	return r
}

// parserOf returns the version of js-yaml in a version of actions/labeler.
func parserOf(v workflow.Version) jsyaml.Version {
	switch {
	case v.Before(3, 1, 0):
		return 3
	case v.Known() && !v.Before(7, 0, 0):
		return 5
	}
	return 4
}

// syncLabels reports whether labels are removed. Versions 3 and 4 of the tool treat every text
// except the empty one as true.
func syncLabels(s step) (bool, findings) {
	if !s.version.Before(5, 0, 0) || s.version.Before(3, 0, 0) {
		return s.flag("sync-labels")
	}
	text, n, found := s.input("sync-labels")
	if n != nil && text == "" {
		return false, found
	}
	return true, append(found, general("Before version 5, actions/labeler turns sync-labels on unless it is an empty text; Foreman does the same and removes labels."))
}

// dotFiles reports whether a * or ** matches names that begin with a dot, such as .github.
func dotFiles(s step) (bool, findings) {
	s, found := s.since("dot", 4, 1)
	if _, n, more := s.input("dot"); n == nil {
		return !s.version.Before(5, 0, 0), append(found, more...)
	}
	return s.flag("dot")
}

// oneForm returns findings about labels in a form that the tool's version does not support, and
// about files that were renamed.
func oneForm(pairs []pair, v workflow.Version) findings {
	var found findings
	said := map[string]bool{}
	once := func(p pair, text string) {
		if !said[text] {
			said[text] = true
			found = append(found, lost(p.key, "%s", text))
		}
	}
	for _, p := range pairs {
		switch {
		case !isLabel(p.key.Value):
			continue
		case old(p.value) && v.Known() && !v.Before(5, 0, 0) && plainGlobs(p.value):
			found = append(found, wrong(p.key, "since version 5, actions/labeler fails because of globs without changed-files; write %s", mended(p)))
			continue
		case old(p.value) && v.Known() && !v.Before(5, 0, 0):
			found = append(found, lost(p.key, "since version 5, actions/labeler ignores globs without changed-files; write %s", mended(p)))
		}
		if old(p.value) || asksFiles(p.value) {
			once(p, "Foreman also matches the old name of a renamed file; actions/labeler only the new one")
		}
	}
	return found
}

// plainGlobs reports whether a value is a glob, or a list with a glob.
func plainGlobs(value *yaml.Node) bool {
	return slices.ContainsFunc(yamlfile.Items(value), func(item *yaml.Node) bool { return item.Kind == yaml.ScalarNode && !yamlfile.IsNull(item) })
}

// mended returns a label in the form since version 5, for a message.
func mended(p pair) string {
	var options []string
	kind := "any"
	plain := yaml.Node{Kind: yaml.SequenceNode}
	add := func(option string, globs []*yaml.Node) {
		var texts []string
		for _, n := range globs {
			texts = append(texts, layout.Scalar(n.Value))
		}
		if len(texts) > 0 {
			options = append(options, option+": ["+strings.Join(texts, ", ")+"]")
		}
	}
	for _, item := range yamlfile.Items(p.value) {
		if item.Kind == yaml.ScalarNode {
			plain.Content = append(plain.Content, item)
			continue
		}
		one, every := yamlfile.Child(item, "any"), yamlfile.Child(item, "all")
		if one != nil {
			add("all-globs-to-any-file", yamlfile.Items(one))
		}
		if every != nil {
			add("all-globs-to-all-files", yamlfile.Items(every))
		}
		if one != nil && every != nil {
			kind = "all"
		}
	}
	add("any-glob-to-any-file", plain.Content)
	if kind == "all" && len(yamlfile.Items(p.value)) > 1 {
		return "its globs below changed-files"
	}
	return text.Shorten(layout.Scalar(p.key.Value)+": [{"+kind+": [{changed-files: [{"+strings.Join(options, "}, {")+"}]}]}]", 300)
}

// asksFiles reports whether the option changed-files occurs in a value.
func asksFiles(n *yaml.Node) bool {
	return yamlfile.Child(n, "changed-files") != nil || slices.ContainsFunc(n.Content, asksFiles)
}

// isLabel reports whether a key of the configuration is a label and not an option.
func isLabel(key string) bool {
	return key != "changed-files-labels-limit" && key != "max-files-changed"
}

// readLabelerOptions reads the keys that are not labels.
func readLabelerOptions(pairs []pair, v workflow.Version) (out labelerOptions, found findings) {
	for _, p := range pairs {
		if isLabel(p.key.Value) {
			continue
		}
		if v.Before(6, 1, 0) {
			found = append(found, wrong(p.key, "%s: before version 6.1, actions/labeler reads this key as a label and fails because of its value", p.key.Value))
		}
		n, err := strconv.Atoi(strings.TrimSpace(p.value.Value))
		if p.value.Kind != yaml.ScalarNode || err != nil || n < 0 {
			found = append(found, wrong(p.value, "%s: want a whole number from 0, got %s", p.key.Value, yamlfile.Kind(p.value)))
			continue
		}
		if p.key.Value == "max-files-changed" {
			out.maxFiles = "pr.changed_files <= " + strconv.Itoa(n)
			continue
		}
		out.limit, out.skip = n, n == 0
		if n > 0 {
			found = append(found, lost(p.key, "changed-files-labels-limit became policy.limits.add_label: above it Foreman adds the first labels, actions/labeler adds none; labels from branch conditions count too"))
		}
	}
	return out, found
}

// A match is a translated condition of a source.
type match struct {
	when  term
	files bool // the condition uses changed files
	ok    bool // the condition is equivalent to the source, or narrow
	// narrow means that the source matches more, because a part of it was not imported.
	narrow bool
	found  findings
}

// label converts the conditions of one label to rules.
func (l labeler) label(p pair) part {
	name, bad := labelName(p.key, p.key.Value)
	if len(bad) > 0 {
		return part{found: bad}
	}
	var m match
	switch {
	case old(p.value) && l.globs:
		m = l.files.globs(p.value)
		m.files = true
	case plainGlobs(p.value) && !l.globs:
		return part{} // oneForm reports it
	case l.calm && !old(p.value):
		return part{found: findings{lost(p.key, "before version 5, actions/labeler ignores match objects and adds the label to every pull request; with version 5 in the workflow it can be imported")}}
	default:
		m = l.matches(p.value)
	}
	out := part{found: m.found}
	if m.files && l.skip {
		out.found = append(out.found, lost(p.key, "changed-files-labels-limit is 0, so actions/labeler never adds labels that depend on files"))
		return out
	}
	if !m.ok || m.when.empty() || m.when.text == never && !l.undo {
		return out
	}
	if m.narrow && l.undo {
		out.found = append(out.found, lost(p.key, "the label is not removed, because a part of its conditions was not imported"))
	}
	for _, when := range l.split(m.when) {
		r := rule{name: name, on: l.on, when: when, override: l.undo, then: []act{do("add_label", template(name))}}
		if m.files && l.maxFiles != "" {
			r.guard = is(l.maxFiles)
		}
		if l.undo && !m.narrow {
			r.sync = inCase(name)
		}
		out.rules = append(out.rules, r)
	}
	return out
}

// split splits a condition that is too long for one rule.
func (l labeler) split(when term) []term {
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

// matches reads the form since version 5, in which all items must match.
func (l labeler) matches(value *yaml.Node) match {
	if value.Kind != yaml.SequenceNode {
		return match{found: findings{wrong(value, "want a list of match objects or of globs, got %s", yamlfile.Kind(value))}}
	}
	out := match{ok: true}
	var terms, options []term
	place := -1 // index in terms of the first group "any"
	for _, item := range value.Content {
		if yamlfile.IsNull(item) {
			continue
		}
		if item.Kind != yaml.MappingNode {
			return match{found: append(out.found, wrong(item, "want a match object such as {changed-files: …}, got %s", yamlfile.Kind(item)))}
		}
		for _, p := range pairsOf(item) {
			var m match
			switch p.key.Value {
			case "any", "all":
				if p.value.Kind != yaml.SequenceNode {
					out.found = append(out.found, lost(p.key, "%s: actions/labeler ignores it, because its value is not a list", p.key.Value))
					continue
				}
				m = l.group(p.key, p.value)
				if terms = append(terms, m.when); p.key.Value == "any" && place < 0 {
					place, options = len(terms)-1, []term{m.when}
				}
			case "changed-files", "base-branch", "head-branch":
				// Options outside of a group belong to the first group of the kind "any".
				m = l.option(p, false)
				if place < 0 {
					place = len(terms)
					terms, options = append(terms, term{}), []term{is(never)}
				}
				options = append(options, m.when)
				terms[place] = some(options...)
			default:
				m = l.option(p, false)
			}
			out = out.and(m)
		}
	}
	out.when = all(terms...)
	switch {
	case !out.ok:
	case out.when.empty():
		out.found = append(out.found, lost(value, "there is no condition, so the label is never added"))
	case out.when.text == never:
		out.found = append(out.found, lost(value, "the condition is never true, so the label is never added"))
	}
	return out
}

// and combines two matches except for their conditions. It keeps the condition of m.
func (m match) and(o match) match {
	m.ok, m.files, m.narrow, m.found = m.ok && o.ok, m.files || o.files, m.narrow || o.narrow, append(m.found, o.found...)
	return m
}

// group reads the value of "any" or "all".
func (l labeler) group(key, value *yaml.Node) match {
	every := key.Value == "all"
	out := match{ok: true}
	var terms []term
	for _, item := range value.Content {
		if item.Kind == yaml.ScalarNode && !yamlfile.IsNull(item) {
			continue // oneForm reports it
		}
		if item.Kind != yaml.MappingNode {
			return match{found: append(out.found, wrong(item, "want an option such as {changed-files: …}, got %s", yamlfile.Kind(item)))}
		}
		for _, p := range pairsOf(item) {
			m := l.option(p, every)
			terms = append(terms, m.when)
			out = out.and(m)
		}
	}
	if out.when = join(operator(every), terms); out.ok && out.when.empty() {
		out.when = is(never)
	}
	return out
}

// operator returns "and" if all conditions must hold, or "or" if any of them must.
func operator(every bool) string {
	if every {
		return "and"
	}
	return "or"
}

// option reads changed-files, base-branch or head-branch.
func (l labeler) option(p pair, every bool) match {
	switch p.key.Value {
	case "changed-files":
		m := l.files.changed(p.value, every)
		m.files = true
		return m
	case "base-branch":
		return l.branch("pr.base", p.value, every)
	case "head-branch":
		return l.branch("pr.head", p.value, every)
	}
	return match{ok: true, found: findings{lost(p.key, "unknown option %s%s; actions/labeler ignores it", quoted(p.key.Value),
		yamlfile.DidYouMean(p.key.Value, []string{"changed-files", "base-branch", "head-branch", "any", "all"}))}}
}

// branch reads regular expressions about a branch's name.
func (l labeler) branch(name string, value *yaml.Node, every bool) match {
	out := match{ok: true}
	terms := []term{is(neutral(operator(every)))}
	for _, item := range yamlfile.Items(value) {
		src, bad := scalar(item, "a regular expression")
		if len(bad) > 0 {
			out = out.and(match{found: bad})
			continue
		}
		t, ok, found := l.read.matching(item, name, src, "")
		terms = append(terms, t)
		out = out.and(match{ok: ok, found: found.strict()})
	}
	out.when = join(operator(every), terms)
	return out
}
