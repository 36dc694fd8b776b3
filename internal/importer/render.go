package importer

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A writer puts a draft on paper.
type writer struct {
	b     strings.Builder
	line  int   // of what is written next
	rules []int // the line on which each rule starts
}

func (w *writer) printf(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	w.line += strings.Count(text, "\n")
	w.b.WriteString(text)
}

// render writes the whole file.
func (d *draft) render() *writer {
	w := &writer{line: 1}
	w.printf("# Imported by foreman rules import from %s, a configuration of %s.\n", remark(d.file.Name()), action(d.tool))
	for _, h := range d.hints {
		w.printf("# %s\n", h)
	}
	if len(d.top) > 0 {
		w.printf("# What could not be mapped and belongs to no rule:\n")
		w.notes("# ", d.top)
	}
	w.printf("version: 1\n")
	if d.mode != "" {
		w.printf("mode: %s\n", d.mode)
	}
	d.renderPolicy(w)
	w.printf("rules:\n")
	for _, e := range d.entries {
		d.renderEntry(w, e)
	}
	return w
}

func (d *draft) renderPolicy(w *writer) {
	closes := d.closes()
	if !closes && len(d.policy.limits) == 0 && !d.policy.interval {
		return
	}
	w.printf("policy:\n")
	if closes {
		w.printf("  allow_close: true\n")
	}
	if len(d.policy.limits) > 0 {
		w.printf("  limits:\n")
		for _, name := range slices.Sorted(maps.Keys(d.policy.limits)) {
			w.printf("    %s: %d\n", name, d.policy.limits[name])
		}
	}
	if d.policy.interval {
		w.printf("  comment_interval: 0s # %s has no such limit\n", action(d.tool))
	}
}

// closes reports whether a rule closes something.
func (d *draft) closes() bool {
	return slices.ContainsFunc(d.entries, func(e *entry) bool {
		return slices.ContainsFunc(e.rules, func(r rule) bool {
			return slices.ContainsFunc(r.then, func(a act) bool { return a.name == "close_issue" })
		})
	})
}

func (w *writer) notes(prefix string, notes []string) {
	for _, note := range notes {
		w.printf("%s%s\n", prefix, remark(note))
	}
}

func (d *draft) renderEntry(w *writer, e *entry) {
	if len(e.rules) == 0 && len(e.notes) == 0 {
		return
	}
	w.notes("  # ", e.notes)
	if len(e.rules) == 0 {
		w.printf("  # Left out: %s\n", remark(e.name))
		w.notes("  #   ", d.was(e))
	}
	for _, r := range e.rules {
		w.rules = append(w.rules, w.line)
		w.rule(r)
	}
}

// was returns the lines of the source that an entry stands on, as far as they are few.
func (d *draft) was(e *entry) []string {
	if e.from == 0 || e.from > len(d.lines) {
		return nil
	}
	const most = 200 // bytes of a line
	lines := slices.Clone(d.lines[e.from-1 : max(e.from, min(e.to, len(d.lines)))])
	for len(lines) > 1 {
		last := strings.TrimSpace(lines[len(lines)-1])
		if last != "" && !strings.HasPrefix(last, "#") {
			break
		}
		lines = lines[:len(lines)-1]
	}
	for i, line := range lines {
		if len(line) > most {
			lines[i] = strings.ToValidUTF8(line[:most], "") + "…"
		}
	}
	if len(lines) > maxWas {
		lines = append(lines[:maxWas], "…")
	}
	return lines
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
