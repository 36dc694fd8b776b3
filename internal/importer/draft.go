package importer

import (
	"slices"

	"github.com/org/foreman-action/internal/layout"
	"github.com/org/foreman-action/internal/yamlfile"
)

// A draft is a Foreman configuration file before it is rendered.
type draft struct {
	source  string   // name of the imported file
	action  string   // name of the action whose configuration is imported
	hints   []string // general differences from the source
	top     []string // notes that belong to no entry
	shadow  bool     // mode: shadow
	policy  Policy
	entries []entry
	given   ids // ids that rules already have
}

// An entry is a part of the source with its rules and notes.
type entry struct {
	name  string
	line  int      // line in the source; 0: none
	text  []string // excerpt of the source, shown if the entry has no rules
	notes []string
	rules []rule
	// gathered is true if its rules were merged into rules of another entry.
	gathered bool
}

// leftOut reports whether the entry is only a comment.
func (e entry) leftOut() bool { return len(e.rules) == 0 && len(e.notes) > 0 }

// count returns the number of rules.
func (d draft) count() int {
	n := 0
	for _, e := range d.entries {
		n += len(e.rules)
	}
	return n
}

// files are the source and the workflow of an import. They are the same file if there is no
// workflow, or if the workflow is the source.
type files struct{ source, workflow *yamlfile.File }

// assemble converts a reading to a draft and a report. It records mistakes in the files. size is
// the approximate length of the rules. assemble stops as soon as size exceeds the limit of a file.
func assemble(in files, lines []string, r reading, given ids) (d draft, found *report, size int) {
	found = &report{seen: map[place]bool{}}
	d = draft{source: in.source.Name(), shadow: r.shadow, policy: Policy{Limits: map[string]int{}, Writes: r.unlimited}}
	for action, n := range r.limits {
		if n > 0 {
			d.policy.Limits[action] = n
		}
	}
	// sort adds findings to the report, the mistakes or the hints, and returns notes for the new
	// file.
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
				f.record(file)
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
		e := entry{name: p.name, line: p.from, notes: sort(p.found), text: layout.Excerpt(lines, p.from, p.to)}
		for _, r := range p.rules {
			e.rules = append(e.rules, d.given.number(r.synced())...)
		}
		for _, one := range e.rules {
			size += one.size()
			d.policy.need(one)
		}
		d.policy.Comments = d.policy.Comments || p.comments
		d.policy.Interval = d.policy.Interval || p.interval || p.comments
		if d.entries = append(d.entries, e); size > yamlfile.MaxSize {
			break
		}
	}
	sort(r.after)
	return d, found, size
}
