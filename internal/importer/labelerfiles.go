package importer

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/importer/minimatch"
	"github.com/org/foreman-action/internal/othertools"
	"github.com/org/foreman-action/internal/yamlfile"
)

// old reports whether a label's value has the form before version 5: globs, or "any" and "all" with
// globs.
func old(value *yaml.Node) bool {
	if value.Kind == yaml.ScalarNode && !yamlfile.IsNull(value) {
		return true
	}
	return value.Kind == yaml.SequenceNode && slices.ContainsFunc(value.Content, func(item *yaml.Node) bool {
		if item.Kind == yaml.ScalarNode {
			return !yamlfile.IsNull(item)
		}
		for _, key := range []string{"any", "all"} {
			if globs := yamlfile.Child(item, key); globs != nil && slices.ContainsFunc(yamlfile.Items(globs), func(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && !yamlfile.IsNull(n) }) {
				return true
			}
		}
		return false
	})
}

// A globReader reads globs of changed files.
type globReader struct {
	hidden bool // * and ** match names that begin with a dot
}

// globs reads the form before version 5, in which one item must match.
func (r globReader) globs(value *yaml.Node) match {
	out := match{ok: true}
	var terms []term
	var simple []*yaml.Node
	for _, item := range yamlfile.Items(value) {
		switch item.Kind {
		case yaml.ScalarNode:
			simple = append(simple, item)
		case yaml.MappingNode:
			m := r.oldMatch(item)
			terms = append(terms, m.when)
			out = out.and(m)
		default:
			return match{found: append(out.found, wrong(item, "want a glob, got %s", yamlfile.Kind(item)))}
		}
	}
	m := r.anyToAny(simple)
	out = out.and(m)
	out.when = some(append([]term{m.when}, terms...)...)
	return out
}

// oldMatch reads {any: [glob, …], all: [glob, …]}, which matches if both lists do.
func (r globReader) oldMatch(item *yaml.Node) match {
	out := match{ok: true}
	var terms []term
	for _, p := range pairsOf(item) {
		var m match
		switch p.key.Value {
		case "any":
			m = r.allToAny(yamlfile.Items(p.value))
		case "all":
			m = r.eachGlob("and", yamlfile.Items(p.value))
		default:
			m = match{ok: true, found: findings{lost(p.key, "unknown option %s; actions/labeler ignores it", quoted(p.key.Value))}}
		}
		terms = append(terms, m.when)
		out = out.and(m)
	}
	out.when = all(terms...)
	return out
}

// changed reads the value of changed-files.
func (r globReader) changed(value *yaml.Node, every bool) match {
	out := match{ok: true}
	var terms []term
	for _, item := range yamlfile.Items(value) {
		if item.Kind != yaml.MappingNode {
			return match{found: append(out.found, wrong(item, "changed-files: want an option such as {any-glob-to-any-file: …}, got %s", yamlfile.Kind(item)))}
		}
		if item == value { // not in a list
			return match{ok: true, found: findings{lost(value, "changed-files: actions/labeler ignores options that are not in a list; write a - before each of them")}}
		}
		for _, p := range pairsOf(item) {
			var m match
			switch list := yamlfile.Items(p.value); p.key.Value {
			case "any-glob-to-any-file":
				m = r.anyToAny(list)
			case "any-glob-to-all-files":
				m = r.eachGlob("or", list)
			case "all-globs-to-any-file":
				m = r.allToAny(list)
			case "all-globs-to-all-files":
				m = r.eachGlob("and", list)
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

// anyToAny is true if any file matches any glob. It omits a glob that cannot be translated if there
// are other globs.
func (r globReader) anyToAny(list []*yaml.Node) match {
	out := match{found: tooMany(list)}
	if len(out.found) > 0 {
		return out
	}
	terms := []term{is(never)}
	var positive []string
	for _, n := range list {
		g, ok, bad := r.globAt(n)
		out.found = append(out.found, bad...)
		switch {
		case !ok:
			out.narrow = true
		case len(g.Any) == 0:
			terms = append(terms, ofFiles("any", r.path(g)))
		case !g.Negated:
			positive = append(positive, g.Any...)
		case r.hidesNothing(g.Any):
			terms = append(terms, not(onFiles("all_files", g.Any)))
		default:
			terms = append(terms, ofFiles("any", r.path(g)))
		}
	}
	var found []term
	for _, g := range r.groups(positive) {
		if g.hidden == nil {
			found = append(found, calls("any_file", g.globs)...)
			continue
		}
		for some := range slices.Chunk(g.globs, maxOfOneCall) {
			found = append(found, ofFiles("any", group{some, g.hidden}.path()))
		}
	}
	out.when = some(append(found, terms...)...)
	out.ok = !out.narrow || out.when.text != never
	return out
}

// maxOfOneCall is the maximal number of globs in a condition about each path.
const maxOfOneCall = 20

// ofFiles applies a condition about # to the changed files, with a function such as any.
func ofFiles(function string, t term) term {
	switch {
	case t.text == never || t.text == always && function == "all":
		return t
	case t.text == always:
		return is("len(pr.files) > 0").needs(othertools.Example{Files: []string{"file"}})
	}
	e := t.example()
	if len(e.Files) == 0 {
		e.Files = []string{"file"}
	}
	out := is(function + "(pr.files, " + t.line() + ")")
	out.sample = e
	return out
}

// A group is a list of globs, and the paths that none of them matches because of a leading dot.
type group struct {
	globs  []string
	hidden []string // nil: none
}

// path returns the condition that one of the globs matches the path #.
func (g group) path() term {
	on := func(globs []string) term {
		t := onFiles("matches_glob", globs)
		t.text = strings.Replace(t.text, "(", "(#, ", 1)
		return t
	}
	if g.hidden == nil {
		return on(g.globs)
	}
	return all(on(g.globs), not(on(g.hidden)))
}

// groups groups globs by the paths that they do not match because of a name with a leading dot.
func (r globReader) groups(globs []string) []group {
	var out []group
	for _, glob := range globs {
		hidden, _ := r.hiddenFrom(glob)
		i := slices.IndexFunc(out, func(g group) bool { return slices.Equal(g.hidden, hidden) })
		if i < 0 {
			i, out = len(out), append(out, group{hidden: hidden})
		}
		out[i].globs = append(out[i].globs, glob)
	}
	return out
}

func (r globReader) hidesNothing(globs []string) bool {
	return !slices.ContainsFunc(r.groups(globs), func(g group) bool { return g.hidden != nil })
}

// path returns the condition that a glob matches the path #.
func (r globReader) path(g minimatch.Glob) term {
	terms := []term{is(never)}
	for _, one := range r.groups(g.Any) {
		terms = append(terms, one.path())
	}
	if g.Negated {
		return not(some(terms...))
	}
	return some(terms...)
}

// hiddenFrom returns globs of the paths that a glob does not match because of a name that begins
// with a dot. nil: the glob has no wildcard, or matches such names too. ok is false if globs cannot
// express these paths.
func (r globReader) hiddenFrom(glob string) (hidden []string, ok bool) {
	wild := func(s string) bool { return strings.ContainsAny(s, `*?[`) }
	if r.hidden || !wild(glob) {
		return nil, true
	}
	folders := strings.Split(glob, "/")
	rest := 0 // index of the first folder after the last one with a leading dot
	for i, f := range folders {
		if strings.HasPrefix(f, ".") {
			rest = i + 1
		}
	}
	if !slices.ContainsFunc(folders[rest:], wild) {
		return nil, !slices.ContainsFunc(folders[:rest], func(f string) bool { return wild(f) && !strings.HasPrefix(f, ".") })
	}
	if slices.ContainsFunc(folders[:rest], wild) {
		return nil, false
	}
	below := strings.Join(append(slices.Clone(folders[:rest]), "**/.*"), "/")
	return []string{below, below + "/**"}, true
}

// calls returns several calls of a function with the texts as arguments, none of them too long.
func calls(function string, texts []string) []term {
	var out []term
	start, size := 0, 0
	for i, s := range texts {
		if size += len(s) + 4; size > maxCondition/2 {
			out = append(out, onFiles(function, texts[start:i+1]))
			start, size = i+1, 0
		}
	}
	if start < len(texts) {
		out = append(out, onFiles(function, texts[start:]))
	}
	return out
}

// eachGlob returns for each glob the condition that all files match it, joined by op.
func (r globReader) eachGlob(op string, list []*yaml.Node) match {
	out := match{found: tooMany(list)}
	out.ok = len(out.found) == 0
	terms := []term{is(neutral(op))}
	for _, n := range list[:min(len(list), maxGlobs)] {
		g, ok, bad := r.globAt(n)
		out = out.and(match{ok: ok, found: bad})
		groups := r.groups(g.Any)
		switch {
		case !ok:
		case len(g.Any) == 0:
			terms = append(terms, r.path(g))
		case r.hidesNothing(g.Any) && g.Negated:
			terms = append(terms, not(onFiles("any_file", g.Any)))
		case r.hidesNothing(g.Any):
			terms = append(terms, onFiles("all_files", g.Any))
		case len(groups) == 1 && !g.Negated:
			terms = append(terms, all(onFiles("all_files", g.Any), not(onFiles("any_file", groups[0].hidden))))
		default:
			terms = append(terms, all(is("len(pr.files) > 0"), ofFiles("all", r.path(g))))
		}
	}
	out.when = join(op, terms)
	return out
}

// allToAny is true if one file matches all globs.
func (r globReader) allToAny(list []*yaml.Node) match {
	if len(list) == 1 {
		return r.anyToAny(list)
	}
	out := match{found: tooMany(list)}
	out.ok = len(out.found) == 0
	var globs []minimatch.Glob
	for _, n := range list[:min(len(list), maxGlobs)] {
		g, ok, bad := r.globAt(n)
		if out = out.and(match{ok: ok, found: bad}); ok {
			globs = append(globs, g)
		}
	}
	out.when = ofFiles("any", r.every(globs))
	return out
}

// every returns the condition that all the globs match the path #.
func (r globReader) every(globs []minimatch.Glob) term {
	terms := []term{is(always)}
	var texts []string
	for _, g := range globs {
		terms, texts = append(terms, r.path(g)), append(texts, g.Any...)
	}
	one := slices.ContainsFunc(globs, func(g minimatch.Glob) bool { return !g.Negated })
	if groups := r.groups(texts); !one || len(groups) != 1 || groups[0].hidden == nil {
		return all(terms...)
	}
	// All globs exclude the same paths, so these are excluded once.
	terms = terms[:1]
	for _, g := range globs {
		terms = append(terms, globReader{hidden: true}.path(g))
	}
	return all(append(terms, not(group{globs: r.groups(texts)[0].hidden}.path()))...)
}

// maxGlobs is the maximal number of globs in one list.
const maxGlobs = 2000

// tooMany returns a finding if a list has too many globs.
func tooMany(list []*yaml.Node) findings {
	if len(list) > maxGlobs {
		return findings{lost(list[0], "more than %d globs in one list", maxGlobs)}
	}
	return nil
}

// globAt parses the glob in a scalar. ok is false if it cannot be translated.
func (r globReader) globAt(n *yaml.Node) (g minimatch.Glob, ok bool, found findings) {
	text, bad := scalar(n, "a glob")
	if len(bad) > 0 {
		return minimatch.Glob{}, false, bad
	}
	g, problem := minimatch.Parse(strings.TrimSpace(text))
	for _, glob := range g.Any {
		if _, ok := r.hiddenFrom(glob); !ok {
			problem = "its treatment of names that begin with a dot has no counterpart; with dot: true in the workflow it can be imported"
		}
	}
	switch {
	case problem != "":
		return minimatch.Glob{}, false, findings{lost(n, "the glob %s: %s", quoted(text), problem)}
	case g.Nothing != "":
		found = findings{lost(n, "the glob %s: %s", quoted(text), g.Nothing)}
	}
	return g, true, found
}
