package expression

import (
	"reflect"
	"strings"
	"sync"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/compiler"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/optimizer"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/vm"
)

// A builder makes programs of checked trees. It is safe for concurrent use.
type builder struct {
	mu     sync.Mutex // of config, which caches types while it compiles
	config *conf.Config
}

// A code is an expression without mistakes. Its fast path is made when it is first
// evaluated, and its program when the fast path is not sure: a run of the action evaluates
// the rules of one event once. It is safe for concurrent use.
type code struct {
	builder *builder
	want    Type
	labels  labelReads // of a condition
	on      []string   // the events that its rule names; nil: none

	first   sync.Once
	fast    fastPath
	second  sync.Once
	tree    *parser.Tree // until the program is made
	program *vm.Program
	err     error
}

// fastPath returns nil for an expression without one.
func (c *code) fastPath() fastPath {
	c.first.Do(func() {
		if c.want == Bool {
			c.fast = newFastPath(c.tree.Node)
		}
	})
	return c.fast
}

// compiled returns the program. The error, an *exprError, says that there is none; only
// an expression that is not [settled] can have one, and that is compiled at once.
func (c *code) compiled() (*vm.Program, error) {
	c.fastPath() // needs the tree as it is now
	c.second.Do(func() {
		c.program, c.err = c.builder.build(c.tree)
		c.tree = nil
	})
	return c.program, c.err
}

// build makes the program of a checked tree, which it changes.
func (b *builder) build(tree *parser.Tree) (*vm.Program, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	meter(&tree.Node, false)
	if err := optimizer.Optimize(&tree.Node, b.config); err != nil {
		return nil, located(tree, err)
	}
	program, err := compiler.Compile(tree, b.config)
	if err != nil {
		// The compiler puts a stack trace below its first line.
		msg, _, _ := strings.Cut(err.Error(), "\n")
		return nil, &Error{1, 1, msg}
	}
	return program, nil
}

// settled reports whether a checked tree has no mistake that only the optimizer and
// the compiler find: a remainder of a division by zero, a number outside of its type, an
// unknown variable of a loop.
func settled(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.BinaryNode:
		if n.Operator == "%" {
			by, ok := n.Right.(*ast.IntegerNode)
			if !ok || by.Value == 0 {
				return false
			}
		}
	case *ast.IntegerNode:
		if k := n.Type().Kind(); k != reflect.Int && k != reflect.Float64 {
			return false
		}
	case *ast.PointerNode:
		if n.Name != "" && n.Name != "index" {
			return false
		}
	}
	for _, c := range children(n) {
		if *c != nil && !settled(*c) {
			return false
		}
	}
	return true
}
