package rules

import (
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/ruleset"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/internal/yamlfile"
	"github.com/org/foreman-action/rules/internal/action"
	"github.com/org/foreman-action/rules/internal/expression"
	"github.com/org/foreman-action/rules/internal/symbols"
)

// labelUses returns the places where rules name labels.
func labelUses(names *symbols.Table, rules []*rule) []ruleset.LabelUse {
	c := collector{names: names}
	for _, r := range rules {
		c.condition(r.when)
		for _, s := range r.scans {
			c.scan(r.file, s)
		}
		for _, a := range r.actions {
			c.action(a)
		}
	}
	return c.labels
}

// A collector collects the labels and tables that rules name.
type collector struct {
	names  *symbols.Table
	labels []ruleset.LabelUse
	tables []expression.TableReference
}

// condition collects the labels and tables that a condition names. A nil condition has none.
func (c *collector) condition(x *expression.Expression) {
	if x == nil {
		return
	}
	labels, tables := x.References(c.names)
	for _, l := range labels {
		c.add(ruleset.LabelAsked, l)
	}
	c.tables = append(c.tables, tables...)
}

// add keeps a reference with its verb. A label from a row of a table is kept once, because several
// expressions may yield the same row.
func (c *collector) add(verb ruleset.LabelVerb, l expression.LabelReference) {
	use := ruleset.LabelUse{Label: l.Label, Glob: l.Glob, Pattern: l.Pattern, Verb: verb, Place: l.Place}
	if !l.Row || !slices.Contains(c.labels, use) {
		c.labels = append(c.labels, use)
	}
}

// action collects the labels and tables that an action names.
func (c *collector) action(a action.Action) {
	labels, tables := a.References(c.names)
	for _, l := range labels {
		c.add(ruleset.LabelVerb(l.Verb), l.LabelReference)
	}
	c.tables = append(c.tables, tables...)
}

// scan collects the labels of a search query: the names after "label:", which commas separate.
func (c *collector) scan(f *yamlfile.File, s scan) {
	const qualifier = "label:"
	for at, word := range s.placed() {
		before, names, found := cutFold(word, qualifier)
		if !found || strings.Trim(before, "-(") != "" {
			continue
		}
		at += len(before) + len(qualifier)
		for name := range strings.SplitSeq(names, ",") {
			line, col := text.Position(s.query, at)
			at += len(name) + 1
			if bare := strings.Trim(strings.TrimRight(name, ")"), `"`); bare != "" {
				c.labels = append(c.labels, ruleset.LabelUse{Label: bare, Place: f.At(s.node, line, col, "")})
			}
		}
	}
}

// cutFold is strings.Cut for ASCII, ignoring case.
func cutFold(s, sep string) (before, after string, found bool) {
	for i := 0; i+len(sep) <= len(s); i++ {
		if strings.EqualFold(s[i:i+len(sep)], sep) {
			return s[:i], s[i+len(sep):], true
		}
	}
	return s, "", false
}
