package importer

import (
	"fmt"
	"strings"

	"github.com/org/foreman-action/internal/layout"
)

// head is the start of the first line of an imported file.
const head = "# Imported by foreman rules import from "

// A page is the text of a configuration file.
type page struct {
	text         string
	starts       []int  // number of the first line of each rule, from 1
	notes, rules string // the comments after the first one, and the items of the list of rules
}

// render returns the whole file.
func render(d draft) page {
	w := writer{line: 1}
	w.comment("# ", fmt.Sprintf(strings.TrimPrefix(head, "# ")+"%s, a configuration of %s.", d.source, d.action))
	start := w.b.Len()
	w.comment("# ", d.hints...)
	if len(d.top) > 0 {
		w.comment("# ", "Differences from the original that belong to no single rule:")
		w.comment("# ", d.top...)
	}
	notes := w.b.String()[start:]
	w.lines("version: 1")
	if d.shadow {
		w.lines("mode: shadow")
	}
	policy := Section([]Policy{d.need()}, "as %s does", "%s has no such limit")
	w.b.WriteString(policy)
	w.line += strings.Count(policy, "\n")
	w.lines("rules:")
	start = w.b.Len()
	for _, e := range d.entries {
		w.entry(e)
	}
	text := w.b.String()
	return page{text, w.rules, notes, text[start:]}
}

// need returns the policy with the types of the rules' actions. A plural such as add_labels counts as
// add_label.
func (d draft) need() Policy {
	p := d.policy
	p.Action, p.Types = d.action, map[string]bool{}
	for _, e := range d.entries {
		for _, r := range e.rules {
			for _, a := range r.then {
				p.Types[strings.TrimSuffix(a.name, "s")] = true
			}
		}
	}
	return p
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

func (w *writer) entry(e entry) {
	if len(e.rules) == 0 && !e.leftOut() {
		return
	}
	w.comment("  # ", e.notes...)
	switch {
	case !e.leftOut():
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
