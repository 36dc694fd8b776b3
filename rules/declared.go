package rules

import (
	"cmp"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"

	"github.com/org/foreman-action/internal/strictyaml"
	"github.com/org/foreman-action/rules/internal/forms"
	"github.com/org/foreman-action/rules/internal/symbols"
)

// A FormUse is a name that rule files declare for what stands under a heading of an
// issue form.
type FormUse struct {
	Name    string
	Heading string             // as the file has it
	Type    string             // text, semver, number, list or checkboxes
	Place   strictyaml.Problem // of the heading, without a message
	TypeAt  strictyaml.Problem // of the type, or of the heading where none is written
}

// Heads reports whether a field of an issue form with that label is meant; neither case
// nor the number of spaces count.
func (u FormUse) Heads(label string) bool {
	return forms.HeadingKey(u.Heading) == forms.HeadingKey(label)
}

// Forms returns the names that rule files declare under forms, in the order of the
// files. A nil set has none.
func (s *Set) Forms() []FormUse {
	if s == nil || s.names == nil {
		return nil
	}
	var list []FormUse
	for _, d := range s.names.Forms {
		u := FormUse{Name: d.Name, Heading: d.Heading, Type: d.Type, Place: d.File.At(d.Node, 1, 1, "")}
		u.TypeAt = u.Place
		if d.TypeNode != nil {
			u.TypeAt = d.File.At(d.TypeNode, 1, 1, "")
		}
		list = append(list, u)
	}
	slices.SortFunc(list, func(a, b FormUse) int {
		return cmp.Or(cmp.Compare(a.Place.File, b.Place.File), cmp.Compare(a.Place.Line, b.Place.Line), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// A TableUse is a table that rules ask for what was filled into a field of a form.
type TableUse struct {
	Table, Form string // their names
	Keys        []TableKey
}

// A TableKey is the key of a row.
type TableKey struct {
	Key   string
	Place strictyaml.Problem // without a message
}

// FormTables returns the tables that rules ask for a form's field, each pair once, in
// the order of the rules. A nil set has none.
func (s *Set) FormTables() []TableUse {
	var c useCollector
	for _, r := range s.all() {
		c.condition(r.when)
		for _, a := range r.actions {
			c.action(a)
		}
	}
	return c.tables
}

// table returns the table that a node, as it was parsed, names.
func (c *useCollector) table(n ast.Node) symbols.Rows {
	m, ok := n.(*ast.MemberNode)
	if !ok {
		return symbols.Rows{}
	}
	root, ok := m.Node.(*ast.IdentifierNode)
	name, named := m.Property.(*ast.StringNode)
	if !ok || !named || root.Value != tablesName {
		return symbols.Rows{}
	}
	return c.x.code.compiler.names.RowsOf[name.Value]
}

// row notes that a table is asked for a key, when that comes from a form.
func (c *useCollector) row(table, key ast.Node, each string) {
	t := c.table(table)
	field := fieldFrom(key, each)
	if t.Node == nil || field == "" {
		return
	}
	use := TableUse{Table: t.Name, Form: field}
	if slices.ContainsFunc(c.tables, func(u TableUse) bool { return u.Table == use.Table && u.Form == use.Form }) {
		return
	}
	for i := 0; i+1 < len(t.Node.Content); i += 2 {
		key := t.Node.Content[i]
		use.Keys = append(use.Keys, TableKey{key.Value, t.File.At(key, 1, 1, "")})
	}
	c.tables = append(c.tables, use)
}

// fieldFrom returns the name of the form's field that a value comes from, or "".
func fieldFrom(n ast.Node, each string) string {
	from := source(n, each)
	name := strings.TrimPrefix(from, formName+".")
	if name == from {
		return ""
	}
	return name
}
