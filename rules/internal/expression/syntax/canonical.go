package syntax

import (
	"strconv"

	"github.com/expr-lang/expr/ast"
)

// Canonical appends a tree as the parser returned it to b, in a form that does not depend on white space,
// comments, parentheses, quotes, and the spelling of operators. Different trees have different forms. The
// printed form of expr does not have this property.
func Canonical(b []byte, n ast.Node) []byte {
	if n == nil {
		return append(b, '_')
	}
	kind, detail := describe(n)
	b = append(b, '(')
	b = append(b, kind...)
	if detail != "" {
		b = append(b, ' ')
		b = strconv.AppendQuote(b, detail)
	}
	for _, child := range Children(n) {
		b = append(b, ' ')
		b = Canonical(b, *child)
	}
	return append(b, ')')
}

// describe returns the kind of a node, and what distinguishes it from other nodes of that kind with the
// same children.
func describe(n ast.Node) (kind, detail string) {
	switch n := n.(type) {
	case *ast.NilNode:
		return "nil", ""
	case *ast.IdentifierNode:
		return "name", n.Value
	case *ast.IntegerNode:
		return "int", strconv.Itoa(n.Value)
	case *ast.FloatNode:
		return "float", strconv.FormatFloat(n.Value, 'g', -1, 64)
	case *ast.BoolNode:
		return "bool", strconv.FormatBool(n.Value)
	case *ast.StringNode:
		return "text", n.Value
	case *ast.BytesNode:
		return "bytes", string(n.Value)
	case *ast.UnaryNode:
		if Negates(n.Operator) {
			return "not", ""
		}
		return "unary", n.Operator
	case *ast.BinaryNode:
		if joined := JoinedBy(n.Operator); joined != "" {
			return joined, ""
		}
		return "binary", n.Operator
	case *ast.ChainNode:
		return "chain", ""
	case *ast.MemberNode:
		if n.Optional {
			return "member?", ""
		}
		return "member", ""
	case *ast.SliceNode:
		return "slice", ""
	case *ast.CallNode:
		return "call", ""
	case *ast.BuiltinNode:
		return "builtin", n.Name
	case *ast.PredicateNode:
		return "each", ""
	case *ast.PointerNode:
		return "item", n.Name
	case *ast.VariableDeclaratorNode:
		return "let", n.Name
	case *ast.SequenceNode:
		return "sequence", ""
	case *ast.ConditionalNode:
		return "if", ""
	case *ast.ArrayNode:
		return "list", ""
	case *ast.MapNode:
		return "map", ""
	case *ast.PairNode:
		return "pair", ""
	}
	return "other", n.String()
}
