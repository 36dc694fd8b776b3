package expression

import (
	"fmt"

	"github.com/expr-lang/expr/ast"
)

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

// call returns a call of a function of rules whose first argument is the run.
func call(name string, where ast.Node, args ...ast.Node) ast.Node {
	return at(&ast.CallNode{
		Callee:    at(&ast.IdentifierNode{Value: name}, where),
		Arguments: append([]ast.Node{at(&ast.IdentifierNode{Value: runName}, where)}, args...),
	}, where)
}
