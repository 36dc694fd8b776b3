package rules

import (
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"

	"github.com/org/foreman-action/internal/strictyaml"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/rules/internal/match"
)

// A LabelVerb is what a rule does with a label.
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
	Place strictyaml.Problem // without a message
}

// Matches reports whether the use is about the label, whose case does not count.
func (u LabelUse) Matches(label string) bool {
	if u.Glob {
		return match.Glob(u.Label, label)
	}
	return strings.EqualFold(u.Label, label)
}

// Labels returns the places where rules name labels, as far as the text of the rules
// tells, in the order of the rules. A nil set has none.
func (s *Set) Labels() []LabelUse {
	var c useCollector
	for _, r := range s.all() {
		c.condition(r.when)
		c.scan(r)
		for _, a := range r.actions {
			c.action(a)
		}
	}
	return c.labels
}

// Labels is [Set.Labels] of one condition; a nil condition has none.
func (c *Condition) Labels() []LabelUse {
	var u useCollector
	if c != nil {
		u.condition(c.expr)
	}
	return u.labels
}

// A useCollector collects what rules name.
type useCollector struct {
	labels []LabelUse
	tables []TableUse
	x      *expression // that is looked at
	tree   *parser.Tree
}

// open parses the text of an expression again: what was compiled may hold no tree any
// more, and names other things than its author. It is nil for no expression.
func (c *useCollector) open(x *expression) ast.Node {
	if x == nil || x.code == nil {
		return nil
	}
	tree, err := parser.ParseWithConfig(x.src, x.code.compiler.config)
	if err != nil {
		return nil
	}
	c.x, c.tree = x, tree
	return tree.Node
}

// place is where a node of the open expression stands in its file.
func (c *useCollector) place(n ast.Node) strictyaml.Problem {
	at := (&file.Error{Location: n.Location()}).Bind(c.tree.Source)
	line, col := c.x.place(&exprError{line: max(1, at.Line), col: at.Column + 1})
	return c.x.file.At(c.x.node, line, col, "")
}

func (c *useCollector) condition(x *expression) {
	if n := c.open(x); n != nil {
		c.asked(n, "")
	}
}

// note keeps a label that a node names, when it is a text as it stands.
func (c *useCollector) note(n ast.Node, verb LabelVerb, glob func(string) string) {
	name, ok := constantText(n)
	if !ok || name == "" {
		return
	}
	if glob != nil {
		name = glob(name)
	}
	c.labels = append(c.labels, LabelUse{Label: name, Glob: glob != nil && strings.Contains(name, "*"), Verb: verb, Place: c.place(n)})
}

func asGlob(name string) string { return name }

// labelFunctions are those that take the name of a label.
func labelFunctions() []string {
	return []string{"label", "label_age", "added_by_us", "removed_by_human"}
}

// asked collects what a condition asks for. each is what the turns of the present loop
// go through, as [source] has it.
func (c *useCollector) asked(n ast.Node, each string) {
	switch n := n.(type) {
	case *ast.CallNode:
		callee, ok := n.Callee.(*ast.IdentifierNode)
		switch {
		case ok && callee.Value == "any_label":
			for _, a := range n.Arguments {
				c.note(a, LabelAsked, asGlob)
			}
		case ok && slices.Contains(labelFunctions(), callee.Value) && len(n.Arguments) == 1:
			c.note(n.Arguments[0], LabelAsked, nil)
		}
	case *ast.BinaryNode:
		c.compared(n, each)
	case *ast.MemberNode:
		c.row(n.Node, n.Property, each)
	case *ast.BuiltinNode:
		if len(n.Arguments) == 2 {
			if p, ok := n.Arguments[1].(*ast.PredicateNode); ok {
				c.asked(n.Arguments[0], each)
				c.asked(p.Node, source(n.Arguments[0], each))
				return
			}
		}
	}
	for _, child := range children(n) {
		if *child != nil {
			c.asked(*child, each)
		}
	}
}

// The places that labels come from, as [source] has them.
const (
	oneLabel   = "event.label"
	someLabels = "issue.labels"
)

// compared collects the labels that are compared with one of the issue or the event.
func (c *useCollector) compared(n *ast.BinaryNode, each string) {
	left, right := source(n.Left, each), source(n.Right, each)
	isLabel := func(s string) bool { return s == oneLabel || s == someLabels }
	switch n.Operator {
	case "==", "!=":
		if isLabel(left) {
			c.note(n.Right, LabelAsked, nil)
		} else if isLabel(right) {
			c.note(n.Left, LabelAsked, nil)
		}
	case "startsWith", "endsWith", "contains":
		if isLabel(left) {
			c.note(n.Right, LabelAsked, func(part string) string {
				return map[string]string{"startsWith": "", "endsWith": "*", "contains": "*"}[n.Operator] + part +
					map[string]string{"startsWith": "*", "contains": "*"}[n.Operator]
			})
		}
	case "in":
		list, ok := n.Right.(*ast.ArrayNode)
		switch {
		case right == someLabels || right == "memory.labels" || right == "memory.never":
			c.note(n.Left, LabelAsked, nil)
		case ok && isLabel(left):
			for _, item := range list.Nodes {
				c.note(item, LabelAsked, nil)
			}
		}
		c.row(n.Right, n.Left, each)
	}
}

// source names where a value comes from: "issue.labels" for that field and for one of
// it, "form.name" for what was filled in; "" when it is not known.
func source(n ast.Node, each string) string {
	switch n := n.(type) {
	case *ast.PointerNode:
		if n.Name == "" {
			return each
		}
	case *ast.ChainNode:
		return source(n.Node, each)
	case *ast.BuiltinNode:
		if slices.Contains([]string{"filter", "find", "findLast", "first", "last", "take", "reverse", "uniq", "sort"}, n.Name) {
			return source(n.Arguments[0], each)
		}
	case *ast.BinaryNode:
		if n.Operator == "??" {
			return source(n.Left, each)
		}
	}
	return fieldName(n)
}

// scan collects the labels of a search: what follows label: in its words, which may be
// several with commas between them.
func (c *useCollector) scan(r *rule) {
	const qualifier = "label:"
	inQuotes, start := false, 0
	for i, ch := range r.scan + " " {
		if ch == '"' {
			inQuotes = !inQuotes
		}
		if ch != ' ' || inQuotes && i < len(r.scan) {
			continue
		}
		word, at := r.scan[start:i], start
		start = i + 1
		before, names, found := cutFold(word, qualifier)
		if !found || strings.Trim(before, "-(") != "" {
			continue
		}
		at += len(before) + len(qualifier)
		for name := range strings.SplitSeq(names, ",") {
			line, col := text.Position(r.scan, at)
			at += len(name) + 1
			if bare := strings.Trim(strings.TrimRight(name, ")"), `"`); bare != "" {
				c.labels = append(c.labels, LabelUse{Label: bare, Place: r.file.At(r.scanNode, line, col, "")})
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
