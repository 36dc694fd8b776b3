package expression

import (
	"reflect"
	"slices"

	"github.com/expr-lang/expr/ast"

	"github.com/org/foreman-action/rules/internal/expression/syntax"
	"github.com/org/foreman-action/rules/internal/match"
)

// A fastPath evaluates a condition without a program. Most conditions are false, and mostly their
// first comparison decides that. sure is false if the operands with a fast path do not decide the
// value; then the program evaluates all of them again. If sure is true, the program would return
// the same value and no error.
type fastPath func(*env) (value, sure bool)

// newFastPath returns the fast path of a typed tree that is not charged yet; nil when there is
// none.
func newFastPath(n ast.Node) fastPath {
	fast := fastPathOf(n)
	if b, ok := n.(*ast.BinaryNode); fast == nil || ok && syntax.JoinedBy(b.Operator) != "" || !readsPull(n) {
		return fast
	}
	return func(e *env) (bool, bool) {
		if !e.Run.pull.known {
			return false, false
		}
		return fast(e)
	}
}

func fastPathOf(n ast.Node) fastPath {
	switch n := n.(type) {
	case *ast.UnaryNode:
		if inner := newFastPath(n.Node); inner != nil && (n.Operator == "not" || n.Operator == "!") {
			return func(e *env) (bool, bool) {
				value, sure := inner(e)
				return !value, sure
			}
		}
	case *ast.BinaryNode:
		switch n.Operator {
		case "and", "&&":
			return joined(n, false)
		case "or", "||":
			return joined(n, true)
		}
		return newComparison(n)
	case *ast.CallNode:
		return newCall(n)
	case *ast.BuiltinNode:
		return newLoop(n)
	}
	return nil
}

// joined returns the fast path of "and" or "or". An operand with the value decides is the result.
func joined(n *ast.BinaryNode, decides bool) fastPath {
	left, right := newFastPath(n.Left), newFastPath(n.Right)
	if left == nil {
		return nil
	}
	return func(e *env) (value, sure bool) {
		value, sure = left(e)
		switch {
		case !sure || value == decides:
			return value, sure
		case right == nil:
			return false, false
		}
		return right(e)
	}
}

// newLoop returns the fast path of any, all or none over a field's texts that are compared with a
// constant.
func newLoop(n *ast.BuiltinNode) fastPath {
	if len(n.Arguments) != 2 || n.Name != "any" && n.Name != "all" && n.Name != "none" {
		return nil
	}
	index, typ := fieldIndex(n.Arguments[0])
	predicate, ok := n.Arguments[1].(*ast.PredicateNode)
	if !ok || index == nil || typ != reflect.TypeFor[[]string]() {
		return nil
	}
	body, ok := predicate.Node.(*ast.SequenceNode) // a call that charges, and the comparison
	if !ok || len(body.Nodes) != 2 {
		return nil
	}
	b, ok := body.Nodes[1].(*ast.BinaryNode)
	if !ok {
		return nil
	}
	item, isItem := b.Left.(*ast.PointerNode)
	text, constant := b.Right.(*ast.StringNode)
	compare := syntax.CompareTexts(b.Operator)
	if !isItem || item.Name != "" || !constant || compare == nil {
		return nil
	}
	return func(e *env) (value, sure bool) {
		list, _ := reflect.TypeAssert[[]string](reflect.ValueOf(e).Elem().FieldByIndex(index))
		if len(list) > maxFastLoop {
			return false, false
		}
		found := slices.ContainsFunc(list, func(s string) bool { return compare(s, text.Value) == (n.Name != "all") })
		return found == (n.Name == "any"), true
	}
}

// maxFastLoop is the length of the longest list that the fast path reads. The program, which is
// charged, evaluates longer loops.
const maxFastLoop = 1000

func newCall(n *ast.CallNode) fastPath {
	callee, ok := n.Callee.(*ast.IdentifierNode)
	if !ok {
		return nil
	}
	switch {
	case callee.Value == "matches" && len(n.Arguments) == 3:
		text := newTextField(n.Arguments[1])
		p, ok := constantPattern(n.Arguments[2])
		if text == nil || !ok {
			return nil
		}
		return func(e *env) (value, sure bool) { return e.Run.matcher.TryMatch(p, text(e), &e.Run.meter) }
	case callee.Value == "label" && len(n.Arguments) == 2:
		name, ok := n.Arguments[1].(*ast.StringNode)
		if !ok {
			return nil
		}
		return func(e *env) (value, sure bool) {
			value, err := e.Run.label(name.Value)
			return value, err == nil
		}
	}
	return nil
}

func constantPattern(n ast.Node) (*match.Pattern, bool) {
	c, ok := n.(*ast.ConstantNode)
	if !ok {
		return nil, false
	}
	p, ok := c.Value.(*match.Pattern)
	return p, ok
}

func newComparison(n *ast.BinaryNode) fastPath {
	switch right := n.Right.(type) {
	case *ast.StringNode:
		field, compare := newTextField(n.Left), syntax.CompareTexts(n.Operator)
		if field == nil || compare == nil {
			return nil
		}
		return func(e *env) (value, sure bool) { return compare(field(e), right.Value), true }
	case *ast.IntegerNode:
		number, compare := newNumber(n.Left), syntax.CompareNumbers(n.Operator)
		if number == nil || compare == nil || right.Type().Kind() != reflect.Int {
			return nil
		}
		return func(e *env) (value, sure bool) { return compare(number(e), right.Value), true }
	case *ast.ArrayNode:
		field, list := newTextField(n.Left), make([]string, len(right.Nodes))
		if field == nil || n.Operator != "in" {
			return nil
		}
		for i, item := range right.Nodes {
			s, ok := item.(*ast.StringNode)
			if !ok {
				return nil
			}
			list[i] = s.Value
		}
		return func(e *env) (value, sure bool) { return slices.Contains(list, field(e)), true }
	}
	return nil
}

// newNumber returns a function that reads a number field, or the length of a text field.
func newNumber(n ast.Node) func(*env) int {
	if b, ok := n.(*ast.BuiltinNode); ok && measuresText(n) {
		if field := newTextField(b.Arguments[0]); field != nil {
			return func(e *env) int { return e.Run.matcher.Length(field(e)) }
		}
		return nil
	}
	if b, ok := n.(*ast.BinaryNode); ok {
		return newSum(b)
	}
	return newIntField(n)
}

// newSum returns a function that computes a number +, - or % a constant, such as issue.number % 10.
func newSum(n *ast.BinaryNode) func(*env) int {
	left := newNumber(n.Left)
	right, ok := n.Right.(*ast.IntegerNode)
	if left == nil || !ok {
		return nil
	}
	by := right.Value
	switch {
	case n.Operator == "+":
		return func(e *env) int { return left(e) + by }
	case n.Operator == "-":
		return func(e *env) int { return left(e) - by }
	case n.Operator == "%" && by != 0:
		return func(e *env) int { return left(e) % by }
	}
	return nil
}

// newTextField returns a function that reads the text field n, such as event.comment.body; nil when
// n is something else.
func newTextField(n ast.Node) func(*env) string {
	switch fieldPath(n) { // no reflection for the most common fields
	case "issue.title":
		return func(e *env) string { return e.Issue.Title }
	case "issue.body":
		return func(e *env) string { return e.Issue.Body }
	case "issue.text":
		return func(e *env) string { return e.Issue.Text }
	case "issue.author":
		return func(e *env) string { return e.Issue.Author }
	case "issue.association":
		return func(e *env) string { return e.Issue.Association }
	case "event.action":
		return func(e *env) string { return e.Event.Action }
	case "event.label":
		return func(e *env) string { return e.Event.Label }
	case "event.comment.body":
		return func(e *env) string { return e.Event.Comment.Body }
	}
	index, typ := fieldIndex(n)
	if index == nil || typ.Kind() != reflect.String {
		return nil
	}
	return func(e *env) string { return reflect.ValueOf(e).Elem().FieldByIndex(index).String() }
}

// newIntField returns a function that reads the field n, a whole number; nil when n is something
// else.
func newIntField(n ast.Node) func(*env) int {
	switch fieldPath(n) {
	case "issue.number":
		return func(e *env) int { return e.Issue.Number }
	case "issue.comments":
		return func(e *env) int { return e.Issue.Comments }
	}
	index, typ := fieldIndex(n)
	if index == nil || typ.Kind() != reflect.Int {
		return nil
	}
	return func(e *env) int { return int(reflect.ValueOf(e).Elem().FieldByIndex(index).Int()) }
}

// fieldPath returns a field as written, such as "issue.title"; "" for anything else.
func fieldPath(n ast.Node) string {
	switch n := n.(type) {
	case *ast.IdentifierNode:
		return n.Value
	case *ast.MemberNode:
		name, ok := n.Property.(*ast.StringNode)
		if root := fieldPath(n.Node); ok && !n.Optional && root != "" {
			return root + "." + name.Value
		}
	}
	return ""
}

// fieldIndex returns the index path of a field of the environment, and its type.
func fieldIndex(n ast.Node) ([]int, reflect.Type) {
	var name string
	index, typ := []int(nil), reflect.TypeFor[env]()
	switch n := n.(type) {
	case *ast.IdentifierNode:
		name = n.Value
	case *ast.CallNode:
		if !syntax.Calls(n, "__pull") {
			return nil, nil
		}
		name = "pr"
	case *ast.MemberNode:
		property, ok := n.Property.(*ast.StringNode)
		if !ok || n.Optional {
			return nil, nil
		}
		name = property.Value
		if index, typ = fieldIndex(n.Node); index == nil || typ.Kind() != reflect.Struct {
			return nil, nil
		}
	default:
		return nil, nil
	}
	inner, typ := taggedField(typ, name)
	if inner == nil {
		return nil, nil
	}
	return append(slices.Clip(index), inner...), typ
}

// taggedField returns the index path and the type of the field with that name in conditions. It may
// be a field of an embedded struct. The path is nil when there is none.
func taggedField(t reflect.Type, name string) ([]int, reflect.Type) {
	for f := range t.Fields() {
		if f.Anonymous {
			if inner, typ := taggedField(f.Type, name); inner != nil {
				return append(slices.Clip(f.Index), inner...), typ
			}
		} else if f.Tag.Get("expr") == name {
			return f.Index, f.Type
		}
	}
	return nil, nil
}
