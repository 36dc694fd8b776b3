package app

import (
	"fmt"
	"strings"

	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/rules"
)

// writeRule tells of one rule, behind an empty line.
func writeRule(b *strings.Builder, r rules.RuleWhy, p painter) {
	sign, why := "-", outcomeText(r.RuleTrace)
	if r.Outcome == rules.Matched {
		sign = "+"
	}
	fmt.Fprintf(b, "\n%s %s  %s\n", sign, p.bold(r.ID), p.faint(why))
	if r.Why != nil {
		writePart(b, *r.Why, 1)
	}
	if r.Error != "" {
		fmt.Fprintf(b, "  %s\n", strings.ReplaceAll(sanitizeLines(r.Error), "\n", "\n  "))
	}
}

// sanitizeLines makes every line of a text fit for a log.
func sanitizeLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = sanitize.Log(line)
	}
	return strings.Join(lines, "\n")
}

// outcomeText says in a few words what became of a rule.
func outcomeText(r rules.RuleTrace) string {
	place := fmt.Sprintf("(%s:%d)", r.File, r.Line)
	switch r.Outcome {
	case rules.Matched:
		return "fires " + place
	case rules.NotListed:
		return "does not listen to this event " + place
	case rules.False:
		return "its condition is false " + place
	case rules.Cut:
		return "an earlier rule stopped " + place
	case rules.Unreached:
		return "an earlier rule failed " + place
	}
	return "fails " + place
}

func writePart(b *strings.Builder, w rules.Why, depth int) {
	value := w.Value
	if w.Error != "" {
		value = "! " + w.Error
	}
	if w.Idle {
		value = "(" + value + ")"
	}
	fmt.Fprintf(b, "%s%s  %s\n", strings.Repeat("  ", depth), sanitize.Log(value), sanitize.Log(strings.Join(strings.Fields(w.Text), " ")))
	for _, part := range w.Parts {
		writePart(b, part, depth+1)
	}
}
