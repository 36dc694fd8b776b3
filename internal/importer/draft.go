package importer

import (
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/importer/layout"
	"github.com/org/foreman-action/internal/yamlfile"
)

// A draft is a configuration file of ours before it is rendered.
type draft struct {
	source  string   // name of the file that it comes from
	action  string   // name of the action that the file is for
	hints   []string // how the source differs in general
	top     []string // notes that belong to no entry
	shadow  bool     // mode: shadow
	policy  policy
	entries []entry
	given   ids // of the rules
}

// A policy holds the needs of the rules beyond the defaults.
type policy struct {
	limits   map[string]int
	interval bool // comments may follow each other at once
	comments bool // so they may, and there is no limit to their number
	writes   bool // there is no limit to the number of changes
}

// An entry is a part of the source with its rules and notes.
type entry struct {
	name  string
	line  int      // of the source; 0: none
	text  []string // lines of the source, for an entry without rules
	notes []string
	rules []rule
	// gathered is true when its rules are part of another entry's.
	gathered bool
}

// count returns the number of rules.
func (d draft) count() int {
	n := 0
	for _, e := range d.entries {
		n += len(e.rules)
	}
	return n
}

// files are the sources of an import. Without a workflow, or when it is the source
// itself, both are the same.
type files struct{ source, workflow *yamlfile.File }

// assemble turns a reading into a draft and a report. Mistakes are recorded in the files.
// It stops when the rules become larger than a file may be; size is then more than that.
func assemble(in files, lines []string, r reading, given ids) (d draft, found *report, size int) {
	found = &report{seen: map[place]bool{}}
	d = draft{source: in.source.Name(), shadow: r.shadow, policy: policy{limits: map[string]int{}, writes: r.unlimited}}
	for action, n := range r.limits {
		if n > 0 {
			d.policy.limits[action] = n
		}
	}
	// sort puts findings where they belong and returns the lines that are notes.
	sort := func(list findings) []string {
		var notes []string
		for _, f := range list {
			file := in.source
			if f.workflow {
				file = in.workflow
			}
			switch f.kind {
			case noCounterpart:
				notes = append(notes, found.add(file, f)...)
			case mistake:
				file.Problemf(f.node, "%s", f.msg)
			case hint:
				if !slices.Contains(d.hints, f.msg) {
					d.hints = append(d.hints, f.msg)
				}
			}
		}
		return notes
	}
	d.top = sort(r.before)
	d.given = given
	for p := range r.parts {
		e := entry{name: p.name, line: p.from, notes: sort(p.found), rules: d.given.number(p.rules), text: layout.Excerpt(lines, p.from, p.to)}
		for _, one := range e.rules {
			size += one.size()
			d.policy.need(one)
		}
		d.policy.comments = d.policy.comments || p.comments
		d.policy.interval = d.policy.interval || p.interval || p.comments
		if d.entries = append(d.entries, e); size > yamlfile.MaxSize {
			break
		}
	}
	sort(r.after)
	return d, found, size
}

// need makes room for the actions of a rule.
func (p policy) need(r rule) {
	for _, a := range r.then {
		if n := beyondUsual(a.name, r.count(a.name)); n > p.limits[a.name] {
			p.limits[a.name] = n
		}
	}
}

// beyondUsual returns n, or 0 when one event may bring n actions of a type without a word
// in the policy.
func beyondUsual(action string, n int) int {
	usual := 1
	if strings.HasSuffix(action, "_label") {
		usual = 5
	}
	if n <= usual {
		return 0
	}
	return n
}
