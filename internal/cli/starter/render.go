package starter

import (
	"strings"

	"github.com/org/foreman-action/internal/layout"
	"github.com/org/foreman-action/internal/othertools"
)

// A draft is a rule file before rendering.
type draft struct {
	schema   string // the first line
	labels   []string
	imported othertools.Rules
	own      []proposed
	tests    []example
}

// shadowLine is the line after the version.
const shadowLine = "mode: shadow # decide and report, write nothing; when the job summaries look right: apply"

// render returns the text of the file.
func (d draft) render() string {
	var b strings.Builder
	line := func(list ...string) {
		for _, l := range list {
			b.WriteString(l + "\n")
		}
	}
	line(d.schema)
	line(layout.Comment("# ", "Rules of Foreman for this repository, as foreman init proposes them.")...)
	if len(d.own) > 0 && d.own[0].from == fromNothing {
		why := "No label of the repository is known. With GITHUB_TOKEN, or --labels, foreman init proposes rules that use labels."
		if len(d.labels) > 0 {
			why = "The names of the repository's labels do not show their purpose to foreman init, so this rule uses none."
		}
		line(layout.Comment("# ", why)...)
	}
	line("version: 1", shadowLine)
	b.WriteString(d.policy())
	d.forms(line)
	if d.imported.Count+len(d.own) > 0 {
		line("rules:")
	}
	b.WriteString(d.imported.Items)
	if d.imported.Count > 0 && len(d.own) > 0 {
		line("  # From the labels and issue forms of this repository.")
	}
	for _, p := range d.own {
		line("  - id: " + p.id)
		line(layout.List(4, "on", p.on)...)
		line("    when: " + condition(p.when))
		line("    then:")
		for _, item := range p.then {
			line("      - " + item)
		}
	}
	if len(d.tests) > 0 {
		line("tests: # foreman rules test")
	}
	for _, t := range d.tests {
		b.WriteString(t.text())
	}
	return b.String()
}

// policy returns the limits: those of the imported rules, or if there are none, limits for our own
// rules.
func (d draft) policy() string {
	if d.imported.Count > 0 {
		return d.imported.Policy
	}
	var labels, allow []string
	comments := false
	for _, p := range d.own {
		labels = append(labels, p.labels...)
		comments = comments || p.comments
	}
	seen := map[string]bool{}
	for _, l := range labels {
		if !seen[l] {
			allow = append(allow, scalar(l))
		}
		seen[l] = true
	}
	limits := []string{}
	if len(labels) > 0 {
		limits = append(limits, "add_label: 5")
	}
	if comments {
		limits = append(limits, "comment: 1")
	}
	if len(limits) == 0 {
		return ""
	}
	text := "limits: # per event\n  " + strings.Join(limits, "\n  ") + "\n"
	if len(allow) > 0 {
		text += "labels: # no other label is added or removed; one that is missing is not created\n" +
			strings.Join(layout.List(2, "allow", allow), "\n") + "\n"
	}
	return text
}

// forms writes the fields of issue forms, and the labels of their options.
func (d draft) forms(line func(...string)) {
	var fields []field
	for _, p := range d.own {
		if p.field != nil {
			fields = append(fields, *p.field)
		}
	}
	if len(fields) == 0 {
		return
	}
	line("forms:")
	for _, f := range fields {
		line("  "+f.name+":", "    heading: "+scalar(f.heading), "    type: list")
	}
	line("tables:")
	for _, f := range fields {
		line("  " + f.table() + ":")
		for _, o := range f.options {
			line("    " + scalar(o.text) + ": " + scalar(o.label))
		}
	}
}
