package expression

import (
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/yamlfile"
	"github.com/org/foreman-action/rules/internal/expression/suspect"
	"github.com/org/foreman-action/rules/internal/expression/syntax"
	"github.com/org/foreman-action/rules/internal/symbols"
)

// A LabelReference is a place of an expression that names a label.
type LabelReference struct {
	// Label is the name of a label. If Glob is true, "*" matches any characters, and also replaces
	// parts of a name that are only known at run time.
	Label string
	Glob  bool
	// Pattern is true for an argument of any_label. Its Glob is false if it contains no "*".
	Pattern bool
	Place   yamlfile.Problem // without a message
	Row     bool             // the place is a row of a table, not in the expression
}

// A TableReference is a place of an expression that looks up the value of a form field in a table.
type TableReference struct {
	Rows symbols.Rows
	Form string // the name of the form field
}

// A FormValue is a text that is compared with the value of a form field.
type FormValue struct {
	Form  string // the declared name of the field
	Value string
	Place yamlfile.Problem // of the text, without a message
}

// A collector collects the references of one expression.
type collector struct {
	labels   []LabelReference
	tables   []TableReference
	compares []FormValue
	names    *symbols.Table
	x        *Expression
	tree     *parser.Tree
}

// References returns the labels that an expression reads, and the tables in which it looks up
// values of form fields, in order.
func (x *Expression) References(names *symbols.Table) ([]LabelReference, []TableReference) {
	c := collector{names: names, x: x}
	if c.open() {
		c.asked(c.tree.Node, "")
	}
	return c.labels, c.tables
}

// FormValues returns the texts with which an expression compares form fields.
func (x *Expression) FormValues(names *symbols.Table) []FormValue {
	c := collector{names: names, x: x}
	if c.open() {
		c.asked(c.tree.Node, "")
	}
	return c.compares
}

// Suspicious returns warnings of parts that are valid, and probably do not do what their author means.
// on lists the events of the rule. folder reports whether the repository has a folder of that name.
func (x *Expression) Suspicious(on []string, folder func(string) bool) yamlfile.Problems {
	c := collector{x: x}
	if !c.open() {
		return nil
	}
	var list yamlfile.Problems
	for _, found := range suspect.Find(c.tree.Node, on, folder) {
		list = append(list, c.warning(found))
	}
	return list
}

// OpenCommand returns a warning if the condition is true for a command of anybody. action is what the
// rule does then.
func (x *Expression) OpenCommand(names *symbols.Table, action string) yamlfile.Problems {
	c := collector{x: x}
	if !c.open() {
		return nil
	}
	n := suspect.OpenCommand(c.tree.Node, func(name string) bool { _, own := names.Funcs[name]; return own })
	if n == nil {
		return nil
	}
	return yamlfile.Problems{c.warning(suspect.Finding{Node: n, Message: "anybody can write this command, and " + action + ` follows; test who wrote it, such as: and actor.permission in ["triage", "write", "maintain", "admin"]`})}
}

// warning returns a finding with its place.
func (c *collector) warning(found suspect.Finding) yamlfile.Problem {
	p := c.place(found.Node)
	p.Message, p.Warning = found.Message, true
	return p
}

// ResultReferences returns the labels that an expression yields, if its source names them.
func (x *Expression) ResultReferences(names *symbols.Table) []LabelReference {
	c := collector{names: names, x: x}
	if c.open() {
		c.results(c.tree.Node)
	}
	return c.labels
}

// open parses the text of the expression.
func (c *collector) open() (ok bool) {
	var err error
	c.tree, err = c.x.parse()
	return err == nil
}

// place returns the place of a node in its file.
func (c *collector) place(n ast.Node) yamlfile.Problem {
	at := (&file.Error{Location: n.Location()}).Bind(c.tree.Source)
	line, col := c.x.place(&Error{line: max(1, at.Line), col: at.Column + 1})
	return c.x.file.At(c.x.node, line, col, "")
}

// note adds the label that a node names, if the node is a constant. glob turns a name into a glob; nil:
// the name is exact.
func (c *collector) note(n ast.Node, glob func(string) string) {
	name, ok := syntax.ConstantText(n)
	if !ok || name == "" {
		return
	}
	if glob != nil {
		name = glob(name)
	}
	c.labels = append(c.labels, LabelReference{Label: name, Glob: glob != nil && strings.Contains(name, "*"), Place: c.place(n)})
}

// pattern adds a node that is a pattern of labels, if the node is a constant.
func (c *collector) pattern(n ast.Node) {
	if p, ok := syntax.ConstantText(n); ok && p != "" {
		c.labels = append(c.labels, LabelReference{Label: p, Glob: strings.Contains(p, "*"), Pattern: true, Place: c.place(n)})
	}
}

// labelFunctions returns the functions whose argument is the name of a label.
func labelFunctions() []string {
	return []string{"label", "label_age", "added_by_us", "removed_by_human"}
}

// asked collects the labels and tables that a condition reads. each is the list of the innermost
// loop, as [source] names it.
func (c *collector) asked(n ast.Node, each string) {
	switch n := n.(type) {
	case *ast.CallNode:
		callee, ok := n.Callee.(*ast.IdentifierNode)
		switch {
		case ok && callee.Value == "any_label":
			for _, a := range n.Arguments {
				c.pattern(a)
			}
		case ok && slices.Contains(labelFunctions(), callee.Value) && len(n.Arguments) == 1:
			c.note(n.Arguments[0], nil)
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
	for _, child := range syntax.Children(n) {
		if *child != nil {
			c.asked(*child, each)
		}
	}
}

// The names that [source] returns for labels.
const (
	oneLabel   = "event.label"
	someLabels = "issue.labels"
)

// compared collects the labels that a comparison tests for, such as "bug" in event.label == "bug".
func (c *collector) compared(n *ast.BinaryNode, each string) {
	left, right := source(n.Left, each), source(n.Right, each)
	isLabel := func(s string) bool { return s == oneLabel || s == someLabels }
	switch n.Operator {
	case "==", "!=":
		c.value(n.Left, each, n.Right)
		c.value(n.Right, each, n.Left)
		if isLabel(left) {
			c.note(n.Right, nil)
		} else if isLabel(right) {
			c.note(n.Left, nil)
		}
	case "startsWith", "endsWith", "contains":
		if isLabel(left) {
			c.note(n.Right, func(part string) string {
				return map[string]string{"startsWith": "", "endsWith": "*", "contains": "*"}[n.Operator] + part +
					map[string]string{"startsWith": "*", "contains": "*"}[n.Operator]
			})
		}
	case "in":
		list, ok := n.Right.(*ast.ArrayNode)
		switch {
		case right == someLabels || right == "memory.labels" || right == "memory.never":
			c.note(n.Left, nil)
		case ok && isLabel(left):
			for _, item := range list.Nodes {
				c.note(item, nil)
			}
		}
		c.row(n.Right, n.Left, each)
		if ok {
			c.value(n.Left, each, list.Nodes...)
		}
		c.value(n.Right, each, n.Left)
	}
}

// value adds the constants with which a form field is compared.
func (c *collector) value(field ast.Node, each string, constants ...ast.Node) {
	name := fieldFrom(field, each)
	if name == "" {
		return
	}
	for _, n := range constants {
		if s, ok := syntax.ConstantText(n); ok {
			c.compares = append(c.compares, FormValue{name, s, c.place(n)})
		}
	}
}

// source returns the name of the field that a value comes from: "issue.labels" for the list and for
// its items, or "form.name" for a form field. It returns "" when the field is not known.
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

// table returns the table that a node names. The node is as the parser returned it.
func (c *collector) table(n ast.Node) symbols.Rows {
	m, ok := n.(*ast.MemberNode)
	if !ok {
		return symbols.Rows{}
	}
	root, ok := m.Node.(*ast.IdentifierNode)
	name, named := m.Property.(*ast.StringNode)
	if !ok || !named || root.Value != tablesName {
		return symbols.Rows{}
	}
	return c.names.RowsOf[name.Value]
}

// row adds a table if its key is the value of a form field.
func (c *collector) row(table, key ast.Node, each string) {
	t := c.table(table)
	field := fieldFrom(key, each)
	if t.Node == nil || field == "" {
		return
	}
	c.tables = append(c.tables, TableReference{t, field})
}

// fieldFrom returns the name of the form field that a value comes from, or "".
func fieldFrom(n ast.Node, each string) string {
	from := source(n, each)
	name := strings.TrimPrefix(from, formName+".")
	if name == from {
		return ""
	}
	return name
}

// results collects the labels that an expression yields.
func (c *collector) results(n ast.Node) {
	switch n := n.(type) {
	case *ast.ArrayNode:
		for _, item := range n.Nodes {
			c.results(item)
		}
		return
	case *ast.ConditionalNode:
		c.results(n.Exp1)
		c.results(n.Exp2)
		return
	case *ast.PredicateNode:
		c.results(n.Node)
		return
	case *ast.BuiltinNode:
		switch {
		case n.Name == "map" && len(n.Arguments) == 2:
			c.results(n.Arguments[1])
			return
		case slices.Contains([]string{"filter", "first", "last", "take", "reverse", "uniq", "sort"}, n.Name):
			c.results(n.Arguments[0])
			return
		}
	case *ast.MemberNode:
		if t := c.table(n.Node); t.Node != nil {
			c.values(t)
			return
		}
	case *ast.BinaryNode:
		if n.Operator == "??" {
			c.results(n.Left)
			c.results(n.Right)
			return
		}
	}
	if _, ok := syntax.ConstantText(n); ok {
		c.note(n, nil)
		return
	}
	c.labels = append(c.labels, LabelReference{Label: "*", Glob: true, Place: c.place(n)})
}

// values adds the values of a table as labels, each once.
func (c *collector) values(t symbols.Rows) {
	var cells []*yaml.Node
	for i := 1; i < len(t.Node.Content); i += 2 {
		if n := t.Node.Content[i]; n.Kind == yaml.SequenceNode {
			cells = append(cells, n.Content...)
		} else {
			cells = append(cells, n)
		}
	}
	for _, n := range cells {
		use := LabelReference{Label: n.Value, Place: t.File.At(n, 1, 1, ""), Row: true}
		if n.Kind == yaml.ScalarNode && n.Value != "" && !slices.Contains(c.labels, use) {
			c.labels = append(c.labels, use)
		}
	}
}

// AppendCanonical appends to b a form of the expression that does not depend on how it is written, and the
// contents of the tables and form fields that it names. Expressions of different meaning have different
// forms.
func (x *Expression) AppendCanonical(b []byte, names *symbols.Table) []byte {
	tree, err := x.parse()
	if err != nil { // it was parsed before
		return append(b, x.src...)
	}
	b = syntax.Canonical(b, tree.Node)
	var walk func(n ast.Node)
	walk = func(n ast.Node) {
		if m, ok := n.(*ast.MemberNode); ok {
			root, _ := m.Node.(*ast.IdentifierNode)
			if name, literal := m.Property.(*ast.StringNode); literal && root != nil {
				switch root.Value {
				case tablesName:
					b = append(b, names.TableSum(name.Value)...)
				case formName:
					b = names.Forms[name.Value].AppendCanonical(b)
				}
			}
		}
		for _, c := range syntax.Children(n) {
			if *c != nil {
				walk(*c)
			}
		}
	}
	walk(tree.Node)
	return b
}

// Commands returns the commands for which an expression tests. others is true if it tests for a name
// that is only known at run time.
func (x *Expression) Commands() (names []string, others bool) {
	tree, err := x.parse()
	if err != nil {
		return nil, false
	}
	var walk func(n ast.Node)
	walk = func(n ast.Node) {
		if call, ok := n.(*ast.CallNode); ok && syntax.Calls(n, "command") {
			for _, arg := range call.Arguments {
				name, constant := arg.(*ast.StringNode)
				if others = others || !constant; constant {
					names = append(names, name.Value)
				}
			}
		}
		for _, c := range syntax.Children(n) {
			if *c != nil {
				walk(*c)
			}
		}
	}
	walk(tree.Node)
	return names, others
}
