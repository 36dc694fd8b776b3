package importer

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A page is the text of a configuration file.
type page struct {
	text   string
	starts []int // the line on which each rule starts, from 1
}

// render returns the whole file.
func render(d draft) page {
	w := writer{line: 1}
	w.printf("# Imported by foreman rules import from %s, a configuration of %s.\n", remark(d.source), d.action)
	for _, h := range d.hints {
		w.printf("# %s\n", h)
	}
	if len(d.top) > 0 {
		w.printf("# What could not be mapped and belongs to no rule:\n")
		w.notes("# ", d.top)
	}
	w.printf("version: 1\n")
	if d.shadow {
		w.printf("mode: shadow\n")
	}
	w.policy(d.policy, d.closes(), d.action)
	w.printf("rules:\n")
	for _, e := range d.entries {
		w.entry(e)
	}
	return page{w.b.String(), w.rules}
}

// closes reports whether a rule closes something.
func (d draft) closes() bool {
	return slices.ContainsFunc(d.entries, func(e entry) bool {
		return slices.ContainsFunc(e.rules, func(r rule) bool { return r.count("close_issue") > 0 })
	})
}

// A writer collects the text of a page.
type writer struct {
	b     strings.Builder
	line  int   // of the text that is written next
	rules []int // the line on which each rule starts
}

func (w *writer) printf(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	w.line += strings.Count(text, "\n")
	w.b.WriteString(text)
}

func (w *writer) policy(p policy, closes bool, action string) {
	if !closes && len(p.limits) == 0 && !p.interval {
		return
	}
	w.printf("policy:\n")
	if closes {
		w.printf("  allow_close: true\n")
	}
	if len(p.limits) > 0 {
		w.printf("  limits:\n")
		for _, name := range slices.Sorted(maps.Keys(p.limits)) {
			w.printf("    %s: %d\n", name, p.limits[name])
		}
	}
	if p.interval {
		w.printf("  comment_interval: 0s # %s has no such limit\n", action)
	}
}

func (w *writer) notes(prefix string, notes []string) {
	for _, note := range notes {
		w.printf("%s%s\n", prefix, remark(note))
	}
}

func (w *writer) entry(e entry) {
	if len(e.rules) == 0 && len(e.notes) == 0 {
		return
	}
	w.notes("  # ", e.notes)
	if len(e.rules) == 0 {
		w.printf("  # Left out: %s\n", remark(e.name))
		w.notes("  #   ", e.text)
	}
	for _, r := range e.rules {
		w.rules = append(w.rules, w.line)
		w.rule(r)
	}
}

func (w *writer) rule(r rule) {
	w.printf("  - id: %s\n", yamlText(r.id))
	w.printf("    on: [%s]\n", strings.Join(r.on, ", "))
	if r.scan != "" {
		w.printf("    scan: %s\n", yamlText(r.scan))
	}
	if !r.when.empty() {
		w.printf("    when: |\n")
		for _, line := range r.when.lines() {
			w.printf("      %s\n", line)
		}
	}
	if r.elseUndo {
		w.printf("    else_undo: true\n")
	}
	w.printf("    then:\n")
	for _, a := range r.then {
		w.act(a)
	}
}

func (w *writer) act(a act) {
	switch {
	case len(a.params) == 0:
		w.printf("      - %s\n", a.name)
	case len(a.params) == 1 && a.params[0].key == "":
		w.printf("      - %s: %s\n", a.name, yamlText(a.params[0].value))
	default:
		w.printf("      - %s:\n", a.name)
		for _, p := range a.params {
			w.param(p)
		}
	}
}

func (w *writer) param(p param) {
	if !block(p.value) {
		w.printf("          %s: %s\n", p.key, yamlText(p.value))
		return
	}
	chomp := "-"
	if strings.HasSuffix(p.value, "\n") {
		chomp = ""
	}
	w.printf("          %s: |%s\n", p.key, chomp)
	for line := range strings.SplitSeq(strings.TrimSuffix(p.value, "\n"), "\n") {
		if line != "" {
			line = "            " + line
		}
		w.printf("%s\n", line)
	}
}
