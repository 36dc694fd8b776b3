package importer

import (
	"cmp"
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/importer/jsregexp"
	"github.com/org/foreman-action/internal/othertools"
)

// A sample describes an event for which a condition should be true.
type sample struct {
	othertools.Example

	unknown bool // no example is known
	active  bool // the event is a change of the issue by a person
}

// maxSample bounds the values of an example, in bytes.
const maxSample = 200

// example returns the example of a rule; ok is false if none is known.
func (r rule) example() (e othertools.Example, ok bool) {
	var choices []term
	for _, a := range r.then {
		for _, c := range a.choices {
			choices = append(choices, c.when)
		}
	}
	s := all(r.when, some(choices...)).example()
	e = s.Example
	e.Rule, e.Event, e.Pull = r.id, r.on[0], e.Pull || r.pull
	e.Old = slices.Contains(r.on, "schedule")
	if i := slices.IndexFunc(r.on, func(on string) bool { return on != "schedule" }); s.active && i >= 0 {
		e.Event = r.on[i]
	}
	if len(r.labels) > 0 {
		e.Label = r.labels[0]
	}
	if name, every := strings.CutSuffix(e.Event, ".*"); every {
		e.Event = name + map[bool]string{true: ".created", false: ".opened"}[name == "issue_comment"]
	}
	texts := slices.Concat(e.Title, e.Labels, e.Files, []string{e.Label, e.Head, e.Base, e.Repo, strings.ReplaceAll(strings.Join(e.Body, ""), "\n", "")})
	return e, !s.unknown && !slices.ContainsFunc(texts, func(s string) bool { return len(s) > maxSample || strings.ContainsFunc(s, notPrinted) })
}

// example returns what an event needs so that the condition is true. For an opposite that is
// nothing, because most events do not have what it excludes.
func (t term) example() sample {
	switch {
	case t.op == "not":
		return sample{}
	case t.text == never, t.op == counted:
		return sample{unknown: true}
	case t.op == "or":
		for _, p := range t.parts {
			if e := p.example(); !e.unknown {
				return e
			}
		}
		return sample{unknown: true}
	}
	e := t.sample
	for _, p := range t.parts {
		e = e.and(p.example())
	}
	return e
}

// and returns what both examples need.
func (e sample) and(o sample) sample {
	e.unknown, e.active, e.Pull = e.unknown || o.unknown, e.active || o.active, e.Pull || o.Pull
	e.Title, e.Body = slices.Concat(e.Title, o.Title), slices.Concat(e.Body, o.Body)
	e.Labels, e.Files = slices.Concat(e.Labels, o.Labels), slices.Concat(e.Files, o.Files)
	e.Head, e.Base, e.Repo = cmp.Or(e.Head, o.Head), cmp.Or(e.Base, o.Base), cmp.Or(e.Repo, o.Repo)
	return e
}

// needs returns the condition with an example for it.
func (t term) needs(e othertools.Example) term {
	t.sample.Example = e
	return t
}

// labeled returns the condition that the issue has a label.
func labeled(name string) term {
	return is(call("label", name)).needs(othertools.Example{Labels: []string{name}})
}

// matches returns the condition that a field matches a regular expression of RE2.
func matches(field, pattern string) term {
	s := jsregexp.Sample(pattern)
	var e othertools.Example
	switch {
	case field == "pr.head":
		e.Head = s
	case field == "pr.base":
		e.Base = s
	case field == "issue.body" || field == "issue.text" && strings.Contains(s, "\n"):
		e.Body = []string{s}
	default:
		e.Title = []string{s}
	}
	t := is(field + " matches `" + pattern + "`").needs(e)
	t.sample.unknown = s == ""
	return t
}

// onFiles returns the call of a function that compares changed files with globs.
func onFiles(function string, globs []string) term {
	file := strings.ReplaceAll(strings.ReplaceAll(globs[0], "**/", ""), "**", "*")
	return is(call(function, slices.Clone(globs)...)).needs(othertools.Example{Files: []string{strings.ReplaceAll(file, "*", "file")}})
}
