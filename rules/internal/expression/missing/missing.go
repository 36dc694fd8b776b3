// Package missing makes expressions tolerate missing values. A missing value is nil, such as that of
// first(list) for an empty list, although the expression has another static type.
package missing

import (
	"reflect"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/vm/runtime"

	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/rules/internal/expression/syntax"
)

// Calls makes the calls that replace operations. They are typed, and placed at n.
type Calls struct {
	// Compare returns the call of the function [Compare].
	Compare func(n ast.Node, operator string, left, right ast.Node) ast.Node
	// Or returns the call of a function with the argument n: [OrText] for "__or_text", [OrList] for
	// "__or_list", or for "__pay" the function that charges for reading n and returns n.
	Or func(function string, n ast.Node) ast.Node
	// FromEnd returns the call of the function [FromEnd].
	FromEnd func(index, list ast.Node) ast.Node
}

// Tolerate makes the charged tree at place tolerate missing values. It replaces the operations on
// values that may be missing. All other operations stay as they are.
func Tolerate(place *ast.Node, calls Calls) {
	tolerance{calls, map[string]bool{}}.tolerate(place, false)
}

type tolerance struct {
	Calls

	vars map[string]bool // the variables; true: the value may be missing
}

// tolerate changes the tree at place. item reports whether the item of the innermost loop may be
// missing.
func (t tolerance) tolerate(place *ast.Node, item bool) {
	n := *place
	if n == nil {
		return
	}
	switch n := n.(type) {
	case *ast.BuiltinNode:
		for i := range n.Arguments {
			inner := item
			if _, loop := n.Arguments[i].(*ast.PredicateNode); loop {
				inner = t.items(n.Arguments[0], item)
			}
			t.tolerate(&n.Arguments[i], inner)
		}
		t.arguments(place, n, item)
		t.forward(place, n)
	case *ast.VariableDeclaratorNode:
		t.tolerate(&n.Value, item)
		t.vars[n.Name] = t.vars[n.Name] || t.missing(n.Value, item)
		t.tolerate(&n.Expr, item)
	default:
		for _, c := range syntax.Children(n) {
			t.tolerate(c, item)
		}
	}
	switch n := n.(type) {
	case *ast.BinaryNode:
		if comparison(n.Operator) && (t.missing(n.Left, item) || t.missing(n.Right, item)) {
			*place = t.Compare(n, n.Operator, n.Left, n.Right)
		}
	case *ast.SliceNode:
		t.orEmpty(&n.Node, item)
	}
}

// comparison reports whether an operator compares two values, or searches one in the other. The
// operator "matches" does not occur, because it has become a call before.
func comparison(operator string) bool {
	return slices.Contains([]string{"==", "!=", "<", "<=", ">", ">=", "in", "contains", "startsWith", "endsWith"}, operator)
}

// arguments makes a function of expr tolerate missing arguments. Functions that compute with
// numbers and times fail.
func (t tolerance) arguments(place *ast.Node, n *ast.BuiltinNode, item bool) {
	switch n.Name {
	case "hasPrefix", "hasSuffix":
		if len(n.Arguments) == 2 && (t.missing(n.Arguments[0], item) || t.missing(n.Arguments[1], item)) {
			operator := map[string]string{"hasPrefix": "startsWith", "hasSuffix": "endsWith"}[n.Name]
			*place = t.Compare(n, operator, n.Arguments[0], n.Arguments[1])
		}
	case "trim", "trimPrefix", "trimSuffix":
		for i := range n.Arguments {
			t.orEmpty(&n.Arguments[i], item)
		}
	case "len", "take", "reverse", "uniq", "sort", "all", "none", "any", "one", "filter", "map", "count", "sum", "find", "findLast", "findIndex", "findLastIndex":
		t.orEmpty(&n.Arguments[0], item)
	}
}

// forward makes findLast and findLastIndex search the reversed list forward. The backward loops of
// expr leave values on the stack, which operators and functions then take for their operands. The
// predicate cannot contain #index, because the checker accepts it in map alone.
func (t tolerance) forward(place *ast.Node, n *ast.BuiltinNode) {
	name := map[string]string{"findLast": "find", "findLastIndex": "findIndex"}[n.Name]
	if name == "" {
		return
	}
	reversed := &ast.BuiltinNode{Name: "reverse", Arguments: []ast.Node{t.Or("__pay", n.Arguments[0])}}
	reversed.SetType(reflect.TypeFor[[]any]())
	found := &ast.BuiltinNode{Name: name, Arguments: []ast.Node{reversed, n.Arguments[1]}}
	found.SetNature(*n.Nature())
	reversed.SetLocation(n.Location())
	found.SetLocation(n.Location())
	*place = found
	if n.Name == "findLastIndex" {
		*place = t.FromEnd(found, n.Arguments[0])
	}
}

// orEmpty makes the value at place an empty text or list if it is missing.
func (t tolerance) orEmpty(place *ast.Node, item bool) {
	n := *place
	if !t.missing(n, item) {
		return
	}
	name := "__or_list"
	if n.Type().Kind() == reflect.String {
		name = "__or_text"
	}
	*place = t.Or(name, n)
}

// missing reports whether the value of a node may be missing.
func (t tolerance) missing(n ast.Node, item bool) bool {
	switch n := n.(type) {
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.StringNode, *ast.BytesNode, *ast.ArrayNode, *ast.MapNode, *ast.UnaryNode, *ast.SliceNode:
		return false
	case *ast.ConstantNode:
		return n.Value == nil
	case *ast.IdentifierNode:
		return t.vars[n.Value] // the fields of the environment are always there
	case *ast.PointerNode:
		return item && n.Name != "index"
	case *ast.BinaryNode:
		switch left, right := t.missing(n.Left, item), t.missing(n.Right, item); {
		case n.Operator == "??":
			return left && right
		case syntax.JoinedBy(n.Operator) != "":
			return left || right
		}
		return false
	case *ast.ConditionalNode:
		return t.missing(n.Exp1, item) || t.missing(n.Exp2, item)
	case *ast.VariableDeclaratorNode:
		return t.missing(n.Expr, item)
	case *ast.SequenceNode:
		return t.missing(n.Nodes[len(n.Nodes)-1], item)
	case *ast.MemberNode:
		switch {
		case n.Optional || n.Type().Kind() == reflect.Interface:
			return true
		case n.Node.Type().Kind() == reflect.Slice:
			return t.items(n.Node, item)
		}
		return false
	case *ast.CallNode:
		if syntax.Calls(n, "__pay") || syntax.Calls(n, "__made") {
			return t.missing(n.Arguments[1], item)
		}
		return syntax.Calls(n, "__form_any") || syntax.Calls(n, "__from_end") || syntax.Calls(n, "__item")
	case *ast.BuiltinNode:
		return slices.Contains([]string{"first", "last", "find", "findLast", "findIndex", "findLastIndex", "max", "min"}, n.Name)
	}
	return true
}

// items reports whether an item of a list may be missing.
func (t tolerance) items(n ast.Node, item bool) bool {
	switch n := n.(type) {
	case *ast.ArrayNode:
		return slices.ContainsFunc(n.Nodes, func(one ast.Node) bool { return t.missing(one, item) })
	case *ast.BuiltinNode:
		switch n.Name {
		case "filter", "take", "reverse", "uniq", "sort":
			return t.items(n.Arguments[0], item)
		case "map":
			if p, ok := n.Arguments[1].(*ast.PredicateNode); ok {
				return t.missing(p.Node, t.items(n.Arguments[0], item))
			}
		}
	case *ast.SliceNode:
		return t.items(n.Node, item)
	case *ast.BinaryNode:
		return n.Operator != ".."
	case *ast.CallNode:
		if syntax.Calls(n, "__pay") || syntax.Calls(n, "__or_list") {
			return t.items(n.Arguments[1], item)
		}
		return !ofTexts(n)
	case *ast.MemberNode: // a field, or a row of a table
		return n.Node.Type().Kind() == reflect.Slice || !ofTexts(n)
	case *ast.ConstantNode:
		return !ofTexts(n)
	}
	return true
}

// ofTexts reports whether the value of a node is a list of Go's type []string.
func ofTexts(n ast.Node) bool { return n.Type() == reflect.TypeFor[[]string]() }

// Compare implements the comparisons of values that may be missing. Its arguments are any value, the
// operator and the two values. A missing value is equal only to another one; all other comparisons
// with it are false. The error is a [facts.UnknownError].
func Compare(args ...any) (any, error) {
	operator, left, right := args[1].(string), args[2], args[3] //nolint:forcetypeassert // the compiler checked the types
	switch operator {
	case "==":
		return runtime.Equal(left, right), nil
	case "!=":
		return !runtime.Equal(left, right), nil
	case "in":
		if left == nil && hasEmpty(right) {
			return nil, &facts.UnknownError{Reason: "a missing value is searched for in a list with an empty value, and it is unknown whether that one is meant; test for nil first"}
		}
	}
	if left == nil || right == nil {
		return false, nil
	}
	switch operator {
	case "<":
		return runtime.Less(left, right), nil
	case "<=":
		return runtime.LessOrEqual(left, right), nil
	case ">":
		return runtime.More(left, right), nil
	case ">=":
		return runtime.MoreOrEqual(left, right), nil
	case "in":
		return runtime.In(left, right), nil
	case "contains":
		return strings.Contains(left.(string), right.(string)), nil //nolint:forcetypeassert // the compiler checked the types
	case "startsWith":
		return strings.HasPrefix(left.(string), right.(string)), nil //nolint:forcetypeassert // the compiler checked the types
	}
	return strings.HasSuffix(left.(string), right.(string)), nil //nolint:forcetypeassert // the compiler checked the types
}

// hasEmpty reports whether a list or the keys of a table contain a missing or an empty value. Whoever
// writes such a value may mean a missing one.
func hasEmpty(list any) bool {
	empty := func(v any) bool { return v == nil || reflect.ValueOf(v).IsZero() }
	switch v := reflect.ValueOf(list); v.Kind() {
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if empty(v.Index(i).Interface()) {
				return true
			}
		}
	case reflect.Map:
		return slices.ContainsFunc(v.MapKeys(), func(key reflect.Value) bool { return empty(key.Interface()) })
	}
	return false
}

// OrText returns its second argument, or "" if it is missing.
func OrText(args ...any) (any, error) {
	if args[1] == nil {
		return "", nil
	}
	return args[1], nil
}

// OrList returns its second argument, or an empty list if it is missing.
func OrList(args ...any) (any, error) {
	if args[1] == nil {
		return []any{}, nil
	}
	return args[1], nil
}

// FromEnd returns the index of an item in a list, which is the third argument. The second one is the
// item's index in the reversed list, or nil.
func FromEnd(args ...any) (any, error) {
	index, ok := args[1].(int)
	if !ok {
		return nil, nil
	}
	return reflect.ValueOf(args[2]).Len() - 1 - index, nil
}
