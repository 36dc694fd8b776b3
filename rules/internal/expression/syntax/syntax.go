// Package syntax reads nodes of the syntax tree of an expression: children, literals and operators.
// It has no side effects.
package syntax

import (
	"strings"

	"github.com/expr-lang/expr/ast"
)

// Children returns pointers to the direct children of a node, so that they can be replaced.
func Children(n ast.Node) []*ast.Node {
	switch n := n.(type) {
	case *ast.UnaryNode:
		return []*ast.Node{&n.Node}
	case *ast.BinaryNode:
		return []*ast.Node{&n.Left, &n.Right}
	case *ast.ChainNode:
		return []*ast.Node{&n.Node}
	case *ast.MemberNode:
		return []*ast.Node{&n.Node, &n.Property}
	case *ast.SliceNode:
		return []*ast.Node{&n.Node, &n.From, &n.To}
	case *ast.CallNode:
		return append([]*ast.Node{&n.Callee}, places(n.Arguments)...)
	case *ast.BuiltinNode:
		return places(n.Arguments)
	case *ast.PredicateNode:
		return []*ast.Node{&n.Node}
	case *ast.VariableDeclaratorNode:
		return []*ast.Node{&n.Value, &n.Expr}
	case *ast.SequenceNode:
		return places(n.Nodes)
	case *ast.ConditionalNode:
		return []*ast.Node{&n.Cond, &n.Exp1, &n.Exp2}
	case *ast.ArrayNode:
		return places(n.Nodes)
	case *ast.MapNode:
		return places(n.Pairs)
	case *ast.PairNode:
		return []*ast.Node{&n.Key, &n.Value}
	}
	return nil
}

func places(list []ast.Node) []*ast.Node {
	out := make([]*ast.Node, len(list))
	for i := range list {
		out[i] = &list[i]
	}
	return out
}

// ConstantInt returns the value of a literal whole number; ok is false for other nodes.
func ConstantInt(n ast.Node) (value int, ok bool) {
	sign := 1
	if u, signed := n.(*ast.UnaryNode); signed && u.Operator == "-" {
		sign, n = -1, u.Node
	}
	i, ok := n.(*ast.IntegerNode)
	if !ok {
		return 0, false
	}
	return sign * i.Value, true
}

// ConstantText returns the text of a string literal, or of a concatenation of string literals. ok
// is false for other nodes.
func ConstantText(n ast.Node) (text string, ok bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.BinaryNode:
		a, ok1 := ConstantText(n.Left)
		b, ok2 := ConstantText(n.Right)
		return a + b, n.Operator == "+" && ok1 && ok2
	}
	return "", false
}

// JoinedBy returns "and" for the operators and, &&, "or" for or, ||, else "".
func JoinedBy(operator string) string {
	switch operator {
	case "and", "&&":
		return "and"
	case "or", "||":
		return "or"
	}
	return ""
}

// FileGlob returns the glob for a text with which a condition looks for changed files: "docs/" means
// the files in that folder.
func FileGlob(text string) string {
	if strings.HasSuffix(text, "/") {
		return text + "**"
	}
	return text
}

// Negates reports whether an operator is not or !.
func Negates(operator string) bool { return operator == "not" || operator == "!" }

// Calls reports whether n is a call of that function.
func Calls(n ast.Node, function string) bool {
	c, ok := n.(*ast.CallNode)
	if !ok {
		return false
	}
	callee, ok := c.Callee.(*ast.IdentifierNode)
	return ok && callee.Value == function
}

// LabelsAbsent returns labels that an issue cannot have if a condition, as its author wrote it, is
// true: the literal names in "not label(name)" and "not any_label(name, ...)", as long as "and" joins
// these to the rest.
func LabelsAbsent(n ast.Node) []string {
	switch n := n.(type) {
	case *ast.BinaryNode:
		if JoinedBy(n.Operator) == "and" {
			return append(LabelsAbsent(n.Left), LabelsAbsent(n.Right)...)
		}
	case *ast.UnaryNode:
		call, ok := n.Node.(*ast.CallNode)
		if !ok || !Negates(n.Operator) || !Calls(call, "label") && !Calls(call, "any_label") {
			return nil
		}
		var names []string
		for _, a := range call.Arguments {
			if name, ok := a.(*ast.StringNode); ok && !strings.Contains(name.Value, "*") {
				names = append(names, name.Value)
			}
		}
		return names
	}
	return nil
}
