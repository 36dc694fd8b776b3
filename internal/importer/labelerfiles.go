package importer

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/importer/minimatch"
	"github.com/org/foreman-action/internal/yamlfile"
)

// old reports whether a label's value has the form before version 5: globs, or any and
// all with globs.
func old(value *yaml.Node) bool {
	if value.Kind == yaml.ScalarNode && !isNull(value) {
		return true
	}
	return value.Kind == yaml.SequenceNode && slices.ContainsFunc(value.Content, func(item *yaml.Node) bool {
		if item.Kind == yaml.ScalarNode {
			return !isNull(item)
		}
		for _, key := range []string{"any", "all"} {
			if globs := yamlfile.Child(item, key); globs != nil && slices.ContainsFunc(items(globs), func(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode }) {
				return true
			}
		}
		return false
	})
}

// globs reads the form before version 5, where one item must hold.
func globs(value *yaml.Node) match {
	out := match{ok: true}
	var terms []term
	var simple []*yaml.Node
	for _, item := range items(value) {
		switch item.Kind {
		case yaml.ScalarNode:
			simple = append(simple, item)
		case yaml.MappingNode:
			m := oldMatch(item)
			terms = append(terms, m.when)
			out = out.and(m)
		default:
			return match{found: append(out.found, wrong(item, "want a glob, got %s", yamlfile.Kind(item)))}
		}
	}
	m := anyToAny(simple)
	out = out.and(m)
	out.when = some(append([]term{m.when}, terms...)...)
	return out
}

// oldMatch reads {any: [glob, …], all: [glob, …]}, where each must hold.
func oldMatch(item *yaml.Node) match {
	out := match{ok: true}
	var terms []term
	for _, p := range pairsOf(item) {
		var m match
		switch p.key.Value {
		case "any":
			m = allToAny(p.key, items(p.value))
		case "all":
			m = allToAll(items(p.value))
		default:
			m = match{ok: true, found: findings{lost(p.key, "unknown option %s; the source takes no notice of it", quoted(p.key.Value))}}
		}
		terms = append(terms, m.when)
		out = out.and(m)
	}
	out.when = all(terms...)
	return out
}

// changed reads the value of changed-files.
func changed(value *yaml.Node, every bool) match {
	out := match{ok: true}
	var terms []term
	for _, item := range items(value) {
		if item.Kind != yaml.MappingNode {
			return match{found: append(out.found, wrong(item, "changed-files: want an option such as {any-glob-to-any-file: …}, got %s", yamlfile.Kind(item)))}
		}
		for _, p := range pairsOf(item) {
			var m match
			switch list := items(p.value); p.key.Value {
			case "any-glob-to-any-file":
				m = anyToAny(list)
			case "any-glob-to-all-files":
				m = anyToAll(list)
			case "all-globs-to-any-file":
				m = allToAny(p.key, list)
			case "all-globs-to-all-files":
				m = allToAll(list)
			default:
				m.found = findings{unknownKey(p.key, []string{"any-glob-to-any-file", "any-glob-to-all-files", "all-globs-to-any-file", "all-globs-to-all-files"})}
			}
			terms = append(terms, m.when)
			out = out.and(m)
		}
	}
	out.when = join(operator(every), terms)
	return out
}

// anyToAny holds when a file matches a glob. A glob that cannot be translated is left out
// when there are others.
func anyToAny(list []*yaml.Node) match {
	out := match{found: tooMany(list)}
	if len(out.found) > 0 {
		return out
	}
	var terms []term
	var positive []string
	complete := true
	for _, n := range list {
		g, bad := globAt(n)
		out.found = append(out.found, bad...)
		switch {
		case len(bad) > 0:
			complete = false
		case g.Negated:
			terms = append(terms, not(is(call("all_files", g.Any...))))
		default:
			positive = append(positive, g.Any...)
		}
	}
	out.when = some(append(calls("any_file", positive), terms...)...)
	out.ok = complete || !out.when.empty()
	return out
}

// calls returns the calls of a function that together have all the texts, each of a
// bounded length.
func calls(function string, texts []string) []term {
	var out []term
	start, size := 0, 0
	for i, s := range texts {
		if size += len(s) + 4; size > maxCondition/2 {
			out = append(out, is(call(function, slices.Clone(texts[start:i+1])...)))
			start, size = i+1, 0
		}
	}
	if start < len(texts) {
		out = append(out, is(call(function, slices.Clone(texts[start:])...)))
	}
	return out
}

// anyToAll holds when there is a glob that all files match.
func anyToAll(list []*yaml.Node) match { return eachGlob("or", list) }

// allToAll holds when all files match all globs.
func allToAll(list []*yaml.Node) match { return eachGlob("and", list) }

// eachGlob joins for every glob the condition that all files match it.
func eachGlob(op string, list []*yaml.Node) match {
	out := match{found: tooMany(list)}
	out.ok = len(out.found) == 0
	var terms []term
	for _, n := range list[:min(len(list), maxGlobs)] {
		g, bad := globAt(n)
		out = out.and(match{ok: len(bad) == 0, found: bad})
		switch {
		case len(bad) > 0:
		case g.Negated:
			terms = append(terms, not(is(call("any_file", g.Any...))))
		default:
			terms = append(terms, is(call("all_files", g.Any...)))
		}
	}
	out.when = join(op, terms)
	return out
}

// allToAny holds when there is a file that matches all globs, which our rules can only
// express for one glob.
func allToAny(key *yaml.Node, list []*yaml.Node) match {
	if len(list) == 1 {
		return anyToAny(list)
	}
	return match{found: findings{lost(key, "%s asks for one file that matches all of several globs, which has no counterpart; any_file(…) and not any_file(…) comes near", key.Value)}}
}

// maxGlobs is how many globs one condition is made of.
const maxGlobs = 2000

// tooMany returns the finding that there are too many globs, or none.
func tooMany(list []*yaml.Node) findings {
	if len(list) > maxGlobs {
		return findings{lost(list[0], "more than %d globs in one list", maxGlobs)}
	}
	return nil
}

// globAt reads the glob in a scalar. It is usable when there are no findings.
func globAt(n *yaml.Node) (minimatch.Glob, findings) {
	text, bad := scalar(n, "a glob")
	if len(bad) > 0 {
		return minimatch.Glob{}, bad
	}
	g, problem := minimatch.Parse(strings.TrimSpace(text))
	if problem != "" {
		return minimatch.Glob{}, findings{lost(n, "the glob %s: %s", quoted(text), problem)}
	}
	return g, nil
}
