package rules

import (
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/internal/yamlfile"
	"github.com/org/foreman-action/rules/internal/action"
	"github.com/org/foreman-action/rules/internal/expression"
	"github.com/org/foreman-action/rules/internal/match"
	"github.com/org/foreman-action/rules/internal/symbols"
)

// A LabelVerb is the use of a label in a rule.
type LabelVerb int

// What rules do with labels.
const (
	LabelAsked LabelVerb = iota // a condition, a search or an action names it
	LabelAdded
	LabelRemoved
)

// A LabelUse is a place of a rule file that names labels.
type LabelUse struct {
	// Label is a name, or with Glob one in which "*" stands for any run of characters,
	// which also stands where a name is only known at run time.
	Label string
	Glob  bool
	Verb  LabelVerb
	Place yamlfile.Problem // without a message
}

// Matches reports whether the use is about the label, whose case does not count.
func (u LabelUse) Matches(label string) bool {
	if u.Glob {
		return match.Glob(u.Label, label)
	}
	return strings.EqualFold(u.Label, label)
}

// labelUses returns the places where rules name labels.
func labelUses(names *symbols.Table, rules []*rule) []LabelUse {
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

// A collector collects what rules name.
type collector struct {
	names  *symbols.Table
	labels []LabelUse
	tables []expression.TableReference
}

// condition collects what a condition asks for; nil asks for nothing.
func (c *collector) condition(x *expression.Expression) {
	if x == nil {
		return
	}
	labels, tables := x.References(c.names)
	for _, l := range labels {
		c.add(LabelAsked, l)
	}
	c.tables = append(c.tables, tables...)
}

// add keeps a reference with its verb. Rows of a table are kept once: they may be the
// results of several expressions.
func (c *collector) add(verb LabelVerb, l expression.LabelReference) {
	use := LabelUse{Label: l.Label, Glob: l.Glob, Verb: verb, Place: l.Place}
	if !l.Row || !slices.Contains(c.labels, use) {
		c.labels = append(c.labels, use)
	}
}

// action collects what an action names.
func (c *collector) action(a action.Action) {
	labels, tables := a.References(c.names)
	for _, l := range labels {
		c.add(LabelVerb(l.Verb), l.LabelReference)
	}
	c.tables = append(c.tables, tables...)
}

// scan collects the labels of a search: what follows label: in its words, which may be
// several with commas between them.
func (c *collector) scan(f *yamlfile.File, s scan) {
	const qualifier = "label:"
	inQuotes, start := false, 0
	for i, ch := range s.query + " " {
		if ch == '"' {
			inQuotes = !inQuotes
		}
		if ch != ' ' || inQuotes && i < len(s.query) {
			continue
		}
		word, at := s.query[start:i], start
		start = i + 1
		before, names, found := cutFold(word, qualifier)
		if !found || strings.Trim(before, "-(") != "" {
			continue
		}
		at += len(before) + len(qualifier)
		for name := range strings.SplitSeq(names, ",") {
			line, col := text.Position(s.query, at)
			at += len(name) + 1
			if bare := strings.Trim(strings.TrimRight(name, ")"), `"`); bare != "" {
				c.labels = append(c.labels, LabelUse{Label: bare, Place: f.At(s.node, line, col, "")})
			}
		}
	}
}

// cutFold is strings.Cut for ASCII in any case.
func cutFold(s, sep string) (before, after string, found bool) {
	for i := 0; i+len(sep) <= len(s); i++ {
		if strings.EqualFold(s[i:i+len(sep)], sep) {
			return s[:i], s[i+len(sep):], true
		}
	}
	return s, "", false
}
