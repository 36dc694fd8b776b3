package rules

import (
	"reflect"
	"slices"

	"github.com/expr-lang/expr/ast"
)

// meter wraps, in a tree whose types are known, what makes texts, and inside of
// loops what reads values of any length.
func meter(place *ast.Node, loop bool) {
	n := *place
	if n == nil {
		return
	}
	if _, ok := n.(*ast.PredicateNode); ok {
		loop = true
	}
	reads := loop && readsOperands(n)
	for _, c := range children(n) {
		meter(c, loop)
		if reads && *c != nil && sized(*c) {
			*c = wrap("__pay", *c)
		}
	}
	if makesText(n) {
		*place = wrap("__made", n)
	}
}

// readsOperands reports whether a node's work grows with its operands.
func readsOperands(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.BinaryNode:
		switch n.Operator {
		case "and", "&&", "or", "||", "??", "..":
			return false
		}
		return true
	case *ast.BuiltinNode:
		// What a predicate goes through is charged turn by turn.
		return !slices.ContainsFunc(n.Arguments, func(a ast.Node) bool {
			_, ok := a.(*ast.PredicateNode)
			return ok
		})
	}
	return false
}

// sized reports whether the value of n may have any length.
func sized(n ast.Node) bool {
	switch n.(type) {
	case *ast.PredicateNode, *ast.StringNode, *ast.ConstantNode, *ast.ArrayNode, *ast.MapNode:
		return false
	}
	switch n.Type().Kind() {
	case reflect.String, reflect.Slice, reflect.Array, reflect.Map, reflect.Interface:
		return true
	}
	return false
}

func makesText(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.BinaryNode:
		kind := n.Type().Kind()
		return n.Operator == "+" && (kind == reflect.String || kind == reflect.Interface)
	case *ast.BuiltinNode:
		return n.Name == "lower" || n.Name == "upper"
	}
	return false
}

var wrapperType = reflect.TypeFor[func(*run, any) any]()

// wrap returns n inside a call that returns its value; for the compiler the call
// has the type of n.
func wrap(name string, n ast.Node) ast.Node {
	c := call(name, n, n).(*ast.CallNode)
	c.Callee.SetType(wrapperType)
	c.Arguments[0].SetType(reflect.TypeFor[*run]())
	c.SetNature(*n.Nature())
	return c
}
