package importer

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/strictyaml"
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
			if globs := strictyaml.Child(item, key); globs != nil && slices.ContainsFunc(items(globs), func(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode }) {
				return true
			}
		}
		return false
	})
}

// globs reads the form before version 5, where one item must hold.
func (l *labeler) globs(value *yaml.Node) (term, bool) {
	var terms []term
	var simple []*yaml.Node
	ok := true
	for _, item := range items(value) {
		switch item.Kind {
		case yaml.ScalarNode:
			simple = append(simple, item)
		case yaml.MappingNode:
			t, fine := l.oldMatch(item)
			terms, ok = append(terms, t), ok && fine
		default:
			l.file.Problemf(item, "want a glob, got %s", strictyaml.Kind(item))
			return term{}, false
		}
	}
	t, fine := l.anyToAny(simple)
	return some(append([]term{t}, terms...)...), ok && fine
}

// oldMatch reads {any: [glob, …], all: [glob, …]}, where each must hold.
func (l *labeler) oldMatch(item *yaml.Node) (term, bool) {
	var terms []term
	ok := true
	for _, p := range pairsOf(item) {
		var t term
		fine := true
		switch p.key.Value {
		case "any":
			t, fine = l.allToAny(p.key, items(p.value))
		case "all":
			t, fine = l.allToAll(items(p.value))
		default:
			l.note(p.key, "unknown option %s; the source takes no notice of it", quoted(p.key.Value))
		}
		terms, ok = append(terms, t), ok && fine
	}
	return all(terms...), ok
}

// changed reads the value of changed-files.
func (l *labeler) changed(value *yaml.Node, every bool) (term, bool) {
	var terms []term
	ok := true
	for _, item := range items(value) {
		if item.Kind != yaml.MappingNode {
			l.file.Problemf(item, "changed-files: want an option such as {any-glob-to-any-file: …}, got %s", strictyaml.Kind(item))
			return term{}, false
		}
		for _, p := range pairsOf(item) {
			var t term
			fine := false
			switch list := items(p.value); p.key.Value {
			case "any-glob-to-any-file":
				t, fine = l.anyToAny(list)
			case "any-glob-to-all-files":
				t, fine = l.anyToAll(list)
			case "all-globs-to-any-file":
				t, fine = l.allToAny(p.key, list)
			case "all-globs-to-all-files":
				t, fine = l.allToAll(list)
			default:
				l.file.UnknownKey(p.key, []string{"any-glob-to-any-file", "any-glob-to-all-files", "all-globs-to-any-file", "all-globs-to-all-files"})
			}
			terms, ok = append(terms, t), ok && fine
		}
	}
	return join(map[bool]string{true: "and", false: "or"}[every], terms), ok
}

// anyToAny holds when a file matches a glob. A glob that cannot be translated is left out
// when there are others.
func (l *labeler) anyToAny(list []*yaml.Node) (term, bool) {
	var terms []term
	var positive []string
	lost := false
	if !l.few(list) {
		return term{}, false
	}
	for _, n := range list {
		g, ok := l.glob(n)
		switch {
		case !ok:
			lost = true
		case g.negated:
			terms = append(terms, not(is(call("all_files", g.any...))))
		default:
			positive = append(positive, g.any...)
		}
	}
	t := some(append(calls("any_file", positive), terms...)...)
	return t, !lost || !t.empty()
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
func (l *labeler) anyToAll(list []*yaml.Node) (term, bool) {
	t, ok := l.each(list)
	return some(t...), ok
}

// allToAll holds when all files match all globs.
func (l *labeler) allToAll(list []*yaml.Node) (term, bool) {
	t, ok := l.each(list)
	return all(t...), ok
}

// each returns for every glob the condition that all files match it.
func (l *labeler) each(list []*yaml.Node) ([]term, bool) {
	var terms []term
	ok := l.few(list)
	for _, n := range list[:min(len(list), maxGlobs)] {
		g, fine := l.glob(n)
		ok = ok && fine
		switch {
		case !fine:
		case g.negated:
			terms = append(terms, not(is(call("any_file", g.any...))))
		default:
			terms = append(terms, is(call("all_files", g.any...)))
		}
	}
	return terms, ok
}

// allToAny holds when there is a file that matches all globs, which we can only say of
// one glob.
func (l *labeler) allToAny(key *yaml.Node, list []*yaml.Node) (term, bool) {
	if len(list) == 1 {
		return l.anyToAny(list)
	}
	l.note(key, "%s asks for one file that matches all of several globs, which has no counterpart; any_file(…) and not any_file(…) comes near", key.Value)
	return term{}, false
}

// maxGlobs is how many globs one condition is made of.
const maxGlobs = 2000

// few reports whether there are not too many globs.
func (l *labeler) few(list []*yaml.Node) bool {
	if len(list) > maxGlobs {
		l.note(list[0], "more than %d globs in one list", maxGlobs)
	}
	return len(list) <= maxGlobs
}

func (l *labeler) glob(n *yaml.Node) (glob, bool) {
	text, ok := l.text(n, "a glob")
	if !ok {
		return glob{}, false
	}
	g, problem := readGlob(strings.TrimSpace(text))
	if problem != "" {
		l.note(n, "the glob %s: %s", quoted(text), problem)
	}
	return g, problem == ""
}
