package importer

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/importer/layout"
)

// head is the start of the first line of an imported file.
const head = "# Imported by foreman rules import from "

// A page is the text of a configuration file.
type page struct {
	text   string
	starts []int // number of the first line of each rule, from 1
}

// render returns the whole file.
func render(d draft) page {
	w := writer{line: 1}
	w.comment("# ", fmt.Sprintf(strings.TrimPrefix(head, "# ")+"%s, a configuration of %s.", d.source, d.action))
	w.comment("# ", d.hints...)
	if len(d.top) > 0 {
		w.comment("# ", "Differences from the original that belong to no single rule:")
		w.comment("# ", d.top...)
	}
	w.lines("version: 1")
	if d.shadow {
		w.lines("mode: shadow")
	}
	w.policy(d)
	w.lines("rules:")
	for _, e := range d.entries {
		w.entry(e)
	}
	return page{w.b.String(), w.rules}
}

// does reports whether a rule has one of the actions.
func (d draft) does(actions ...string) bool {
	return slices.ContainsFunc(d.entries, func(e entry) bool {
		return slices.ContainsFunc(e.rules, func(r rule) bool {
			return slices.ContainsFunc(r.then, func(a act) bool { return slices.Contains(actions, a.name) })
		})
	})
}

// A writer collects the text of a page.
type writer struct {
	b     strings.Builder
	line  int   // number of the next line
	rules []int // number of the first line of each rule
}

func (w *writer) lines(list ...string) {
	for _, l := range list {
		w.b.WriteString(l)
		w.b.WriteByte('\n')
	}
	w.line += len(list)
}

func (w *writer) comment(prefix string, texts ...string) {
	for _, s := range texts {
		w.lines(layout.Comment(prefix, s)...)
	}
}

func (w *writer) policy(d draft) {
	p, closes, adds := d.policy, d.does("close_issue"), d.does("add_label", "add_labels")
	if !closes && !adds && len(p.limits) == 0 && !p.interval && !p.writes {
		return
	}
	w.lines("policy:")
	if closes {
		w.lines("  allow_close: true")
	}
	if adds {
		w.lines("  create_labels: true # as " + d.action + " does")
	}
	if len(p.limits) > 0 {
		w.lines("  limits:")
		for _, name := range slices.Sorted(maps.Keys(p.limits)) {
			w.lines(fmt.Sprintf("    %s: %d", name, p.limits[name]))
		}
	}
	if p.writes {
		w.lines("  max_writes_per_hour: 0 # " + d.action + " has no such limit")
	}
	if p.interval {
		w.lines("  comment_interval: 0s # " + d.action + " has no such limit")
	}
	if p.comments {
		w.lines("  max_comments_per_issue: 0 # " + d.action + " has no such limit")
	}
}

func (w *writer) entry(e entry) {
	if len(e.rules) == 0 && len(e.notes) == 0 {
		return
	}
	w.comment("  # ", e.notes...)
	switch {
	case len(e.rules) > 0:
	case len(e.text) == 1:
		w.comment("  # ", "Left out: "+strings.TrimSpace(e.text[0]))
	default:
		w.comment("  # ", "Left out: "+e.name)
		for _, line := range e.text {
			w.comment("  #   ", line)
		}
	}
	for _, r := range e.rules {
		w.rules = append(w.rules, w.line)
		w.rule(r)
	}
}

func (w *writer) rule(r rule) {
	w.lines("  - id: " + layout.Scalar(r.id))
	w.lines(layout.List(4, "on", r.on)...)
	switch {
	case len(r.scans) == 1:
		w.lines(layout.Text(4, "scan", r.scans[0])...)
	case len(r.scans) > 1:
		scans := make([]string, len(r.scans))
		for i, s := range r.scans {
			scans[i] = layout.Scalar(s)
		}
		w.lines(layout.List(4, "scan", scans)...)
	}
	if when := r.condition(); !when.empty() {
		w.lines(layout.Condition(4, "when", when.lines())...)
	}
	if r.override {
		w.lines("    override_humans: true")
	}
	line := "    then: [" + r.then[0].name + r.then[0].value() + "]"
	if one := r.then[0]; len(r.then) == 1 && one.short() && len(line) <= layout.Width && !one.isBlock() {
		w.lines(line)
		return
	}
	w.lines("    then:")
	for _, a := range r.then {
		w.act(a)
	}
}

// short reports whether the action is written as a name with at most one value.
func (a act) short() bool {
	return len(a.choices)+len(a.list) == 0 && (len(a.params) == 0 || len(a.params) == 1 && a.params[0].key == "")
}

// isBlock reports whether the value of a short action has several lines.
func (a act) isBlock() bool { return len(a.params) > 0 && strings.Contains(a.params[0].value, "\n") }

// value returns the value of a short action as YAML.
func (a act) value() string {
	if len(a.params) == 0 {
		return ""
	}
	return ": " + layout.Scalar(a.params[0].value)
}

func (w *writer) act(a act) {
	switch {
	case len(a.choices) > 0:
		w.choices(a)
	case len(a.list) > 0:
		items := make([]string, len(a.list))
		for i, s := range a.list {
			items[i] = layout.Scalar(template(s))
		}
		w.item(layout.List(8, a.name, items))
	case len(a.params) == 0:
		w.lines("      - " + a.name)
	case a.short():
		w.item(layout.Text(8, a.name, a.params[0].value))
	default:
		w.lines("      - " + a.name + ":")
		for _, p := range a.params {
			w.lines(layout.Text(10, p.key, p.value)...)
		}
	}
}

// item writes the lines of a value as an item of a list.
func (w *writer) item(lines []string) {
	lines[0] = "      - " + strings.TrimLeft(lines[0], " ")
	w.lines(lines...)
}

// choices writes an action whose value is a computed list: the texts whose conditions are true.
func (w *writer) choices(a act) {
	w.lines("      - "+a.name+": |", "          filter([")
	for i, c := range a.choices {
		comma := ","
		if i == len(a.choices)-1 {
			comma = ""
		}
		w.lines(layout.Expression(12, c.String()+comma)...)
	}
	w.lines(`          ], # != "")`)
}
