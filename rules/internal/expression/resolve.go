package expression

import (
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/internal/yamlfile"
	"github.com/org/foreman-action/rules/internal/expression/syntax"
	"github.com/org/foreman-action/rules/internal/forms"
	"github.com/org/foreman-action/rules/internal/semver"
	"github.com/org/foreman-action/rules/internal/symbols"
)

// formFieldNamed returns the form field that n names, or nil. n is a node as the parser returned
// it.
func formFieldNamed(v *symbols.Table, n ast.Node) *forms.Field {
	if chain, ok := n.(*ast.ChainNode); ok {
		n = chain.Node
	}
	place := n
	if _, err := resolve(v, &place); err != nil {
		return nil
	}
	return fieldOf(place)
}

// resolve replaces form.name by a call and tables.name by the table. ok is false when the node at
// place is neither.
func resolve(v *symbols.Table, place *ast.Node) (ok bool, err error) {
	m, ok := (*place).(*ast.MemberNode)
	if !ok {
		return false, nil
	}
	root, ok := m.Node.(*ast.IdentifierNode)
	if !ok || root.Value != formName && root.Value != tablesName {
		return false, nil
	}
	name, ok := m.Property.(*ast.StringNode)
	if !ok {
		return true, refuse(m.Property, "the name after %s must be literal: %s.name", root.Value, root.Value)
	}
	if root.Value == tablesName {
		table := v.Tables[name.Value]
		if table == nil {
			return true, undeclared(m, "tables has no %s%s", text.Shorten(name.Value, text.Quoted), declared(name.Value, v.Tables, "tables"))
		}
		*place = at(&ast.ConstantNode{Value: table}, m)
		return true, nil
	}
	field := v.Forms[name.Value]
	if field == nil {
		return true, undeclared(m, "form has no field %s%s", text.Shorten(name.Value, text.Quoted), declared(name.Value, v.Forms, "forms"))
	}
	*place = formCall(formFunction(field.Type), field, m)
	return true, nil
}

// declared returns a hint for an unknown name: the declared name that was probably meant, or a
// list.
func declared[V any](name string, known map[string]V, section string) string {
	if len(known) == 0 {
		return "; declare it under " + section + ", at the top of the file"
	}
	names := make([]string, 0, len(known))
	for n := range known {
		names = append(names, n)
	}
	slices.Sort(names)
	if hint := yamlfile.DidYouMean(name, names); hint != "" {
		return hint
	}
	const few = 10
	if len(names) > few {
		names = append(names[:few], "…")
	}
	return " (declared under " + section + ": " + strings.Join(names, ", ") + ")"
}

// formFunction returns the name of the function that returns a field of that type.
func formFunction(typ string) string {
	switch typ {
	case forms.Number:
		return "__form_number"
	case forms.List, forms.Checkboxes:
		return "__form_list"
	}
	return "__form_text"
}

func formCall(function string, field *forms.Field, where ast.Node) ast.Node {
	return call(function, where, at(&ast.ConstantNode{Value: field}, where))
}

// formNil is the function for the comparison of a form field with nil.
const formNil = "__form_nil"

// fieldOf returns the form field of a resolved node, or nil.
func fieldOf(n ast.Node) *forms.Field {
	if chain, ok := n.(*ast.ChainNode); ok {
		n = chain.Node
	}
	c, ok := n.(*ast.CallNode)
	if !ok || len(c.Arguments) != 2 || syntax.Calls(c, formNil) {
		return nil
	}
	constant, ok := c.Arguments[1].(*ast.ConstantNode)
	if !ok {
		return nil
	}
	field, _ := constant.Value.(*forms.Field)
	return field
}

// operand returns the form field of a resolved operand: a field, or a variable in vars that holds
// one. It returns nil for anything else.
func operand(n ast.Node, vars map[string]*forms.Field) *forms.Field {
	if id, ok := n.(*ast.IdentifierNode); ok {
		return vars[id.Value]
	}
	return fieldOf(n)
}

// checkVersions rejects comparisons that treat a version as a text: "10.0.0" would be less than
// "9.0.0".
func checkVersions(n *ast.BinaryNode, vars map[string]*forms.Field) error {
	field, other := operand(n.Left, vars), n.Right
	if field == nil {
		field, other = operand(n.Right, vars), n.Left
	}
	if field == nil || field.Type != forms.Semver {
		return nil
	}
	name := formName + "." + field.Name
	switch n.Operator {
	case "<", "<=", ">", ">=":
		op := n.Operator
		if operand(n.Left, vars) == nil {
			op = strings.NewReplacer("<", ">", ">", "<").Replace(op)
		}
		return refuse(n, "versions are compared with semver(%s, %q)", name, op+" 2.0.0")
	case "==", "!=":
		written, constant := syntax.ConstantText(other)
		v, ok := semver.Parse(written)
		switch {
		case !constant || v.String() == written:
		case written == "":
			return refuse(other, "compare %s with nil to test whether it was filled in", name)
		case ok:
			return refuse(other, "%s always has three numbers: write %q", name, v)
		default:
			return refuse(other, "%s is a version with three numbers, such as \"1.4.0\", or nil; it is never %q", name, text.Shorten(written, text.Quoted))
		}
	}
	return nil
}

// asksNil returns the replacement for a comparison of a form field with nil, or for a field with
// "??". It returns nil for other nodes. vars contains the variables whose value is a form field.
func asksNil(n *ast.BinaryNode, vars map[string]*forms.Field) ast.Node {
	left, right := operand(n.Left, vars), operand(n.Right, vars)
	switch n.Operator {
	case "==", "!=":
		_, isNil := n.Right.(*ast.NilNode)
		if left == nil {
			left = right
			_, isNil = n.Left.(*ast.NilNode)
		}
		if left == nil || !isNil {
			return nil
		}
		asked := formCall(formNil, left, n)
		if n.Operator == "!=" {
			return at(&ast.UnaryNode{Operator: "not", Node: asked}, n)
		}
		return asked
	case "??":
		if left != nil {
			return at(&ast.ConditionalNode{Cond: formCall(formNil, left, n), Exp1: n.Right, Exp2: n.Left}, n)
		}
	}
	return nil
}
