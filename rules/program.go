package rules

import (
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/compiler"
	"github.com/expr-lang/expr/optimizer"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/vm"
)

// A code is an expression without mistakes. Its shortcut is made when it is first
// asked, and its program when the shortcut is not sure: a run of the action asks the
// rules of one event once. It is safe for concurrent use.
type code struct {
	compiler *exprCompiler
	want     want
	labels   bool     // it asks for labels of the issue
	on       []string // the events that its rule names; nil: none

	first   sync.Once
	quick   shortcut
	second  sync.Once
	tree    *parser.Tree // until the program is made
	program *vm.Program
	err     error
}

// shortcut returns nil for what is no condition, or has none.
func (c *code) shortcut() shortcut {
	c.first.Do(func() {
		if c.want == wantBool {
			c.quick = newShortcut(c.tree.Node)
		}
	})
	return c.quick
}

// compiled returns the program. The error, an *exprError, says that there is none:
// [settled] keeps that for expressions that were compiled at once.
func (c *code) compiled() (*vm.Program, error) {
	c.shortcut() // needs the tree as it is now
	c.second.Do(func() {
		c.compiler.building.Lock()
		defer c.compiler.building.Unlock()
		c.program, c.err = c.compiler.build(c.tree)
		c.tree = nil
	})
	return c.program, c.err
}

// build makes the program of a checked tree, which it changes.
func (c *exprCompiler) build(tree *parser.Tree) (*vm.Program, error) {
	meter(&tree.Node, false)
	if err := optimizer.Optimize(&tree.Node, c.config); err != nil {
		return nil, explain(tree, err)
	}
	program, err := compiler.Compile(tree, c.config)
	if err != nil {
		// The compiler puts a stack trace below its first line.
		msg, _, _ := strings.Cut(err.Error(), "\n")
		return nil, &exprError{1, 1, msg}
	}
	return program, nil
}

// settled reports whether a checked tree has no mistake that only the optimizer and
// the compiler find: a remainder of a division by zero, a number that a type does not
// hold, an unknown variable of a loop.
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

// asksLabels reports whether an expression, whose types are known, may ask for labels of
// the issue. The issue may have other names than its own: any field of that name counts,
// and one whose name is made up, but not memory.labels.
func asksLabels(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.IdentifierNode:
		if n.Value == "label" || n.Value == "any_label" || n.Value == "label_age" {
			return true
		}
	case *ast.MemberNode:
		name, named := n.Property.(*ast.StringNode)
		of := n.Node.Type()
		if named && name.Value == "labels" && of != reflect.TypeFor[Memory]() || !named && of.Kind() == reflect.Interface {
			return true
		}
	}
	return slices.ContainsFunc(children(n), func(c *ast.Node) bool { return *c != nil && asksLabels(*c) })
}
