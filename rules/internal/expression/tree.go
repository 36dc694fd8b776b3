package expression

import (
	"fmt"

	"github.com/expr-lang/expr/ast"
)

// children returns the places of a node's direct children.
func children(n ast.Node) []*ast.Node {
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

// A nodeError is a mistake at a node of the tree.
type nodeError struct {
	node       ast.Node
	msg        string
	undeclared bool // see [yamlfile.Problem]
}

func (e *nodeError) Error() string { return e.msg }

func refuse(n ast.Node, format string, args ...any) error {
	return &nodeError{node: n, msg: fmt.Sprintf(format, args...)}
}

// undeclared is [refuse] for a name that no file declares.
func undeclared(n ast.Node, format string, args ...any) error {
	return &nodeError{node: n, msg: fmt.Sprintf(format, args...), undeclared: true}
}

func at[N ast.Node](n N, where ast.Node) N {
	n.SetLocation(where.Location())
	return n
}

// call returns a call of one of our functions with the run as first argument.
func call(name string, where ast.Node, args ...ast.Node) ast.Node {
	return at(&ast.CallNode{
		Callee:    at(&ast.IdentifierNode{Value: name}, where),
		Arguments: append([]ast.Node{at(&ast.IdentifierNode{Value: runName}, where)}, args...),
	}, where)
}

// constantInt returns the value of a whole number that is written as it is.
func constantInt(n ast.Node) (int, bool) {
	sign := 1
	if u, ok := n.(*ast.UnaryNode); ok && u.Operator == "-" {
		sign, n = -1, u.Node
	}
	i, ok := n.(*ast.IntegerNode)
	if !ok {
		return 0, false
	}
	return sign * i.Value, true
}

// constantText returns the text of a string literal, or of several put together.
func constantText(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.BinaryNode:
		a, ok1 := constantText(n.Left)
		b, ok2 := constantText(n.Right)
		return a + b, n.Operator == "+" && ok1 && ok2
	}
	return "", false
}

// joinedBy returns "and" or "or" for their operators in either spelling, else "".
func joinedBy(operator string) string {
	switch operator {
	case "and", "&&":
		return "and"
	case "or", "||":
		return "or"
	}
	return ""
}

func negates(operator string) bool { return operator == "not" || operator == "!" }
