package rules

import (
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/rules/internal/symbols"
)

// action collects the labels that an action writes, and what its expressions ask for.
func (c *useCollector) action(a action) {
	verb, about := LabelAsked, true
	switch a.spec.Name {
	case protocol.ActionAddLabel, protocol.ActionAddLabels:
		verb = LabelAdded
	case protocol.ActionRemoveLabel:
		verb = LabelRemoved
	case protocol.ActionNeverAgain:
	default:
		about = false
	}
	for _, p := range a.params {
		for _, t := range p.texts {
			if about {
				c.template(a, t, verb)
			}
			for _, part := range t.parts {
				c.condition(part.expr)
			}
		}
		if n := c.open(p.list); n != nil && about {
			c.results(n, verb)
		}
		c.condition(p.list)
		c.condition(p.whole)
	}
}

// template collects a label that is written with {{ }}.
func (c *useCollector) template(a action, t *template, verb LabelVerb) {
	if len(t.parts) == 1 && t.parts[0].expr != nil {
		if n := c.open(t.parts[0].expr); n != nil {
			c.results(n, verb)
		}
		return
	}
	var name strings.Builder
	for _, p := range t.parts {
		name.WriteString(p.literal)
		if p.expr != nil {
			name.WriteString("*")
		}
	}
	c.labels = append(c.labels, LabelUse{
		Label: name.String(), Glob: len(t.parts) > 1, Verb: verb, Place: a.file.At(t.node, 1, 1, ""),
	})
}

// results collects the labels that an expression yields.
func (c *useCollector) results(n ast.Node, verb LabelVerb) {
	switch n := n.(type) {
	case *ast.ArrayNode:
		for _, item := range n.Nodes {
			c.results(item, verb)
		}
		return
	case *ast.ConditionalNode:
		c.results(n.Exp1, verb)
		c.results(n.Exp2, verb)
		return
	case *ast.PredicateNode:
		c.results(n.Node, verb)
		return
	case *ast.BuiltinNode:
		switch {
		case n.Name == "map" && len(n.Arguments) == 2:
			c.results(n.Arguments[1], verb)
			return
		case slices.Contains([]string{"filter", "first", "last", "take", "reverse", "uniq", "sort"}, n.Name):
			c.results(n.Arguments[0], verb)
			return
		}
	case *ast.MemberNode:
		if t := c.table(n.Node); t.Node != nil {
			c.values(t, verb)
			return
		}
	case *ast.BinaryNode:
		if n.Operator == "??" {
			c.results(n.Left, verb)
			c.results(n.Right, verb)
			return
		}
	}
	if _, ok := constantText(n); ok {
		c.note(n, verb, nil)
		return
	}
	c.labels = append(c.labels, LabelUse{Label: "*", Glob: true, Verb: verb, Place: c.place(n)})
}

// values collects the values of a table as labels, once.
func (c *useCollector) values(t symbols.Rows, verb LabelVerb) {
	for i := 1; i < len(t.Node.Content); i += 2 {
		n := t.Node.Content[i]
		use := LabelUse{Label: n.Value, Verb: verb, Place: t.File.At(n, 1, 1, "")}
		if n.Kind == yaml.ScalarNode && n.Value != "" && !slices.Contains(c.labels, use) {
			c.labels = append(c.labels, use)
		}
	}
}
